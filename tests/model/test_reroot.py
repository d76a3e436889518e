"""The same mechanism from another root."""

from __future__ import annotations

import dataclasses

import mpmath
import numpy as np
import pytest

import knuckle as kn
from knuckle.algorithms.energy import energy_and_momentum
from knuckle.algorithms.kinematics import body_motions
from knuckle.joints import Free, Prismatic, Reversed, Revolute
from knuckle.model import ROOT, Body, Box, Builder, Geometry, LoopJoint, Model, mimic, reroot, solid_box, to_planar
from knuckle.spatial import IDENTITY, Force, Motion
from knuckle.testing import random_inertia, random_state, random_transform, random_tree

TOLERANCE = 1e-12


def numbers(x: object) -> np.ndarray:
    return np.array([float(a) for a in x])  # type: ignore[attr-defined]


def matrix(X: object) -> np.ndarray:
    return np.array(X.homogeneous.rows, dtype=float)  # type: ignore[attr-defined]


def close(a: object, b: object, tolerance: float = TOLERANCE) -> bool:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= tolerance * (1 + np.abs(b))))


def example(seed: int, floating: bool) -> Model:
    """A random tree with a loop, a coupling, shapes, and a base with mass."""
    rng = np.random.default_rng(seed)
    types = ["revolute", "prismatic", "spherical", "universal", "rack_and_pinion", "yaw_pitch_roll"]
    model = random_tree(rng, nb=7, floating=floating, types=types)
    single = [i for i, joint in enumerate(model.joints) if (joint.type.nq, joint.type.nv) == (1, 1)]
    p, s = (int(i) for i in rng.integers(0, 7, 2))
    bare = dataclasses.replace(model.joints[0], rotor_inertia=(), damping=(), friction=())
    return model.replace(
        joints=(bare, *model.joints[1:]),
        bodies=tuple(
            dataclasses.replace(b, collisions=(Geometry(Box((1.0, 1.0, 1.0)), random_transform(rng)),))
            for b in model.bodies
        ),
        base=Body("base", random_inertia(rng)),
        loops=(LoopJoint("loop", Revolute("z"), p, s, random_transform(rng), random_transform(rng)),),
        couplings=(mimic(single[-1], single[0], 0.5, 0.25),) if len(single) > 1 else (),
    )


def physical(model: Model, q: np.ndarray, origin: dict[str, str]) -> dict[str, np.ndarray]:
    """Where every body's own frame (by its name in the old model), frame, loop end and shape is."""
    places = {old: kn.pose(model, q, new) for old, new in origin.items()}
    names = [model.base.name, *model.body_names]
    for loop in model.loops:
        places["p"] = kn.pose(model, q, names[loop.predecessor + 1]) @ matrix(loop.X_predecessor)
        places["s"] = kn.pose(model, q, names[loop.successor + 1]) @ matrix(loop.X_successor)
    for body in model.bodies:
        for k, shape in enumerate(body.collisions):
            places[f"{body.name} shape {k}"] = kn.pose(model, q, body.name) @ matrix(shape.X)
    return places


@pytest.mark.parametrize("floating", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_everything_stays_where_it_is(seed: int, floating: bool) -> None:
    model = example(seed, floating)
    s = random_state(model, seed)
    name = model.body_names[int(np.random.default_rng(seed).integers(1, 7))]
    new, to = reroot(model, name)
    q = numbers(to.positions(s.q))
    mechanism = model.frame_names if not floating else model.frame_names[1:]
    before = physical(model, s.q, {n: n for n in mechanism})
    after = physical(new, q, {n: f"{n}_origin" if n in to.moved else n for n in mechanism})
    assert before.keys() <= after.keys()
    for place, X in before.items():
        assert close(after[place], X), place
    # the bodies' frames are where the map says they went
    for body, X in to.moved.items():
        assert close(kn.pose(new, q, body), kn.pose(model, s.q, body) @ matrix(X)), body
    assert new.body_names[0] == name
    assert isinstance(new.joints[0].type, Free)


def body_accelerations(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[int, Motion]:
    q, v, a = list(q), list(v), list(a)
    return body_motions.accelerations(model, model.positions(q), model.velocities(q, v), model.accelerations(q, v, a))


@pytest.mark.parametrize("seed", range(8))
def test_energy_momentum_and_acceleration(seed: int) -> None:
    model = example(seed, True)
    s = random_state(model, seed)
    new, to = reroot(model, model.body_names[-1])
    q, v = (numbers(x) for x in to(s.q, s.v))
    assert close(kn.kinetic_energy(new, q, v), kn.kinetic_energy(model, s.q, s.v))
    assert close(kn.potential_energy(new, q), kn.potential_energy(model, s.q), 1e-11)
    assert close(kn.momentum(new, q, v), kn.momentum(model, s.q, s.v), 1e-11)
    a = numbers(to.accelerations(s.q, s.v, s.a))
    old, now = body_accelerations(model, s.q, s.v, s.a), body_accelerations(new, q, v, a)
    for i, name in enumerate(model.body_names):
        expected = to.moved.get(name, IDENTITY) @ old[i]
        assert close(numbers(now[new.body_index(name)].components), numbers(expected.components), 1e-11), name


@pytest.mark.parametrize("seed", range(4))
def test_back_again(seed: int) -> None:
    """Re-rooted at the old root, the mechanism is the old one, but for frames that moved on the way."""
    model = example(seed, True)
    s = random_state(model, seed)
    there, to = reroot(model, model.body_names[-1])
    back, fro = reroot(there, model.body_names[0])
    q, v = fro(*to(s.q, s.v))
    assert sorted(back.joint_names) == sorted(model.joint_names)
    for name in model.joint_names[1:]:
        i, k = model.joint_index(name), back.joint_index(name)
        assert close(numbers(q)[back.q_slices[k]], s.q[model.q_slices[i]])
        assert back.joints[k].type == model.joints[i].type
    assert close(kn.kinetic_energy(back, numbers(q), numbers(v)), kn.kinetic_energy(model, s.q, s.v))


def test_the_map_works_on_scalars_of_other_kinds() -> None:
    """With 40 digits the energies agree to 30: nothing in the map rounds to doubles."""
    b = Builder(gravity=(0, 0, 0))
    b.body("body", joint=Free(), mass=2.0, com=(0.25, 0, 0), inertia=(1, 2, 2.5))
    b.body("leg", "body", Revolute("x"), (0, 0.5, 0.25), mass=1.0, com=(0, 0, 1), inertia=(1, 1, 1))
    model = b.build()
    new, to = reroot(model, "leg")
    with mpmath.workdps(40):
        q = [mpmath.mpf(x) / 7 for x in (6, 2, -3, 0, 1, 2, 3, 5)]
        v = [mpmath.mpf(x) / 3 for x in (1, 2, 3, 4, 5, 6, 7)]
        p, u = to(q, v)
        old = energy_and_momentum.kinetic_energy(model, model.positions(q), model.velocities(q, v))
        now = energy_and_momentum.kinetic_energy(new, new.positions(p), new.velocities(p, u))
        assert abs(old - now) < mpmath.mpf(10) ** -30
        assert abs(old) > 1


def chain() -> Model:
    b = Builder("chain", base=Body("foot", solid_box(5.0, (1, 1, 1))))
    b.body("shin", joint=Revolute("y"), at=(0, 0, 1), mass=1.0, limits=(-1, 2), damping=0.5, rotor_inertia=0.1)
    b.body("thigh", "shin", Prismatic("z"), (0, 0, 1), mass=1.0)
    b.frame("knee", "shin", (0, 0, 1))
    return b.build()


def test_a_fixed_base_becomes_a_body() -> None:
    new, to = reroot(chain(), "thigh")
    assert new.body_names == ("thigh", "shin", "foot")
    assert new.joint_names == ("floating_base", "thigh_joint", "shin_joint")
    assert new.base.name == "ground"
    assert new.joints[2].type == Revolute("y").reversed()
    assert new.joints[2].damping == (0.5,)
    assert new.joints[2].rotor_inertia == (0.1,)
    assert new.joints[2].limits == chain().joints[0].limits
    assert new.bodies[2].inertia.mass == 5
    assert set(to.moved) == {"foot", "shin"}


def test_standing_on_another_body() -> None:
    """With a fixed base the new root is the ground: its frame is the base frame, and only the joints are left."""
    model = chain()
    new, to = reroot(model, "thigh", "fixed")
    assert new.nv == 2
    assert new.body_names == ("shin", "foot")
    assert new.frame("thigh").body == ROOT
    q, _ = to([0.3, 0.7], [0.0, 0.0])
    relative = np.linalg.inv(kn.pose(model, [0.3, 0.7], "thigh")) @ kn.pose(model, [0.3, 0.7], "knee")
    assert close(kn.pose(new, numbers(q), "knee"), relative)


def test_a_floating_model_can_be_held() -> None:
    b = Builder()
    b.body("body", joint=Free(), mass=1.0)
    b.body("arm", "body", Revolute("z"), (1, 0, 0), mass=1.0)
    new, to = reroot(b.build(), "arm", base="fixed")
    assert (new.nv, new.joint_names) == (1, ("arm_joint",))
    q, v = to([1, 0, 0, 0, 5, 5, 5, 0.4], [0, 0, 0, 1, 0, 0, 2.0])
    assert (numbers(q), numbers(v)) == ([0.4], [2.0])


def test_joints_that_only_know_their_transform_are_reversed_too() -> None:
    rng = np.random.default_rng(0)
    model = random_tree(rng, nb=3, floating=True, types=["spline_curve"])
    new, _ = reroot(model, model.body_names[2])
    kinds = {joint.name: joint.type for joint in new.joints}
    for i in model.ancestors(2)[:-1]:
        original = model.joints[i].type
        assert kinds[model.joint_names[i]] == original.reversed()
        assert isinstance(kinds[model.joint_names[i]], Reversed) or isinstance(original, Reversed)


def test_forces_go_with_the_frames() -> None:
    _, to = reroot(chain(), "thigh")
    f = Force.of((0, 0, 0, 1, 0, 0))
    assert to.force("thigh", f) == f
    # a force along x through the old origin, a metre below the new one: its moment there is along −y
    assert numbers(to.force("shin", f).components).tolist() == [0, -1, 0, 1, 0, 0]


def test_names_that_are_taken_are_left_alone() -> None:
    model = chain()
    model = kn.model.edit.add_frame(model, "ground", "shin")
    model = kn.model.edit.add_frame(model, "shin_origin", "shin")
    new, _ = reroot(model, "thigh")
    assert new.base.name == "ground_"
    assert "shin_origin_" in new.frame_names


def test_what_the_free_joint_had_is_said_to_be_lost() -> None:
    b = Builder()
    b.body("body", joint=Free(), mass=1.0, damping=0.5)
    b.body("arm", "body", Revolute("z"), mass=1.0)
    new, _ = reroot(b.build(), "arm")
    assert any(note.level == "warning" and note.subject == "body_joint" for note in new.provenance.notes)


def test_refusals() -> None:
    model = chain()
    with pytest.raises(kn.ModelError, match="foot: it is the base"):
        reroot(model, "foot")
    with pytest.raises(kn.ModelError, match="'flying'"):
        reroot(model, "shin", "flying")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="did you mean 'shin'"):
        reroot(model, "chin")
    b = Builder(gravity=(0, -9.81, 0))
    b.body("a", joint=Revolute("z"), mass=1.0)
    with pytest.raises(kn.ModelError, match="a: re-rooting needs a spatial model"):
        reroot(to_planar(b.build()), "a")
