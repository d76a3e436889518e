"""Articulated bodies in trees: properties P3, P5, P6 and P8 of the inventory (RBDA chapter 7)."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.algorithms.dynamics import body_assembly
from knuckle.algorithms.dynamics.body_assembly import Inertial, Mobile
from knuckle.algorithms.kinematics import body_motions
from knuckle.model import ROOT, Model, TreeJoint
from knuckle.spatial import ArticulatedInertia, Force, Matrix, Vector
from knuckle.testing.compare import array, close
from knuckle.testing.mechanisms import random_state, random_tree

EPS = np.finfo(float).eps
FLOATING = ["revolute", "prismatic", "cylindrical", "rack_and_pinion", "spherical", "planar", "yaw_pitch_roll"]


def vec(x):
    return Vector(np.asarray(x).tolist())


def mat(A):
    return Matrix(np.asarray(A).tolist(), np.asarray(A).shape[1])


def recursion(model, s, tau):
    """IA and pA of every body, inward by `join`; X, S and c of every joint. Gravity acts as forces."""
    Q, V = model.positions(s.q), model.velocities(s.q, s.v)
    X0, v = body_motions.positions(model, Q), body_motions.velocities(model, Q, V)
    X, S, c, own, sub = {}, {}, {}, {}, {}
    for i, _, joint in model.outward():
        XJ, S[i], vJ, cJ = joint.motion(Q[i], V[i])
        X[i], c[i] = XJ @ model.X_tree[i], cJ + v[i].cross(vJ)
        I, f = model.I[i], Force.of(s.f_ext[i].tolist())
        own[i] = Inertial(ArticulatedInertia.of(I), v[i].cross(I @ v[i]) - f - I @ (X0[i] @ model.g))
    nothing = Inertial(ArticulatedInertia.zero(), Force.zero())
    for i, p, _ in model.inward():
        sub[i] = body_assembly.join(nothing, own[i], S[i], c[i], tau[i])
        if p != ROOT:
            carried = Inertial(X[i].T @ sub[i].I @ X[i], X[i].T @ sub[i].p)
            own[p] = body_assembly.glue(own[p], carried)
    return own, sub, X, S, X0


@pytest.mark.parametrize("seed", range(8))
def test_p3_projection_is_assembly(seed):
    """(J H⁻¹ Jᵀ)⁻¹ of a floating tree is its recursive IA, and pA = −IA b (RBDA 7.5-7.13)."""
    model = without_rotors(random_tree(seed, 5, types=FLOATING, floating=True, resistance=False))
    s = random_state(model, seed)
    tau = np.concatenate([np.zeros(6), np.random.default_rng(seed).standard_normal(model.nv - 6)])
    own, *_ = recursion(model, s, model.velocities(s.q, vec(tau)))
    J, J_dot = kn.jacobian(model, s.q, "body0"), kn.jacobian_rate(model, s.q, s.v, "body0")
    C = kn.bias_force(model, s.q, s.v, s.f_ext) - tau
    Phi = body_assembly.project(mat(kn.mass_matrix_inverse(model, s.q)), vec(C), mat(J), vec(J_dot @ s.v))
    found = body_assembly.inertial(Phi)
    factor = np.linalg.cond(kn.mass_matrix(model, s.q))
    close(array(found.I), array(own[0].I), factor)
    close(array(found.p), array(own[0].p), factor)
    close(array(found.I), kn.operational_space_inertia(model, s.q, "body0"), factor)


@pytest.mark.parametrize("seed", range(4))
def test_p3_projection_of_several_handles(seed):
    """Row 7-05: h stacked Jacobians; Φ is symmetric and semidefinite, with the rank, range and null space of J."""
    model = random_tree(seed, 4, types=["revolute", "prismatic", "cylindrical"], resistance=False)
    s = random_state(model, seed)
    J = np.vstack([kn.jacobian(model, s.q, name, "world") for name in model.body_names[1:]])
    Hi = kn.mass_matrix_inverse(model, s.q)
    zero = Vector.zero(len(J))
    Phi = array(body_assembly.project(mat(Hi), Vector.zero(model.nv), mat(J), zero).Phi)
    factor = np.linalg.cond(Hi)
    close(Phi, Phi.T, factor)
    values = np.linalg.eigvalsh((Phi + Phi.T) / 2)
    assert values.min() > -100 * EPS * factor * values.max()
    rank = np.linalg.matrix_rank(J)
    assert np.linalg.matrix_rank(Phi, tol=1e-9 * values.max()) == rank
    assert np.linalg.matrix_rank(np.hstack([Phi, J]), tol=1e-9 * np.abs(J).max()) == rank
    null = np.linalg.svd(J.T)[2][rank:].T
    close(Phi @ null, np.zeros((len(J), len(J) - rank)), factor, size=np.abs(Phi).max())


@pytest.mark.parametrize("seed", range(10))
def test_p5_forces_at_the_solution(seed):
    """f_j = IA a_j + pA = Ia a_λ + pa, and Sᵀf = τ, with the accelerations of ABA."""
    model = without_rotors(random_tree(seed, resistance=False))
    s = random_state(model, seed)
    tau = np.random.default_rng(seed).standard_normal(model.nv)
    a = kn.forward_dynamics(model, s.q, s.v, tau, s.f_ext)
    A = body_motions.accelerations(model, model.positions(s.q), model.velocities(s.q, s.v), model.velocities(s.q, a))
    own, sub, X, S, X0 = recursion(model, s, model.velocities(s.q, tau))
    H = kn.mass_matrix(model, s.q)
    factor = np.linalg.cond(H) if len(H) else 1.0
    for i, p, _ in model.outward():
        f = own[i].I @ A[i] + own[i].p
        parent = X[i] @ A[p]
        size = max(np.abs(array(own[i].I)).max() * np.abs(array(A[i])).max(), np.abs(array(own[i].p)).max())
        close(array(sub[i].I @ parent + sub[i].p), array(f), factor, size=size)
        close(array(S[i].T @ f), array(model.velocities(s.q, tau)[i]), factor, size=size)
    # the forces of the joints on the base are what the whole mechanism needs from outside
    total = sum((X0[i].T @ (own[i].I @ A[i] + own[i].p) for i in model.children(ROOT)), Force.zero())
    sources = [X0[i].T @ (I @ (A[i] - X0[i] @ model.g)) for i, I in enumerate(model.I)]
    v = body_motions.velocities(model, model.positions(s.q), model.velocities(s.q, s.v))
    sources += [X0[i].T @ (v[i].cross(I @ v[i]) - Force.of(s.f_ext[i].tolist())) for i, I in enumerate(model.I)]
    close(array(total), array(sum(sources, Force.zero())), factor, size=max(np.abs(array(x)).max() for x in sources))


def without_rotors(model):
    return model.replace(joints=tuple(TreeJoint(j.name, j.type, j.parent, j.X_tree) for j in model.joints))


@pytest.mark.parametrize("seed", range(6))
def test_p6_forward_dynamics_does_not_depend_on_the_numbering(seed):
    """ABA = H⁻¹(τ − C), and a renumbered tree has the same accelerations in another order."""
    rng = np.random.default_rng(seed)
    model = random_tree(seed, 6, types=["revolute", "prismatic", "helical"], resistance=False)
    s, tau = random_state(model, seed), rng.standard_normal(6)
    a = kn.forward_dynamics(model, s.q, s.v, tau, s.f_ext)
    H, C = kn.mass_matrix(model, s.q), kn.bias_force(model, s.q, s.v, s.f_ext)
    close(a, np.linalg.solve(H, tau - C), np.linalg.cond(H))
    order = []
    while len(order) < 6:
        ready = [i for i in range(6) if i not in order and (model.parents[i] in order or model.parents[i] == ROOT)]
        order.append(int(rng.choice(ready)))
    place = {ROOT: ROOT, **{old: new for new, old in enumerate(order)}}
    renumbered = Model(
        tuple(model.bodies[i] for i in order),
        tuple(
            TreeJoint(j.name, j.type, place[j.parent], j.X_tree, rotor_inertia=j.rotor_inertia)
            for j in (model.joints[i] for i in order)
        ),
        gravity=model.gravity,
    )
    found = kn.forward_dynamics(renumbered, s.q[order], s.v[order], tau[order], s.f_ext[order])
    close(found, a[order], np.linalg.cond(H))


@pytest.mark.parametrize("seed", range(8))
def test_p8_gravity_as_base_acceleration_and_as_forces(seed):
    model = random_tree(seed, resistance=False)
    s = random_state(model, seed)
    X0 = body_motions.positions(model, model.positions(s.q))
    weights = np.array([array(model.I[i] @ (X0[i] @ model.g)) for i in range(model.nb)])
    floating = model.with_gravity((0.0, 0.0, 0.0))
    tau = kn.inverse_dynamics(model, s.q, s.v, s.a, s.f_ext)
    close(kn.inverse_dynamics(floating, s.q, s.v, s.a, s.f_ext + weights), tau, 10, size=np.abs(weights).max())
    H = kn.mass_matrix(model, s.q)
    factor = np.linalg.cond(H) if len(H) else 1.0
    for method in ("aba", "crba"):
        with_field = kn.forward_dynamics(model, s.q, s.v, s.a, s.f_ext, method=method)
        with_forces = kn.forward_dynamics(floating, s.q, s.v, s.a, s.f_ext + weights, method=method)
        close(with_forces, with_field, factor, size=np.abs(weights).max())


# mobilities of chains on the base (row 7-11)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("nb", [1, 2, 4, 7])
def test_mobility_of_a_tip_on_the_base(seed, nb):
    """Variant 1 from the base outward: Φ of a handle with few freedoms is J H⁻¹ Jᵀ, of the rank of J."""
    tree = without_rotors(random_tree(seed, nb, types=["revolute", "prismatic", "rack_and_pinion"], resistance=False))
    chain = (TreeJoint(j.name, j.type, i - 1, j.X_tree) for i, j in enumerate(tree.joints))
    model = tree.replace(joints=tuple(chain))
    s, tau = random_state(model, seed), np.random.default_rng(seed).standard_normal(model.nv)
    Q, V = model.positions(s.q), model.velocities(s.q, s.v)
    X0, v = body_motions.positions(model, Q), body_motions.velocities(model, Q, V)
    inner = Mobile(Matrix.zero(6, 6), Vector.zero(6))
    for i, _, joint in model.outward():
        _, _, vJ, cJ = joint.motion(Q[i], V[i])
        c = X0[i].inv @ (cJ + v[i].cross(vJ))
        T, T_a = (array(X0[i].inv @ F) for F in (joint.constraints(Q[i]), joint.actuation(Q[i])))
        I, f = model.I[i], Force.of(s.f_ext[i].tolist())
        p = array(X0[i].inv @ (v[i].cross(I @ v[i]) - f - I @ (X0[i] @ model.g)))
        Phi = np.linalg.inv(array(X0[i].inv @ I))
        free = Mobile(mat(Phi), vec(-Phi @ p))
        # seen from the outer body the joint is reversed: S, c and T_a change sign
        inner = body_assembly.join_by_mobility(free, inner, mat(T), mat(-T_a), -vec(array(c)), vec(tau[i : i + 1]))
    J, J_dot = (
        kn.jacobian(model, s.q, model.body_names[-1], "world"),
        kn.jacobian_rate(model, s.q, s.v, model.body_names[-1], "world"),
    )
    Hi = kn.mass_matrix_inverse(model, s.q)
    C = kn.bias_force(model, s.q, s.v, s.f_ext)
    bodies = max(np.linalg.cond(array(X0[i].inv @ I)) for i, I in enumerate(model.I))
    factor = np.linalg.cond(Hi) * bodies
    projected = body_assembly.project(mat(Hi), vec(C - tau), mat(J), vec(J_dot @ s.v))
    close(array(inner.Phi), array(projected.Phi), factor, size=1.0)
    close(array(inner.b), array(projected.b), factor, size=10.0)
    rank = np.linalg.matrix_rank(array(projected.Phi), tol=1e-8 * np.abs(array(projected.Phi)).max())
    assert rank == np.linalg.matrix_rank(J, tol=1e-5 * np.abs(J).max()) <= min(nb, 6)
