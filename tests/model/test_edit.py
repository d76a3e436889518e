"""Models made from models: welding, locking, renumbering, names, frames and inertias."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Composite, Fixed, Prismatic, Reversed, Revolute, Spherical
from knuckle.model import (
    Body,
    Box,
    Builder,
    Frame,
    Geometry,
    LoopJoint,
    Model,
    TreeJoint,
    edit,
    mimic,
    solid_box,
    to_planar,
)
from knuckle.spatial import Inertia, Transform, project
from knuckle.testing import random_inertia, random_state, random_transform, random_tree

TOLERANCE = 1e-12
"""A handful of products of well-scaled numbers: some tens of rounding errors."""


def matrix(X: Transform) -> np.ndarray:
    return np.array(X.homogeneous.rows, dtype=float)


def close(a: object, b: object, tolerance: float = TOLERANCE) -> bool:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= tolerance * (1 + np.abs(b))))


def with_fixed_joints(seed: int) -> Model:
    """A random tree in which about half the joints are fixed, with a loop, a coupling, shapes and a heavy base."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, nb=10, types=["fixed", "fixed", "revolute", "prismatic", "spherical", "universal"])
    single = [i for i, joint in enumerate(model.joints) if (joint.type.nq, joint.type.nv) == (1, 1)]
    ends = [int(i) for i in rng.integers(-1, 10, 2)]
    bodies = tuple(
        dataclasses.replace(body, visuals=(Geometry(Box((1.0, 2.0, 3.0)), random_transform(rng)),))
        for body in model.bodies
    )
    return model.replace(
        bodies=bodies,
        base=Body("base", random_inertia(rng)),
        loops=(LoopJoint("loop", Spherical(), *ends, random_transform(rng), random_transform(rng)),),
        couplings=(mimic(single[0], single[1], 0.5, 0.1),) if len(single) > 1 else (),
    )


def named_places(model: Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """Every frame, loop end and shape by name, as seen from the base."""
    poses = {name: kn.pose(model, q, name) for name in model.frame_names}
    owner = [model.base.name, *model.body_names]
    for loop in model.loops:
        for end, body, X in (("p", loop.predecessor, loop.X_predecessor), ("s", loop.successor, loop.X_successor)):
            poses[f"{loop.name}.{end}"] = kn.pose(model, q, owner[body + 1]) @ matrix(X)
    return poses


def shapes(model: Model, q: np.ndarray) -> np.ndarray:
    found = [
        kn.pose(model, q, body.name) @ matrix(shape.X) for body in (model.base, *model.bodies) for shape in body.visuals
    ]
    return np.array(sorted(X.ravel().round(9).tolist() for X in found))


@pytest.mark.parametrize("seed", range(12))
def test_merging_fixed_joints_changes_nothing_physical(seed: int) -> None:
    model = with_fixed_joints(seed)
    merged = edit.merge_fixed(model)
    assert merged.nb == sum(joint.type.nv > 0 for joint in model.joints) < model.nb
    assert (merged.nq, merged.nv) == (model.nq, model.nv)
    s = random_state(model, seed)
    before, after = named_places(model, s.q), named_places(merged, s.q)
    assert before.keys() == after.keys()
    for name, X in before.items():
        assert close(after[name], X), name
    assert close(shapes(merged, s.q), shapes(model, s.q), 1e-8)
    open_model, open_merged = model.without_loops(), merged.without_loops()
    assert close(kn.mass_matrix(open_merged, s.q), kn.mass_matrix(open_model, s.q))
    assert close(kn.bias_force(open_merged, s.q, s.v), kn.bias_force(open_model, s.q, s.v), 1e-11)
    assert close(kn.kinetic_energy(merged, s.q, s.v), kn.kinetic_energy(model, s.q, s.v))
    assert close(total_inertia(merged, s.q), total_inertia(model, s.q))


def total_inertia(model: Model, q: np.ndarray) -> np.ndarray:
    """The 6x6 inertia of everything, base included, about the base's origin."""
    X = kn.algorithms.kinematics.body_motions.positions(model, model.positions(list(q)))
    total = model.base.inertia
    for i, I in enumerate(model.I):
        total = total + X[i].T @ I @ X[i]
    return np.array(total.matrix.rows, dtype=float)


def test_merging_keeps_order_and_says_what_it_did() -> None:
    model = with_fixed_joints(0)
    merged = edit.merge_fixed(model)
    moving = [joint.name for joint in model.joints if joint.type.nv]
    assert list(merged.joint_names) == moving
    gone = set(model.body_names) - set(merged.body_names)
    assert gone == {note.subject for note in merged.provenance.notes}
    assert gone <= {frame.name for frame in merged.frames}
    assert edit.merge_fixed(merged) is merged


def test_a_merged_inertia_is_the_sum_about_the_new_frame() -> None:
    """Two unit boxes side by side are one box of twice the length."""
    b = Builder()
    b.body("left", joint=Revolute("z"), inertia=solid_box(1.0, (1, 1, 1)))
    b.body("right", "left", Fixed(), (1, 0, 0), inertia=solid_box(1.0, (1, 1, 1)))
    I = b.build().bodies[0].inertia
    expected = solid_box(2.0, (2, 1, 1), at=(0.5, 0, 0))
    assert close(I.matrix.rows, expected.matrix.rows)


@pytest.mark.parametrize("kind", [Fixed(), Reversed(Fixed()), Composite((Fixed(), Fixed())), Composite(())])
def test_what_counts_as_fixed(kind: object) -> None:
    model = Model((Body("a", Inertia.zero()),), (TreeJoint("j", kind, -1),))  # type: ignore[arg-type]
    assert edit.merge_fixed(model).nb == 0


def test_merging_works_in_the_plane() -> None:
    b = Builder(gravity=(0, -9.81, 0))
    b.body("a", joint=Revolute("z"), mass=1.0, com=(1, 0, 0))
    b.body("b", "a", Fixed(), dict(xyz=(1, 0, 0), rpy=(0, 0, 1)), mass=2.0, com=(0, 1, 0), visuals=Box((1, 1, 1)))
    b.body("c", "b", Prismatic("x"), (0, 1, 0), mass=1.0)
    unmerged = b.build(merge_fixed=False)
    one, other = edit.merge_fixed(to_planar(unmerged)), to_planar(edit.merge_fixed(unmerged))
    assert one.body_names == other.body_names == ("a", "c")
    assert close(one.bodies[0].inertia.matrix.rows, other.bodies[0].inertia.matrix.rows)
    assert close(one.frame("b").X.matrix.rows, other.frame("b").X.matrix.rows)
    assert close(matrix(one.bodies[0].visuals[0].X), matrix(other.bodies[0].visuals[0].X))


# lock


@pytest.mark.parametrize("seed", range(8))
def test_a_locked_joint_stays_where_it_was(seed: int) -> None:
    model = with_fixed_joints(seed).without_couplings().without_loops()
    s = random_state(model, seed)
    i = next(i for i in range(model.nb) if model.joints[i].type.nv)
    name = model.joint_names[i]
    here = s.q[model.q_slices[i]]
    locked = edit.lock(model, {name: here})
    on_q, on_v = np.delete(np.arange(model.nq), model.q_slices[i]), np.delete(np.arange(model.nv), model.v_slices[i])
    for frame in model.frame_names:
        assert close(kn.pose(locked, s.q[on_q], frame), kn.pose(model, s.q, frame))
    assert close(kn.mass_matrix(locked, s.q[on_q]), kn.mass_matrix(model, s.q)[np.ix_(on_v, on_v)])
    assert close(kn.gravity_force(locked, s.q[on_q]), kn.gravity_force(model, s.q)[on_v], 1e-11)
    assert any(note.subject == name and "locked" in note.text for note in locked.provenance.notes)


def gripper() -> Model:
    b = Builder("gripper")
    b.body("left", joint=Prismatic("x"), mass=0.1)
    b.body("right", joint=Prismatic("x"), mass=0.1)
    b.mimic("right_joint", "left_joint", ratio=-1.0, offset=0.5)
    return b.build()


def test_locking_takes_the_followers_along() -> None:
    locked = edit.lock(gripper(), {"left_joint": 0.2})
    assert locked.nq == 0
    assert close(matrix(locked.frame("right").X)[:3, 3], (-0.2 + 0.5, 0, 0))


def test_a_follower_is_not_locked_by_itself() -> None:
    with pytest.raises(kn.ModelError, match="right_joint: it follows 'left_joint'"):
        edit.lock(gripper(), {"right_joint": 0.2})


def test_locking_wants_as_many_numbers_as_the_joint_has() -> None:
    b = Builder()
    b.body("ball", joint=Spherical(), mass=1.0)
    with pytest.raises(kn.ModelError, match="ball_joint: q needs 4 numbers to lock it, not 1"):
        edit.lock(b.build(), {"ball_joint": 0.2})
    with pytest.raises(kn.ModelError, match="finite"):
        edit.lock(gripper(), {"left_joint": float("nan")})
    with pytest.raises(KeyError, match="no joint is called 'left'"):
        edit.lock(gripper(), {"left": 0.2})


# permute


@pytest.mark.parametrize("seed", range(6))
def test_permuting_moves_everything_along(seed: int) -> None:
    model = edit.merge_fixed(with_fixed_joints(seed))
    order: list[str] = []
    rng = np.random.default_rng(seed)
    while len(order) < model.nb:
        ready = [
            name
            for i, name in enumerate(model.body_names)
            if name not in order and (model.parents[i] < 0 or model.body_names[model.parents[i]] in order)
        ]
        order.append(str(rng.choice(ready)))
    other = edit.permute(model, order)
    assert list(other.body_names) == order
    s = random_state(model, seed)
    q, v = np.empty_like(s.q), np.empty_like(s.v)
    for i, name in enumerate(model.joint_names):
        k = other.joint_index(name)
        q[other.q_slices[k]], v[other.v_slices[k]] = s.q[model.q_slices[i]], s.v[model.v_slices[i]]
    before, after = named_places(model, s.q), named_places(other, q)
    assert all(close(after[name], X) for name, X in before.items())
    assert close(kn.kinetic_energy(other, q, v), kn.kinetic_energy(model, s.q, s.v))
    assert edit.permute(other, model.body_names) == model


def test_permuting_refuses_what_is_no_regular_numbering() -> None:
    b = Builder()
    b.body("a", joint=Revolute("z"), mass=1.0)
    b.body("b", "a", Revolute("z"), mass=1.0)
    model = b.build()
    with pytest.raises(kn.ModelError, match="b: its parent 'a' must come first"):
        edit.permute(model, ["b", "a"])
    with pytest.raises(kn.ModelError, match="left out: b"):
        edit.permute(model, ["a"])
    with pytest.raises(kn.ModelError, match="left out: b; twice: a"):
        edit.permute(model, ["a", "a"])
    with pytest.raises(kn.ModelError, match="names each of the 2 moving bodies once"):
        edit.permute(model, ["base", "a", "b"])


# names, frames, inertias


def test_renaming() -> None:
    model = gripper()
    other = edit.rename(model, bodies={"left": "finger", "base": "hand"}, joints=str.upper, name="g")
    assert other.frame_names == ("hand", "finger", "right")
    assert other.joint_names == ("LEFT_JOINT", "RIGHT_JOINT")
    assert other.name == "g"
    assert edit.rename(other, bodies={"finger": "left", "hand": "base"}, joints=str.lower, name=model.name) == model


def test_renaming_what_is_not_there() -> None:
    with pytest.raises(kn.ModelError, match="no body or frame is called 'lft'; did you mean 'left'"):
        edit.rename(gripper(), bodies={"lft": "x"})
    with pytest.raises(kn.ModelError, match="no joint is called 'left'"):
        edit.rename(gripper(), joints={"left": "x"})


def test_two_names_may_not_become_one() -> None:
    with pytest.raises(kn.ModelError, match="two frames are called 'right'"):
        edit.rename(gripper(), bodies={"left": "right"})


def test_a_frame_on_a_frame() -> None:
    model = edit.add_frame(gripper(), "pad", "left", dict(xyz=(1, 0, 0), rpy=(0, 0, np.pi / 2)))
    model = edit.add_frame(model, "tip", "pad", (1, 0, 0))
    assert model.frames[-1].body == 0
    assert close(matrix(model.frame("tip").X)[:3, 3], (1, 1, 0))


def test_inertia_of_one_body() -> None:
    I = solid_box(3.0, (1, 2, 3))
    model = edit.with_inertia(gripper(), "right", I)
    assert model.bodies[1].inertia == I
    assert model.bodies[0] == gripper().bodies[0]
    assert edit.with_inertia(model, "base", I).base.inertia == I
    with pytest.raises(kn.ModelError, match="right: its inertia has to be a Inertia, not PlanarInertia"):
        edit.with_inertia(model, "right", project(I))


def test_rotor_inertia_adds_to_the_diagonal() -> None:
    model = gripper().without_couplings()
    other = edit.with_rotor_inertia(model, {"left_joint": 0.5})
    assert close(kn.mass_matrix(other, [0.0, 0.0]) - kn.mass_matrix(model, [0.0, 0.0]), np.diag([0.5, 0.0]))


def test_properties_of_a_joint() -> None:
    model = edit.with_joint(gripper(), "left_joint", damping=0.5, X_tree=(0, 0, 1), limits=(-1, 2))
    assert model.joints[0].damping == (0.5,)
    assert model.joints[0].limits.upper == (2,)
    assert model.joints[0].X_tree == Transform.translation((0, 0, 1))
    assert model.joints[1] == gripper().joints[1]
    with pytest.raises(kn.ModelError, match="left_joint: with_joint does not change 'parent', but type, X_tree"):
        edit.with_joint(gripper(), "left_joint", parent=1)
    with pytest.raises(kn.ModelError, match="left_joint: damping cannot be negative"):
        edit.with_joint(gripper(), "left_joint", damping=-0.5)


def test_another_kind_of_joint() -> None:
    model = edit.with_joint(gripper(), "left_joint", damping=0.5, limits=(-1, 2)).without_couplings()
    same_size = edit.with_joint(model, "left_joint", type=Revolute("x"))
    assert (same_size.joints[0].type, same_size.joints[0].damping) == (Revolute("x"), (0.5,))
    ball = edit.with_joint(model, "left_joint", type=Spherical(), friction=0.1)
    assert (ball.nv, ball.joints[0].damping, ball.joints[0].friction) == (4, (0, 0, 0), (0.1, 0.1, 0.1))


def test_frames_keep_their_place_when_merged_twice() -> None:
    """Frame on a body on a body on a fixed joint each: placements compose."""
    a, b = (Transform.translation(r) for r in ((1, 0, 0), (0, 2, 0)))
    turn = Transform.of(((0, 1, 0), (-1, 0, 0), (0, 0, 1)), (0, 0, 0))
    model = Model(
        (Body("a", Inertia.zero()), Body("b", Inertia.zero())),
        (TreeJoint("i", Fixed(), -1, turn @ a), TreeJoint("j", Fixed(), 0, b)),
        (Frame("f", 1, a),),
    )
    merged = edit.merge_fixed(model)
    assert close(matrix(merged.frame("f").X), matrix(a @ b @ turn @ a))
    assert merged.frame("f").body == -1
