"""Gears, rotors, differentials and closures written as couplings: the book's numbers and the book's examples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import knuckle as kn
from knuckle.engine.trace import trace
from knuckle.joints import Prismatic, Revolute
from knuckle.model import Builder, Coupling, Linear, Model, edit, solid_box
from knuckle.scalar import arctan2, cos, sin, sqrt
from knuckle.spatial import Matrix
from knuckle.testing import random_state, random_tree
from knuckle.testing.compare import close

from .cases import COUPLED, Case

Array = NDArray[np.float64]
BOX = solid_box(1.0, (0.4, 0.1, 0.2), at=(0.2, 0.01, 0.02))


# X12: figure 9.2


def figure_9_2(first: float, second: float) -> Model:
    """Two links in a row, and a motor for each on the body before it; q2 = ρ1 q1 and q4 = ρ2 q3 in the book's order."""
    b = Builder("geared pair")
    b.body("link1", joint=Revolute("z"), inertia=BOX)
    b.body("rotor1", joint=Revolute("z"), at=(0, 0, -0.1), inertia=solid_box(0.1, (0.03, 0.03, 0.05)))
    b.body("link2", on="link1", joint=Revolute("z"), at=(0.4, 0, 0), inertia=BOX)
    b.body("rotor2", on="link1", joint=Revolute("z"), at=(0.1, 0, 0), inertia=solid_box(0.1, (0.03, 0.03, 0.05)))
    b.couple("rotor1_joint", "link1_joint", first)
    b.couple("rotor2_joint", "link2_joint", second)
    return b.build()


def test_x12_inertia_of_geared_links():
    """GᵀHG = [H11 + ρ1²H22, H13 + ρ2H14; ·, H33 + ρ2²H44], with H12 = H23 = H24 = H34 = 0."""
    first, second = 50.0, -30.0
    model = figure_9_2(first, second)
    q = np.array([0.3, 1.1])
    H = kn.mass_matrix(model.without_couplings(), kn.couplings.tree_positions(model, q))
    assert not np.any(H[[0, 1, 1, 2], [1, 2, 3, 3]])
    off = H[0, 2] + second * H[0, 3]
    close(kn.mass_matrix(model, q), [[H[0, 0] + first**2 * H[1, 1], off], [off, H[2, 2] + second**2 * H[3, 3]]])


def test_x12_operations():
    """5 multiplications and 3 additions, where dense products need 44 and 33; 3 and 3 for ratios that are known."""
    plain = figure_9_2(1.0, 1.0)

    def reduced(rho, h):
        couplings = (Coupling(1, (0,), Linear((rho[0],))), Coupling(3, (2,), Linear((rho[1],))))
        places = {(0, 0): 0, (1, 1): 1, (2, 2): 2, (3, 3): 3, (0, 2): 4, (2, 0): 4, (0, 3): 5, (3, 0): 5}
        H = plain.replace(couplings=couplings).square([0.0, 0.0], {at: Matrix([[h[k]]]) for at, k in places.items()})
        return [H[0][0], H[0][1], H[1][1]]

    def dense(rho, h):
        G = Matrix([[h[2 * i + j] for j in range(2)] for i in range(4)])  # any numbers, for a program without structure
        H = Matrix([[h[8 + 4 * i + j] for j in range(4)] for i in range(4)])
        HG = H @ G
        return [sum(G[k][i] * HG[k][j] for k in range(4)) for i, j in ((0, 0), (0, 1), (1, 1))]

    def count(text, known: bool = False):
        program = trace(
            (lambda h: text((50.0, -30.0), h)) if known else text,
            {"h": (24,)} if known else {"rho": (2,), "h": (24,)},
            lambda r: (list(r), (3,)),
        )
        return program.count()

    found = count(reduced)
    assert (found.mul, found.add) == (5, 3)
    assert (count(reduced, known=True).mul, count(reduced, known=True).add) == (3, 3)
    everything = count(dense)
    assert (everything.mul, everything.add) == (44, 33)


# P19: rotors


def yawing(elbow: dict[str, float], carrier: bool = False) -> Builder:
    """Pitch, then yaw, then an elbow; a disc of the motor's inertia may be part of the yawing body."""
    b = Builder("yawing arm")
    b.body("pitch", joint=Revolute("y"), inertia=BOX)
    b.body("yaw", on="pitch", joint=Revolute("z"), at=(0.1, 0, 0.2), inertia=BOX + _disc(J) if carrier else BOX)
    b.body("elbow", on="yaw", joint=Revolute("x"), at=(0, 0, 0), inertia=BOX, **elbow)
    return b


J, RATIO = 3e-4, 80.0


def _disc(moment: float):
    """A thin disc about the x axis, of next to no mass."""
    return kn.spatial.Inertia.of(0.0, (0, 0, 0), np.diag([moment, moment / 2, moment / 2]).tolist())


def exact_and_quick() -> tuple[Model, Model]:
    exact = yawing({})
    exact.rotor("motor", "elbow_joint", ratio=RATIO, inertia=J)
    return exact.build(), yawing({"rotor_inertia": RATIO**2 * J}, carrier=True).build()


@pytest.mark.parametrize("seed", range(3))
def test_p19_the_quick_way_has_the_squared_ratios_only(seed: int):
    """Exact − quick, with the rotor at rest in the link: ρJ (axis · axis of the other joint), and no more, in H."""
    exact, quick = exact_and_quick()
    q = random_state(exact, seed).q
    difference = kn.mass_matrix(exact, q) - kn.mass_matrix(quick, q)
    axes = kn.jacobian(exact, q, "yaw", "body")[0]  # ω of the carrier about the rotor's axis, by each joint
    wanted = np.zeros((3, 3))
    wanted[2] += RATIO * J * axes
    wanted[:, 2] += RATIO * J * axes
    np.testing.assert_allclose(difference, wanted, atol=1e-13)
    assert abs(difference[2, 2]) < 1e-13
    assert abs(difference[0, 2]) > 1e-4


def test_p19_the_quick_way_has_no_gyroscopic_couple():
    """A rotor that spins about x while its carrier yaws about z: ρJ q̇ ω about y, which the pitch joint has to give."""
    exact, quick = exact_and_quick()
    q, v = np.zeros(3), np.array([0.0, 1.5, 2.0])
    felt = kn.coriolis_force(exact, q, v) - kn.coriolis_force(quick, q, v)
    np.testing.assert_allclose(felt, [RATIO * J * v[1] * v[2], 0.0, 0.0], atol=1e-13)


def test_d27_a_rotor_counted_in_both_ways_is_counted_twice():
    exact, quick = exact_and_quick()
    both = edit.with_joint(exact, "elbow_joint", rotor_inertia=RATIO**2 * J)
    q = np.array([0.2, -0.4, 0.9])
    bare = kn.mass_matrix(edit.with_joint(quick, "elbow_joint", rotor_inertia=0.0), q)[2, 2]
    assert kn.mass_matrix(both, q)[2, 2] - bare == pytest.approx(2 * RATIO**2 * J, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_p19_geared_trees_have_definite_inertia(seed: int):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, nb=8, types=["revolute", "prismatic"])
    order = [int(k) for k in rng.permutation(8)]
    pairs = [(order[0], order[4:6], rng.normal(size=2)), (order[1], order[6:7], 50 * rng.normal(size=1))]
    model = tree.replace(couplings=tuple(Coupling(j, tuple(s), Linear(tuple(r))) for j, s, r in pairs))
    H = kn.mass_matrix(model, random_state(model, rng).q)
    close(H, H.T)
    assert np.linalg.eigvalsh(H).min() > 0


# forces of teeth


@pytest.mark.parametrize("case", COUPLED.values(), ids=list(COUPLED))
def test_teeth_do_no_work(case: Case):
    """H a + C = τ + K_cᵀλ on the tree: what the follower gets, λ v_f, the joints it follows give."""
    lam = kn.couplings.forces(case.model, case.q, case.v, case.a, case.f_ext)
    tau = kn.inverse_dynamics(case.model, case.q, case.v, case.a, case.f_ext)
    needed = kn.inverse_dynamics(case.tree, case.Q, case.V, case.A, case.f_ext)
    applied = np.zeros(case.tree.nv)
    applied[case.lead] = tau
    K = -case.slopes(case.Q[1:])
    K[range(len(case.follow)), list(case.follow)] = 1.0
    close(applied + K.T @ lam, needed, 100)
    assert abs(K @ case.V).max() < 1e-12


# hyper-reduced coordinates


def test_a_chain_that_turns_by_one_angle():
    """Notes 2.76-2.79: J_mR = J_mr J_rR with J_rR = (1, …, 1)ᵀ, in maximal coordinates of the bodies."""
    n = 6
    b = Builder("chain")
    for i in range(n):
        b.body(
            f"l{i}", on=f"l{i - 1}" if i else None, joint=Revolute("y" if i % 2 else "z"), at=(0.4, 0, 0), inertia=BOX
        )
    tree = b.build()
    for i in range(1, n):
        b.couple(f"l{i}_joint", "l0_joint", 1.0)
    model = b.build()
    assert model.nv == 1
    q, v = np.array([0.4]), np.array([1.3])
    Q, V, ones = np.full(n, 0.4), np.full(n, 1.3), np.ones((n, 1))
    M = np.zeros((6 * n, 6 * n))
    J, J_rate, f = np.zeros((6 * n, n)), np.zeros((6 * n, n)), np.zeros(6 * n)
    for i in range(n):
        at = slice(6 * i, 6 * i + 6)
        I = np.array(model.I[i].matrix.rows, float)
        M[at, at] = I
        J[at], J_rate[at] = kn.jacobian(tree, Q, f"l{i}"), kn.jacobian_rate(tree, Q, V, f"l{i}")
        twist = kn.velocity(tree, Q, V, f"l{i}")
        gravity = np.concatenate([np.zeros(3), kn.pose(tree, Q, f"l{i}")[:3, :3].T @ model.gravity])
        f[at] = I @ gravity - _crf(twist) @ I @ twist
    J_R = J @ ones
    wanted = np.linalg.solve(J_R.T @ M @ J_R, J_R.T @ (f - M @ (J_rate @ ones @ v)))
    close(kn.forward_dynamics(model, q, v, [0.0]), wanted, 100)


def _crf(v: Array) -> Array:
    """v ×*, for a twist in body coordinates (RBDA 2.32)."""
    w, u = (np.cross(np.eye(3), x) * -1 for x in (v[:3], v[3:]))
    return np.block([[w, u], [np.zeros((3, 3)), w]])


# X5: the piston of figure 8.3


def piston_arm(l1: float, l2: float, closed: bool) -> Model:
    """An arm moved by a cylinder, and a forearm: joints 1, 2, 3 and 4 of figure 8.3."""
    b = Builder("piston arm")
    b.body("arm", joint=Revolute("z"), inertia=BOX)
    b.body("cylinder", joint=Revolute("z"), at=(l1, 0, 0), inertia=BOX)
    b.body("piston", on="cylinder", joint=Prismatic("x"), inertia=BOX)
    b.body("fore", on="arm", joint=Revolute("z"), at=(l2, 0, 0), inertia=BOX)
    if closed:
        b.close_loop("pin", Revolute("z"), "arm", "piston", at_predecessor=(l2, 0, 0))
    else:
        b.couple("cylinder_joint", "arm_joint", lambda y: arctan2(l2 * sin(y), l2 * cos(y) - l1))
        b.couple("piston_joint", "arm_joint", lambda y: sqrt(l1 * l1 + l2 * l2 - 2 * l1 * l2 * cos(y)))
    return b.build()


@pytest.mark.parametrize("y1", [-2.5, -0.3, 0.8, 2.9])
def test_x5_closure_functions_as_couplings(y1: float):
    """G and g of the book, and the motion of the same linkage closed by a loop joint (P13)."""
    l1, l2 = 0.7, 0.5
    open_, closed = piston_arm(l1, l2, closed=False), piston_arm(l1, l2, closed=True)
    q, v, tau = np.array([y1, 0.6]), np.array([1.2, -0.7]), np.array([0.4, -1.0])
    c, s = np.cos(y1), np.sin(y1)
    d = np.sqrt(l1**2 + l2**2 - 2 * l1 * l2 * c)
    u1, u2 = (l2**2 - l1 * l2 * c) / d**2, l1 * l2 * s / d
    u3 = (l1**2 - l2**2) * l1 * l2 * s / d**4 * v[0] ** 2
    u4 = (l1 * l2 * c - u2**2) / d * v[0] ** 2
    Q = kn.couplings.tree_positions(open_, q)
    close(Q, [y1, np.arctan2(l2 * s, l2 * c - l1), d, 0.6])
    close(kn.couplings.matrix(open_, q), [[1, 0], [u1, 0], [u2, 0], [0, 1]], 10)
    close(kn.couplings.bias(open_, q, v), [0, u3, u4, 0], 100)
    G, g = kn.couplings.matrix(open_, q), kn.couplings.bias(open_, q, v)
    assert np.abs(kn.loops.gap(closed, Q)).max() < 1e-14
    a = kn.forward_dynamics(closed, Q, G @ v, np.array([tau[0], 0.0, 0.0, tau[1]]))
    close(a, G @ kn.forward_dynamics(open_, q, v, tau) + g, 1e4)


# errors


def test_what_a_coupling_refuses():
    b = Builder("refusing")
    for name in "abc":
        b.body(name, joint=Revolute("z"), inertia=BOX)
    with pytest.raises(kn.ModelError, match="a_joint: it follows 2 joints and has 1 ratios: one for each"):
        b.couple("a_joint", ("b_joint", "c_joint"), 0.5)
    with pytest.raises(kn.ModelError, match="a law has its offset inside"):
        b.couple("a_joint", "b_joint", lambda x: x, offset=1.0)
    with pytest.raises(kn.ModelError, match="ratio needs a finite number"):
        b.couple("a_joint", "b_joint", float("inf"))
    with pytest.raises(kn.ModelError, match="no joint is called 'd'"):
        b.rotor("motor", "d", ratio=10, inertia=1e-3)
    model = b.build()
    with pytest.raises(kn.ModelError, match="it follows 2 joints: one or more, each once"):
        edit.couple(model, "a_joint", ("b_joint", "b_joint"), (1.0, 1.0))
    with pytest.raises(kn.ModelError, match="its law is one of 1 joints, and it follows 2"):
        edit.couple(model, "a_joint", ("b_joint", "c_joint"), kn.model.Powers((0.0, 1.0)))
    with pytest.raises(kn.ModelError, match="a_joint: its law is one of 1 joints, and it follows 2"):
        edit.couple(model, "a_joint", ("b_joint", "c_joint"), lambda x: x * x)
    chained = edit.couple(model, "a_joint", "b_joint", 2.0)
    with pytest.raises(kn.ModelError, match="follows others itself: name an independent source"):
        edit.couple(chained, "c_joint", "a_joint", 2.0)
    with pytest.raises(kn.ModelError, match="it follows other joints by two laws"):
        edit.couple(chained, "a_joint", "c_joint", 2.0)
