"""The paper's lemmas and equations, written as there, on random trees of every joint type."""

import dataclasses

import numpy as np
import pytest

import knuckle as kn
from knuckle.model import ROOT
from knuckle.operators import Operators, at

from .conftest import tree


def assert_same(a, b, condition: float = 1.0) -> None:
    """Equal up to rounding: some hundred operations per entry, magnified by the condition of what is inverted."""
    a, b = (x.dense() if hasattr(x, "dense") else np.asarray(x) for x in (a, b))
    assert a.shape == b.shape
    scale = max(1.0, float(np.abs(a).max(initial=0)), float(np.abs(b).max(initial=0)))
    assert np.abs(a - b).max(initial=0) <= 1e-13 * condition * scale


def condition(ops: Operators) -> float:
    return float(np.linalg.cond(kn.mass_matrix(ops.model, ops.given)))


def test_newton_euler_factors(ops):  # (0.6), (0.7), (0.12), (0.14)
    H, phi, M, E_phi, I = ops.H, ops.phi, ops.M, ops.E_phi, ops.I
    assert_same((I - E_phi) @ phi, np.eye(phi.shape[0]))
    assert_same(phi.inverse, I - E_phi)
    assert_same(H @ phi @ M @ phi.T @ H.T, kn.mass_matrix(ops.model, ops.given))
    assert_same(ops.C, kn.bias_force(ops.model, ops.given, np.asarray(ops._v)))


def test_velocities_and_accelerations(ops):  # (0.3), (0.7), (0.11)
    H, phi, E_phi, M = ops.H, ops.phi, ops.E_phi, ops.M
    beta, model = np.asarray(ops._v), ops.model
    rate = np.random.default_rng(1).normal(size=model.nv)
    V = phi.T @ (H.T @ beta)
    assert_same(V, E_phi.T @ V + H.T @ beta)
    alpha = phi.T @ (H.T @ rate + ops.a)
    f = phi @ (M @ alpha + ops.b)
    assert_same(f, E_phi @ f + M @ alpha + ops.b)
    assert_same(H @ f, kn.inverse_dynamics(model, ops.given, beta, rate))


def test_nilpotence(ops):  # ε_φⁿ = 0
    x = np.random.default_rng(2).normal(size=ops.E_phi.shape[1])
    total, power = x, x
    for _ in range(ops.model.nb):
        power = ops.E_phi @ power
        total = total + power
    assert not np.any(power)
    assert_same(total, ops.phi @ x)


def test_jacobian(ops):  # (0.16)-(0.18)
    rows = [kn.jacobian(ops.model, ops.given, point.name) for point in ops.points]
    assert_same(ops.J, np.vstack(rows))
    assert_same(ops.B.T @ ops.phi.T @ ops.H.T, ops.J)


def test_articulated_inertia(ops):  # (0.25), (0.26), (.39), (.45)
    M, P, H, D, G, K, I = ops.M, ops.P, ops.H, ops.D, ops.G, ops.K, ops.I
    E_phi, E_psi, tau, tau_bar = ops.E_phi, ops.E_psi, ops.tau, ops.tau_bar
    hard = condition(ops)
    assert_same(D, H @ P @ H.T)
    assert_same(G, P @ H.T @ D.inverse, hard)
    assert_same(K, E_phi @ G)
    assert_same(tau, G @ H)
    assert_same(tau_bar, I - tau)
    assert_same(E_psi, E_phi @ tau_bar)
    assert_same(M, P - E_phi @ (P - P @ H.T @ D.inverse @ H @ P) @ E_phi.T, hard)
    assert_same(M, P - E_psi @ P @ E_psi.T, hard)


def test_psi(ops):  # (0.27), (.46)-(.50)
    M, P, H, D, K, I = ops.M, ops.P, ops.H, ops.D, ops.K, ops.I
    phi, psi, psi_tilde, E_psi = ops.phi, ops.psi, ops.psi_tilde, ops.E_psi
    hard = condition(ops)
    assert_same((I - E_psi) @ psi, np.eye(psi.shape[0]), hard)
    assert_same(psi_tilde, E_psi @ psi, hard)
    assert_same(psi_tilde, psi - I, hard)
    assert_same(psi @ M @ psi.T, P + psi_tilde @ P + P @ psi_tilde.T, hard)
    assert_same(psi.inverse @ phi, I + K @ H @ phi, hard)
    assert_same(phi @ psi.inverse, I + phi @ K @ H, hard)
    assert_same(psi.inverse, phi.inverse + K @ H, hard)
    assert_same(H @ psi @ M @ psi.T @ H.T, D, hard)


def test_lemma_1_innovations_factorisation(ops):  # (0.28)
    H, phi, K, D, M, I = ops.H, ops.phi, ops.K, ops.D, ops.M, ops.I
    assert_same((I + H @ phi @ K) @ D @ (I + H @ phi @ K).T, H @ phi @ M @ phi.T @ H.T, condition(ops))


def test_lemma_2_its_inverse(ops):  # (0.29)
    H, phi, psi, K, I = ops.H, ops.phi, ops.psi, ops.K, ops.I
    assert_same((I + H @ phi @ K) @ (I - H @ psi @ K), np.eye(ops.model.nv), condition(ops))
    assert (I + H @ phi @ K).inverse.expression == (I - H @ psi @ K).expression


def test_lemma_3_mass_matrix_inverse(ops):  # (0.30), (0.31)
    H, psi, K, D, I = ops.H, ops.psi, ops.K, ops.D, ops.I
    inv = (I - H @ psi @ K).T @ D.inverse @ (I - H @ psi @ K)
    mass = H @ ops.phi @ ops.M @ ops.phi.T @ H.T
    assert_same(inv @ mass, np.eye(ops.model.nv), condition(ops))
    assert_same(mass.inverse, inv)
    assert_same(inv, kn.mass_matrix_inverse(ops.model, ops.given), condition(ops))


def test_lemma_4(ops):  # (0.33)
    H, phi, psi, K, I = ops.H, ops.phi, ops.psi, ops.K, ops.I
    assert_same((I - H @ psi @ K) @ H @ phi, H @ psi, condition(ops))


def test_admittance(ops):  # (0.34), (.43)
    J, B, H, psi, D, hard = ops.J, ops.B, ops.H, ops.psi, ops.D, condition(ops)
    assert_same(J @ ops.mass.inverse @ J.T, ops.Lambda, hard)
    assert_same(B.T @ psi.T @ H.T @ D.inverse @ H @ psi @ B, ops.Lambda, hard)
    x = np.random.default_rng(3).normal(size=ops.Lambda.shape[1])
    assert_same(ops.Lambda @ x, ops.Lambda.dense() @ x, hard)


def test_lemma_5_of_chains():  # (.41), (.42), as printed
    model = kn.testing.general_chain(7)
    ops = at(model, np.random.default_rng(4).normal(size=model.nq))
    H, D, E_psi, Upsilon, psi_tilde = ops.H, ops.D, ops.E_psi, ops.Upsilon, ops.psi_tilde
    hard = condition(ops)
    assert_same(H.T @ D.inverse @ H, Upsilon - E_psi.T @ Upsilon @ E_psi, hard)
    assert_same(ops.Omega, Upsilon + psi_tilde.T @ Upsilon + Upsilon @ psi_tilde, hard)


def meeting(model: kn.Model, k: int, m: int) -> int:
    """The nearest body that has both outward of it, or ROOT."""
    return next((j for j in model.ancestors(k) if j in model.ancestors(m)), ROOT)


def test_lemma_5_of_trees_needs_a_third_term():
    """(.41) and (.42) lose the pairs of bodies on two branches of one body; Ω(k, m) = ψ*(j, k) Υ(j) ψ(j, m) there."""
    ops = tree(1)
    model, hard = ops.model, condition(ops)
    branching = [(k, m) for k in range(model.nb) for m in range(k) if meeting(model, k, m) not in (k, m, ROOT)]
    assert branching
    Omega, psi = ops.Omega.dense(), ops.psi.dense()
    printed = (ops.Upsilon + ops.psi_tilde.T @ ops.Upsilon + ops.Upsilon @ ops.psi_tilde).dense()
    Upsilon = ops.Upsilon.dense()

    def block(X, i, j):
        return X[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]

    for k in range(model.nb):
        for m in range(model.nb):
            j = meeting(model, k, m)
            right = np.zeros((6, 6)) if j == ROOT else block(psi, j, k).T @ block(Upsilon, j, j) @ block(psi, j, m)
            assert np.abs(block(Omega, k, m) - right).max() <= 1e-13 * hard * max(1.0, np.abs(Omega).max())
            if (max(k, m), min(k, m)) in branching:
                assert not np.any(block(printed, k, m))
            else:
                assert np.abs(block(printed, k, m) - right).max() <= 1e-13 * hard * max(1.0, np.abs(Omega).max())
    assert max(np.abs(block(Omega, k, m)).max() for k, m in branching) > 1e-3 * np.abs(Omega).max()


def test_recursion_of_step_e(ops):  # (0.36), (.44) as it has to read
    """z(k) = ψ(k, k−1) z(k−1) + x̂(k), ν(k) = D⁻¹(k) H(k) z(k), and then as in (.40)."""
    model, rng = ops.model, np.random.default_rng(5)
    f = rng.normal(size=ops.B.shape[1])
    n, D, H = 6, ops.D.dense(), ops.H.dense()
    E_psi, K = ops.E_psi.dense(), ops.K.dense()
    x = -(ops.B @ f)
    z = np.zeros(n * model.nb)
    for k in reversed(range(model.nb)):
        rows = slice(n * k, n * k + n)
        z[rows] = E_psi[rows] @ z + x[rows]
    nu = np.linalg.solve(D, H @ z)
    alpha = np.zeros(n * model.nb)
    for k in range(model.nb):
        rows = slice(n * k, n * k + n)
        alpha[rows] = E_psi.T[rows] @ alpha + H.T[rows] @ nu
    beta = nu - K.T @ alpha
    wanted = -np.linalg.solve(kn.mass_matrix(model, ops.given), ops.J.dense().T @ f)
    assert_same(beta, wanted, condition(ops))
    assert K.shape[1] != len(x)  # K takes joint forces: K(k, k−1) x̂(k−1) has no meaning


def test_step_b_comes_with_step_a(ops):  # (0.32), (.40)
    H, psi, phi, K, D, I = ops.H, ops.psi, ops.phi, ops.K, ops.D, ops.I
    T_bar = np.random.default_rng(6).normal(size=ops.model.nv)
    nu = D.inverse @ ((I - H @ psi @ K) @ T_bar)
    alpha = psi.T @ (H.T @ nu)
    beta = nu - K.T @ alpha
    assert_same(beta, ops.mass_inverse @ T_bar, condition(ops))
    assert_same(alpha, phi.T @ (H.T @ beta), condition(ops))


def test_closed_chain_in_one_equation(ops):  # (0.37)
    H, psi, K, B, I, J = ops.H, ops.psi, ops.K, ops.B, ops.I, ops.J
    rng, n = np.random.default_rng(7), ops.model.nv
    A = ops.constant(rng.normal(size=(4, ops.J.shape[0])))
    T_bar = rng.normal(size=n)
    half = ops.D_root.inverse
    b = half @ H @ psi @ B @ A.T
    S = (A @ ops.Lambda @ A.T).dense()
    hard = condition(ops) * np.linalg.cond(S)
    assert_same(b.T @ b, S, condition(ops))
    inside = half @ ((I - H @ psi @ K) @ T_bar)
    inside = inside - b @ np.linalg.solve(S, b.T @ inside)
    beta = (I - H @ psi @ K).T @ (half.T @ inside)
    M, AJ = kn.mass_matrix(ops.model, ops.given), (A @ J).dense()
    whole = np.block([[M, AJ.T], [AJ, np.zeros((4, 4))]])
    assert_same(beta, np.linalg.solve(whole, np.r_[T_bar, np.zeros(4)])[:n], hard)


def test_rotors_add_to_D():
    """Rotors, which the paper has not: 𝓜 = HφMφ*H* + R, D = HPH* + R, and lemmas 0.1 to 0.4 stay as they are."""
    rng = np.random.default_rng(8)
    tree = kn.testing.random_tree(rng, 6, resistance=False)
    model = tree.replace(joints=tuple(dataclasses.replace(j, rotor_inertia=(0.3,) * j.type.nv) for j in tree.joints))
    ops = at(model, kn.random_configuration(model, rng))
    H, phi, psi, K, D, M, I = ops.H, ops.phi, ops.psi, ops.K, ops.D, ops.M, ops.I
    mass, hard = kn.mass_matrix(model, ops.given), condition(ops)
    assert_same(H @ phi @ M @ phi.T @ H.T + ops.R, mass)
    assert_same((I + H @ phi @ K) @ D @ (I + H @ phi @ K).T, mass, hard)
    assert_same((I - H @ psi @ K) @ H @ phi, H @ psi, hard)
    assert_same(ops.mass.inverse @ ops.mass, np.eye(model.nv), hard)
    assert_same(M, ops.P - ops.E_psi @ ops.P @ ops.E_psi.T - K @ ops.R @ K.T, hard)
    with pytest.raises(ValueError, match="no inverse of H @ phi"):
        _ = (H @ phi @ M @ phi.T @ H.T).inverse


def test_planar_mechanisms():
    b = kn.Builder("planar", gravity=(0.0, -9.81, 0.0))
    b.body("first", joint=kn.joints.Revolute("z"), mass=1.0, com=(0.3, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    for name, joint in (("second", kn.joints.Revolute("z")), ("third", kn.joints.Prismatic("x"))):
        b.body(name, on="first", joint=joint, at=(0.6, 0.1, 0.0), mass=1.0, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
    model = kn.model.to_planar(b.build())
    ops = at(model, np.array([0.3, -0.8, 0.2]), np.array([1.0, 2.0, 0.5]), points=["second", "third"])
    assert ops.phi.shape == (3 * model.nb, 3 * model.nb)
    assert_same(ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T + ops.R, kn.mass_matrix(model, ops.given))
    assert_same(ops.mass_inverse, kn.mass_matrix_inverse(model, ops.given), condition(ops))
    assert_same(ops.J @ ops.mass_inverse @ ops.J.T, ops.Lambda, condition(ops))
    assert_same(ops.C, kn.bias_force(model, ops.given, np.asarray(ops._v)))
