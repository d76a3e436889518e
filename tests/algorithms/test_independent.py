"""The algorithms against implementations that share nothing with them but the joints: 3-D vectors, centre-of-mass
frames, maximal coordinates, Lagrange's equations."""

import dataclasses

import numpy as np
import pytest

import knuckle as kn
from knuckle import joints
from knuckle.algorithms.kinematics import body_motions
from knuckle.model import Frame, Model, TreeJoint
from knuckle.spatial import Transform
from knuckle.testing.compare import close
from knuckle.testing.mechanisms import JOINTS, general_chain, random_state, random_tree
from knuckle.testing.oracles import lagrange, maximal_coordinates, mirtich
from knuckle.testing.oracles.newton_euler import newton_euler
from knuckle.testing.oracles.serial_chain import links

from ..seeds import seeds

MANY = seeds(25, quick=3)


def condition(model, q):
    """How much a solution for accelerations may magnify rounding: the condition number of H."""
    H = kn.mass_matrix(model, q)
    return np.linalg.cond(H) if len(H) else 1.0


def worst_body(model, q):
    """The same for the inertias of the bodies in base coordinates, which divide and conquer inverts."""
    X0 = body_motions.positions(model, model.positions(q))
    return max(np.linalg.cond(np.array((X0[i].inv @ I).matrix.rows, dtype=float)) for i, I in enumerate(model.I))


def methods(model, q):
    """Each method of forward dynamics with the factor by which it may magnify rounding."""
    by_H = condition(model, q)
    return {"aba": by_H, "crba": by_H, "divide": by_H * worst_body(model, q)}


def serial(seed, types=("revolute", "prismatic"), nb=None):
    """A random serial chain without rotors."""
    tree = random_tree(seed, nb, types=types, resistance=False)
    chain = (TreeJoint(j.name, j.type, i - 1, j.X_tree) for i, j in enumerate(tree.joints))
    return tree.replace(joints=tuple(chain))


# 3-D vectors


@pytest.mark.parametrize("seed", MANY)
def test_rnea_is_the_original_newton_euler(seed):
    model = serial(seed)
    s = random_state(model, seed)
    found = newton_euler(model, s.q, s.v, s.a)
    close(kn.inverse_dynamics(model, s.q, s.v, s.a), found.tau, size=np.abs(found.n).max())


@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_rnea_is_the_original_newton_euler_on_the_books_chains(n):
    """GU(n), revolute about z: table 5.2 as it stands."""
    model = general_chain(n, n)
    s = random_state(model, n)
    found = newton_euler(model, s.q, s.v, s.a)
    close(kn.inverse_dynamics(model, s.q, s.v, s.a), found.tau, size=np.abs(found.n).max())


# centre-of-mass frames


@pytest.mark.parametrize("seed", MANY)
def test_aba_is_mirtichs_algorithm(seed):
    model = serial(seed)
    s = random_state(model, seed)
    tau = np.random.default_rng(seed).standard_normal(model.nv) * 5
    expected = mirtich.forward_dynamics(model, s.q, s.v, tau)
    close(kn.forward_dynamics(model, s.q, s.v, tau), expected, condition(model, s.q))


@pytest.mark.parametrize("seed", range(5))
def test_rnea_gives_back_the_forces_of_mirtichs_algorithm(seed):
    model = serial(seed, nb=5)
    s = random_state(model, seed)
    a = mirtich.forward_dynamics(model, s.q, s.v, s.a)
    close(newton_euler(model, s.q, s.v, a).tau, s.a, condition(model, s.q))


def com_states(seed, types):
    """A chain, its links placed after Mirtich, and (velocities, classical accelerations) of their frames."""
    model = serial(seed, types, nb=5)
    s = random_state(model, seed)
    frames = []
    for i, link in enumerate(links(model)):
        _, A = mirtich.principal(link.I_com)
        frames.append(Frame(f"com{i}", i, Transform.of(A.tolist(), link.com.tolist())))
    model = model.replace(frames=tuple(frames))
    names = [frame.name for frame in frames]
    v = [np.zeros(6), *(kn.velocity(model, s.q, s.v, name) for name in names)]
    a = [np.zeros(6), *(kn.acceleration(model, s.q, s.v, s.a, name, classical=True) for name in names)]
    return mirtich.place(links(model), s.q), s, v, a


@pytest.mark.parametrize("seed", range(6))
def test_mirtichs_transform_needs_r_in_the_outer_frame(seed):
    """[R 0; −r̃R R] as printed carries velocities, with r in the coordinates of frame i; else it does not."""
    chain, s, v, _ = com_states(seed, ("revolute", "prismatic"))
    for i, link in enumerate(chain):
        X = mirtich.transform(link.R, link.r)
        close(X @ v[i] + s.v[i] * link.s, v[i + 1])
        inverse = mirtich.transform(link.R.T, -link.R.T @ link.r)
        close(inverse @ X, np.eye(6), 10)
        force = np.array([0.3, -1.2, 0.7, 2.0, 0.1, -0.4])  # (f, τ): its power does not depend on the frame
        power = mirtich.spatial_transpose(inverse @ force) @ v[i]
        close(power, mirtich.spatial_transpose(force) @ X @ v[i], 10, size=np.abs(v[i]).max())
    moving = [i for i in range(1, len(chain)) if np.abs(np.cross(v[i][:3], chain[i].r)).max() > 1e-3]
    for i in moving:
        R, r = chain[i].R, chain[i].r
        for wrong in (mirtich.transform(R, -r), mirtich.transform(R, R.T @ r)):
            off = wrong @ v[i] + s.v[i] * chain[i].s - v[i + 1]
            assert np.abs(off).max() > 1e-6
    assert moving


@pytest.mark.parametrize("types", [("revolute",), ("revolute", "prismatic")])
@pytest.mark.parametrize("seed", [1, 2, 3, 6, 7])
def test_mirtichs_coriolis_term(seed, types):
    """ĉ has 2ω×(ν×d), as printed; v̇_rel has 1ω×(ν×d), and the slides that print a 2 there would lead to a 3."""
    chain, s, v, a = com_states(seed, types)
    told_apart = 0
    for i, link in enumerate(chain):
        w, alpha = link.R @ v[i][:3], link.R @ a[i][:3]
        nu = s.v[i] * link.u
        X = mirtich.transform(link.R, link.r)
        c = mirtich.coriolis(link, w, nu)
        size = np.abs(a[i + 1]).max() + np.abs(a[i]).max()
        close(X @ a[i] + s.a[i] * link.s + c, a[i + 1], 10, size=size)
        if not link.revolute:
            continue
        v_rel, xi = np.cross(nu, link.d), s.a[i] * link.u
        r_dot = np.cross(w, link.r) + v_rel
        left = a[i + 1][3:] - (link.R @ a[i][3:] + np.cross(alpha, link.r) + np.cross(w, r_dot))
        rate = np.cross(xi, link.d) + np.cross(nu, v_rel)
        close(rate + np.cross(w, v_rel), left, 10, size=size)
        if np.abs(np.cross(w, v_rel)).max() > 1e-3:
            told_apart += 1
            assert np.abs(rate + 2 * np.cross(w, v_rel) - left).max() > 1e-4
    assert told_apart


def test_mirtichs_frames_are_principal_and_right_handed():
    model = serial(3, nb=6)
    for link in links(model):
        moments, A = mirtich.principal(link.I_com)
        close(A @ link.I_com @ A.T, np.diag(moments), 10)
        close(np.cross(A[0], A[1]), A[2])


@pytest.mark.parametrize("oracle", [newton_euler, mirtich.forward_dynamics])
def test_chain_oracles_refuse_what_they_cannot_do(oracle):
    branched = random_tree(1, 3, types=["revolute"], resistance=False)
    parents = [-1, 0, 0]
    plain = [TreeJoint(j.name, j.type, p) for j, p in zip(branched.joints, parents, strict=True)]
    with pytest.raises(ValueError, match="joint2 branches off"):
        oracle(branched.replace(joints=tuple(plain)), [0] * 3, [0] * 3, [0] * 3)
    kinds = [joints.Revolute("z"), joints.Helical("z", 0.1), joints.Revolute("x")]
    screw = [TreeJoint(f"joint{i}", kind, i - 1) for i, kind in enumerate(kinds)]
    with pytest.raises(ValueError, match="joint1 is Helical, and must be Revolute or Prismatic"):
        oracle(branched.replace(joints=tuple(screw)), [0] * 3, [0] * 3, [0] * 3)
    chain = serial(2, nb=2)
    geared = dataclasses.replace(chain.joints[0], rotor_inertia=(0.3,))
    with pytest.raises(ValueError, match="joint0 has a rotor"):
        oracle(chain.replace(joints=(geared, chain.joints[1])), [0] * 2, [0] * 2, [0] * 2)
    with pytest.raises(ValueError, match="couplings"):
        oracle(chain.replace(couplings=(kn.model.mimic(1, 0),)), [0], [0], [0])


# maximal coordinates


def dynamics_agree(model, seed):
    s = random_state(model, seed)
    tau = np.random.default_rng(seed).standard_normal(model.nv) * 3
    expected = maximal_coordinates.forward_dynamics(model, s.q, s.v, tau, s.f_ext)
    for method, factor in methods(model, s.q).items():
        found = kn.forward_dynamics(model, s.q, s.v, tau, s.f_ext, method=method)
        close(found, expected.a, factor, size=1.0)
    return s, tau, expected, condition(model, s.q)


@pytest.mark.parametrize("seed", MANY)
def test_forward_dynamics_is_that_of_maximal_coordinates(seed):
    """Branched trees of every joint type, with reversed and zero-DoF joints, rotors and external forces."""
    dynamics_agree(random_tree(seed, resistance=False), seed)


@pytest.mark.sampled
@pytest.mark.parametrize("name", JOINTS)
@pytest.mark.parametrize("flipped", [False, True], ids=["forward", "reversed"])
def test_forward_dynamics_with_each_joint(name, flipped):
    """Each joint type on the base, inside and at a leaf, in both directions, with rotors."""
    seed = sorted(JOINTS).index(name)
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 5, types=["revolute"], resistance=False)
    kinds = [JOINTS[name](rng), joints.Revolute("y"), JOINTS[name](rng), joints.Fixed(), JOINTS[name](rng)]
    kinds = [kind.reversed() if flipped and i % 2 == 0 else kind for i, kind in enumerate(kinds)]
    built = (
        TreeJoint(f"joint{i}", kind, p, tree.joints[i].X_tree, rotor_inertia=(0.2,) * kind.nv if i == 2 else ())
        for i, (kind, p) in enumerate(zip(kinds, (-1, 0, 1, 1, 0), strict=True))
    )
    dynamics_agree(tree.replace(joints=tuple(built)), seed)


@pytest.mark.parametrize("seed", range(8))
def test_body_accelerations_and_joint_forces_are_those_of_maximal_coordinates(seed):
    """Not only a: what each body does and what each joint carries, in base coordinates."""
    model = random_tree(seed, resistance=False)
    s, _, expected, factor = dynamics_agree(model, seed)
    Q, V, A = model.positions(s.q), model.velocities(s.q, s.v), model.velocities(s.q, expected.a)
    X0 = body_motions.positions(model, Q)
    v, a = body_motions.velocities(model, Q, V), body_motions.accelerations(model, Q, V, A)
    through = {i: model.zero_force for i in range(-1, model.nb)}
    for i, p, _ in model.inward():
        I, f = model.I[i], model.algebra.Force.of(s.f_ext[i].tolist())
        net = I @ (a[i] - X0[i] @ model.g) + v[i].cross(I @ v[i]) - f
        through[i] = through[i] + X0[i].T @ net
        through[p] = through[p] + through[i]
        close(np.array((X0[i].inv @ a[i]).components, dtype=float), expected.bodies[i], factor, size=1.0)
    for i in range(model.nb):
        close(np.array(through[i].components, dtype=float), expected.joints[i], factor, size=10.0)


@pytest.mark.parametrize("seed", range(6))
def test_prescribed_joints(seed):
    """A joint that is made to move as it would by itself leaves the others as they are; so do maximal coordinates."""
    model = random_tree(seed, 5, resistance=False)
    k = next(i for i, joint in enumerate(model.joints) if joint.type.nv)
    s, tau, expected, factor = dynamics_agree(model, seed)
    Q, V, A = model.positions(s.q), model.velocities(s.q, s.v), model.velocities(s.q, expected.a)
    moved = joints.Prescribed(model.joints[k].type, tuple(Q[k]), tuple(V[k]), tuple(A[k]))
    held = tuple(
        TreeJoint(joint.name, moved, joint.parent, joint.X_tree) if i == k else joint
        for i, joint in enumerate(model.joints)
    )
    driven = model.replace(joints=held)
    q = np.delete(s.q, np.r_[model.q_slices[k]])
    v, tau, a = (np.delete(x, np.r_[model.v_slices[k]]) for x in (s.v, tau, expected.a))
    close(maximal_coordinates.forward_dynamics(driven, q, v, tau, s.f_ext).a, a, factor, size=1.0)
    for method, factor in methods(model, s.q).items():
        close(kn.forward_dynamics(driven, q, v, tau, s.f_ext, method=method), a, factor, size=1.0)


def test_maximal_coordinates_refuse_loops_and_couplings():
    model = general_chain(3)
    with pytest.raises(ValueError, match="loops or couplings"):
        maximal_coordinates.forward_dynamics(
            model.replace(couplings=(kn.model.mimic(2, 0),)), [0] * 2, [0] * 2, [0] * 2
        )


# Lagrange

PLAIN = ["revolute", "prismatic", "helical", "cylindrical", "translational", "rack_and_pinion", "universal", "euler",
         "yaw_pitch_roll", "composite", "fixed", "spline_curve"]  # fmt: skip
"""Joints whose velocity variables are the rates of their positions."""


@pytest.mark.parametrize("seed", seeds(12, quick=3))
def test_rnea_is_lagranges_equation(seed):
    model = random_tree(seed, types=PLAIN, resistance=False)
    s = random_state(model, seed)
    expected = lagrange.inverse_dynamics(model, s.q, s.v, s.a)
    size = np.abs(lagrange.christoffel(model, s.q)).max(initial=0.0) * np.abs(s.v).max(initial=0.0) ** 2
    close(kn.inverse_dynamics(model, s.q, s.v, s.a), expected, 10, size=size)
    close(kn.mass_matrix(model, s.q), lagrange.inertia(model, s.q), 10)
    close(kn.gravity_force(model, s.q), lagrange.gravity(model, s.q), 10, size=10.0)


@pytest.mark.parametrize("seed", range(6))
def test_christoffel_symbols(seed):
    """C_ijk is symmetric in j and k, Σ C_ijk v_k has the same sum with its transpose as Ḣ, and gives the same force
    as our Coriolis matrix, which need not be the same matrix."""
    model = random_tree(seed, types=PLAIN, resistance=False)
    s = random_state(model, seed)
    C = lagrange.christoffel(model, s.q)
    size = np.abs(C).max(initial=0.0) * np.abs(s.v).max(initial=0.0)
    close(C, np.swapaxes(C, 1, 2))
    matrix, ours = C @ s.v, kn.coriolis_matrix(model, s.q, s.v)
    close(matrix + matrix.T, ours + ours.T, 10, size=size)
    close(matrix @ s.v, ours @ s.v, 10, size=size * np.abs(s.v).max(initial=0.0))


def test_lagranges_gravity_counts_springs():
    model = serial(4, nb=3)
    sprung = dataclasses.replace(model.joints[1], stiffness=(7.0,), rest=(0.3,))
    model = model.replace(joints=(model.joints[0], sprung, model.joints[2]))
    s = random_state(model, 4)
    close(kn.inverse_dynamics(model, s.q, s.v, s.a), lagrange.inverse_dynamics(model, s.q, s.v, s.a), 10)


def test_lagrange_refuses_quasi_velocities_and_driven_joints():
    ball = Model(general_chain(1).bodies, (TreeJoint("ball", joints.Spherical(), -1),))
    with pytest.raises(ValueError, match="needs v = q̇, and ball has other velocity variables"):
        lagrange.inverse_dynamics(ball, [1, 0, 0, 0], [0] * 3, [0] * 3)
    motor = joints.Driven(joints.Revolute("y"), joints.Sinusoid(0.7, 1.3)).at_time(0.1)
    moving = general_chain(2)
    moving = moving.replace(joints=(TreeJoint("motor", motor, -1), moving.joints[1]))
    with pytest.raises(ValueError, match=r"GU\(2\) moves by itself"):
        lagrange.inverse_dynamics(moving, [0.0], [0.0], [0.0])
