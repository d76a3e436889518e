"""Maximal coordinates: the same mechanism with every body free and every joint a constraint moves as it did."""

from dataclasses import replace

import numpy as np
import pytest
from tests.seeds import quick, seeds

import knuckle as kn
from knuckle.joints import Fixed, Revolute, Spherical
from knuckle.model import Builder, Geometry, Model, Sphere, solid_box
from knuckle.model.contact.contact_candidates import contact_candidates
from knuckle.testing import random_state, random_tree
from knuckle.testing.mechanisms import JOINTS

SIMPLE = ["revolute", "prismatic", "fixed", "spherical", "universal", "planar", "translational", "free", "cylindrical"]
CLOSE = 1e-9


def plain(model: Model) -> Model:
    """Without what joints keep their variables for."""
    joints = (replace(joint, friction=(), limits=kn.model.Limits()) for joint in model.joints)
    return model.replace(joints=tuple(joints), couplings=())


def drawn(seed: int, nb: int = 4, types: list[str] = SIMPLE) -> tuple[Model, np.ndarray, np.ndarray, np.ndarray]:
    model = plain(random_tree(seed, nb=nb, types=types))
    state = random_state(model, seed)
    return model, np.array(state.q), np.array(state.v), np.random.default_rng(seed).normal(size=model.nv)


def accelerations(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, bodies: tuple[str, ...]) -> np.ndarray:
    """Those of the maximal model, from the reduced ones: a free body's are its spatial acceleration."""
    parts = []
    for i, name in enumerate(model.body_names):
        free = name in bodies
        parts.append(kn.acceleration(model, q, v, a, name, "body") if free else a[model.v_slices[i]])
    return np.concatenate(parts)


def must_agree(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray, bodies: tuple[str, ...] | None = None):
    maximal = kn.maximal(model, bodies)
    Q, V = kn.maximal_state(model, q, v, bodies=bodies)
    assert np.abs(kn.loops.gap(maximal, Q)).max(initial=0.0) < 1e-12
    assert np.abs(kn.loops.error_rate(maximal, Q, V)).max(initial=0.0) < 1e-12 * (1 + np.abs(v).max())
    T = kn.maximal_forces(model, q, tau, bodies=bodies)
    np.testing.assert_allclose(T @ V, tau @ v, atol=1e-10 * (1 + np.abs(tau) @ np.abs(v)))
    names = model.body_names if bodies is None else bodies
    right = accelerations(model, q, v, kn.forward_dynamics(model, q, v, tau), names)
    scale = 1 + np.abs(right).max()
    np.testing.assert_allclose(kn.forward_dynamics(maximal, Q, V, T), right, atol=CLOSE * scale)
    np.testing.assert_allclose(kn.loops.sparse_dynamics(maximal, Q, V, T), right, atol=CLOSE * scale)
    energy = kn.kinetic_energy(maximal, Q, V) + kn.potential_energy(maximal, Q)
    np.testing.assert_allclose(energy, kn.kinetic_energy(model, q, v) + kn.potential_energy(model, q), rtol=1e-11)


@pytest.mark.parametrize("kind", quick([kind for kind in JOINTS if kind != "free"], ["revolute", "planar"]))
def test_joints_of_every_type_are_constraints(kind: str):
    """Springs and dampers of the joints included."""
    model, q, v, tau = drawn(3, 3, [kind, "revolute"])
    sprung = {i for i, _, _ in model.springs}
    small = [0.3 * x if i in sprung and model.joints[i].type.nq == model.joints[i].type.nv else x
             for i, s in enumerate(model.q_slices) for x in q[s]]  # fmt: skip
    must_agree(model, np.array(small), v, tau)


@pytest.mark.parametrize("seed", seeds(12, quick=1))
def test_random_trees_move_alike(seed: int):
    model, q, v, tau = drawn(seed)
    model = model.replace(joints=tuple(replace(joint, stiffness=()) for joint in model.joints))
    must_agree(model, q, v, tau)


@pytest.mark.parametrize("seed", seeds(8, quick=1))
def test_some_bodies_may_stay_on_their_joints(seed: int):
    model, q, v, tau = drawn(seed, 5)
    model = model.replace(joints=tuple(replace(joint, stiffness=()) for joint in model.joints))
    must_agree(model, q, v, tau, tuple(model.body_names[1::2]))


def test_states_come_back():
    model, q, v, _ = drawn(5, 5, ["revolute", "spherical", "prismatic", "universal"])
    for bodies in (None, model.body_names[:2]):
        there = kn.maximal_state(model, np.stack([q, q]), np.stack([v, -v]), bodies=bodies)
        q2, v2 = kn.reduced_state(model, *there, bodies=bodies)
        np.testing.assert_allclose(
            kn.pose(model, q2[1], model.body_names[-1]), kn.pose(model, q, model.body_names[-1]), atol=1e-12
        )
        np.testing.assert_allclose(v2, [v, -v], atol=1e-11)


def test_many_bodies_have_the_same_states():
    """What goes by groups of joints is what the text of the whole mechanism gives."""
    from knuckle.maximal_coordinates import state_arrays, state_maps

    model, q, v, _ = drawn(7, 6, ["revolute", "spherical", "prismatic"])
    rubs = [replace(joint, friction=1.0) if i in (1, 4) else joint for i, joint in enumerate(model.joints)]
    for these, kept in ((model, ()), (model.replace(joints=tuple(rubs)), (1, 4))):
        there = kn.maximal_state(these, q, v)
        for a, b in zip(there, state_arrays.maximal_arrays(these, q, v, kept), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-13)
        for a, b in zip(kn.reduced_state(these, *there), state_arrays.reduced_arrays(these, *there, kept), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-13)
    assert not state_arrays.goes_by_groups(model, tuple(range(model.nb)), q, v)
    assert state_maps.maximal_nv(model, tuple(range(6))) == 36


def test_loops_stay_loops():
    model = kn.robots.load("four_bar")
    q, v = kn.loops.project(model, kn.loops.close(model, kn.neutral(model)).q, [1.0, 0.0, 0.0])
    maximal = kn.maximal(plain(model))
    Q, V = kn.maximal_state(plain(model), q, v)
    tau = np.array([1.0, 0.5, -0.2])
    a = kn.forward_dynamics(model, q, v, tau)
    right = accelerations(model, q, v, a, model.body_names)
    T = kn.maximal_forces(plain(model), q, tau)
    np.testing.assert_allclose(kn.loops.sparse_dynamics(maximal, Q, V, T), right, atol=1e-9 * np.abs(right).max())


def test_actuators_stay_where_they_are():
    """A joint with a motor keeps its variable, and is driven as before; one at a frame needs none."""
    b = Builder("driven")
    box = solid_box(1.0, (0.1, 0.2, 0.3), at=(0, 0, -0.2))
    b.body("a", joint=Revolute("y"), inertia=box)
    b.body("b", "a", Revolute("x"), (0, 0, -0.4), inertia=box)
    servo = kn.actuators.position_servo("servo", "b_joint", kp=20.0, kv=1.0)
    jet = kn.actuators.Actuator("jet", kn.actuators.AtFrame("a", force=(1.0, 0.0, 0.0)))
    model = b.build().replace(actuators=(servo, jet))
    maximal, q, v, u = kn.maximal(model), np.array([0.3, -0.2]), np.array([1.0, 2.0]), np.array([0.5, 3.0])
    assert maximal.actuators == model.actuators
    assert (maximal.nq, maximal.nv) == (15, 13)
    Q, V = kn.maximal_state(model, q, v)
    a = kn.forward_dynamics(model, q, v, kn.actuators.joint_forces(model, q, v, u))
    found = kn.forward_dynamics(maximal, Q, V, kn.actuators.joint_forces(maximal, Q, V, u))
    np.testing.assert_allclose(found[12:], a[1:], atol=1e-10)
    without = kn.maximal(model, drop="actuators")
    assert (without.actuators, without.nv) == ((jet,), 12)
    b = Builder("ball")
    b.body("ball", joint=Spherical(), inertia=box)
    turn = kn.actuators.Actuator("turn", kn.actuators.AtBallJoint("ball_joint", (0.0, 1.0, 0.0)))
    ball = b.build().replace(actuators=(turn,))
    assert kn.maximal(ball).actuators == (turn,)


def test_joints_with_limits_and_friction_keep_their_variables():
    """They come after the free bodies, with all that the joints have; states, forces and accelerations agree."""
    model = kn.robots.load("arm")
    maximal, n = kn.maximal(model), model.nb
    assert maximal.body_names[:n] == model.body_names
    assert maximal.body_names[n:] == tuple(f"{name}_half" for name in model.body_names)
    assert maximal.joint_names[n:] == model.joint_names
    for old, new in zip(model.joints, maximal.joints[n:], strict=True):
        assert new == old
    rng = np.random.default_rng(0)
    q, v, tau = rng.uniform(-0.5, 0.5, n), rng.normal(size=n), rng.normal(size=n)
    q[0] += 4 * np.pi  # turns are counted
    Q, V = kn.maximal_state(model, q, v)
    T = kn.maximal_forces(model, q, tau)
    assert np.array_equal(T, [0.0] * 6 * n + list(tau))
    for a, b in zip(kn.reduced_state(model, Q, V), (q, v), strict=True):
        np.testing.assert_array_equal(a, b)
    a = kn.forward_dynamics(model, q, v, tau)
    right = np.concatenate([accelerations(model, q, v, a, model.body_names), a])
    for found in (kn.forward_dynamics(maximal, Q, V, T), kn.loops.sparse_dynamics(maximal, Q, V, T)):
        np.testing.assert_allclose(found, right, atol=CLOSE * (1 + np.abs(right).max()))
    energy = kn.kinetic_energy(maximal, Q, V) + kn.potential_energy(maximal, Q)
    np.testing.assert_allclose(energy, kn.kinetic_energy(model, q, v) + kn.potential_energy(model, q), rtol=1e-11)
    drop = ("limits", "friction")
    assert kn.maximal(model, drop=drop).nv == len(kn.maximal_state(model, q, v, drop=drop)[1]) == 6 * n
    some = model.body_names[1:3]
    partly = kn.maximal(model, some)
    Q, V = kn.maximal_state(model, q, v, bodies=some)
    assert (partly.nq, partly.nv) == (len(Q), len(V)) == (n + 14, n + 12)
    np.testing.assert_allclose(kn.reduced_state(model, Q, V, bodies=some)[0], q, atol=1e-12)
    T = kn.maximal_forces(model, q, tau, bodies=some)
    names = [*accelerations(model, q, v, a, some), *a[1:3]]
    np.testing.assert_allclose(kn.forward_dynamics(partly, Q, V, T), names, atol=CLOSE * (1 + np.abs(right).max()))


def test_sparse_equations_are_those_of_any_mechanism():
    """Reduced coordinates too, with rotors, springs, friction and both packages."""
    for seed in range(3):
        model = random_tree(seed, nb=6, types=SIMPLE).replace(couplings=())
        state = random_state(model, seed)
        q, v, tau = np.array(state.q), np.array(state.v), np.random.default_rng(seed).normal(size=model.nv)
        right = kn.forward_dynamics(model, q, v, tau)
        for solver in ("qdldl", "scipy"):
            found = kn.loops.sparse_dynamics(model, q, v, tau, solver=solver)
            np.testing.assert_allclose(found, right, atol=CLOSE * (1 + np.abs(right).max()))


def test_a_model_keeps_what_it_has():
    b = Builder("robot")
    ball = Geometry(Sphere(0.1))
    b.body(
        "a",
        joint=Revolute("y"),
        inertia=solid_box(1.0, (0.1, 0.2, 0.3)),
        stiffness=3.0,
        damping=0.5,
        start=0.4,
        collisions=ball,
    )
    b.body("welded", "a", Fixed(), (0.2, 0, 0), inertia=solid_box(1.0, (0.1, 0.1, 0.1)), collisions=ball)
    b.body("b", "welded", Spherical(), (0.3, 0, 0), inertia=solid_box(1.0, (0.3, 0.2, 0.3)), collisions=ball)
    b.frame("tip", "b", (0, 0, 0.5))
    b.spring("spring", "tip", ("a", (0, 0, 1)), stiffness=10.0)
    model = b.build(merge_fixed=False)
    model = model.replace(keyframes=(kn.model.Keyframe("up", (1.0, 1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),))
    maximal = kn.maximal(model)
    assert maximal.body_names == model.body_names
    assert [loop.name for loop in maximal.loops] == list(model.joint_names)
    np.testing.assert_allclose(
        kn.neutral(maximal), kn.maximal_state(model, kn.neutral(model), np.zeros(4))[0], atol=1e-15
    )
    key = maximal.keyframe("up")
    np.testing.assert_allclose(
        key.v, kn.maximal_state(model, model.keyframes[0].q, model.keyframes[0].v)[1], atol=1e-15
    )
    names = [[(x.body, y.body) for x, y in contact_candidates(m)] for m in (model, maximal)]
    assert names[0] == names[1]
    again = kn.formats.from_json(kn.formats.to_json(maximal)) if hasattr(kn.formats, "from_json") else maximal
    assert again.elements == maximal.elements


def test_what_cannot_be_is_refused():
    model = kn.robots.load("arm")
    assert kn.maximal(model, drop=["limits", "friction", "rotor_inertia"]).nv == 6 * model.nb
    with pytest.raises(ValueError, match="drop is any of"):
        kn.maximal(model, drop=["limit"])
    with pytest.raises(KeyError, match="no body is called 'nobody'"):
        kn.maximal(model, ["nobody"])
    b = Builder("light")
    b.body("point", joint=Revolute("y"), mass=1.0, com=(0, 0, 1), inertia=(0, 0, 0))
    with pytest.raises(kn.ModelError, match="has no inertia in some direction"):
        kn.maximal(b.build())
    b = Builder("wound")
    b.body("a", joint=Revolute("y"), inertia=solid_box(1.0, (0.1, 0.2, 0.3)), stiffness=3.0)
    with pytest.raises(ValueError, match="do not know by how many turns"):
        kn.maximal_state(b.build(), [4.0], [0.0])
    with pytest.raises(TypeError, match=r"those of a knuckle\.Model, not of str"):
        kn.maximal("pendulum")
    with pytest.raises(ValueError, match=r"v has shape \(9,\), and must have shape \(..., \d\)"):
        kn.maximal_state(model, model.start, np.zeros(9))
    with pytest.raises(ValueError, match=r"q has shape \(1,\), and must have shape \(..., 7\)"):
        kn.reduced_state(b.build(), [4.0], [0.0])
    b = Builder("gears")
    b.body("a", joint=Revolute("y"), inertia=solid_box(1.0, (0.1, 0.2, 0.3)))
    b.body("b", joint=Revolute("y"), inertia=solid_box(1.0, (0.1, 0.2, 0.3)))
    b.mimic("b_joint", "a_joint", ratio=2.0)
    with pytest.raises(kn.ModelError, match="is part of a coupling"):
        kn.maximal(b.build())
