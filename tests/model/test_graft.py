"""Models put together and taken apart."""

from __future__ import annotations

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Prismatic, Revolute
from knuckle.model import Body, Box, Builder, Geometry, LoopJoint, Model, edit, mimic, solid_box, to_planar
from knuckle.testing import random_inertia, random_state, random_transform, random_tree

TOLERANCE = 1e-12


def close(a: object, b: object, tolerance: float = TOLERANCE) -> bool:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= tolerance * (1 + np.abs(b))))


# submodel


@pytest.mark.parametrize("seed", range(8))
def test_a_part_on_its_own_joint_moves_as_before(seed: int) -> None:
    """Inertia matrix and poses of the subtree, with its joint: those of the whole seen from the parent's frame."""
    model = random_tree(seed, nb=8)
    s = random_state(model, seed)
    root = max(range(model.nb), key=lambda i: (len(model.subtree(i)) < model.nb) * len(model.subtree(i)))
    name = model.body_names[root]
    part = edit.submodel(model, name, moving=True)
    inside = model.subtree(root)
    assert part.body_names == tuple(model.body_names[i] for i in inside)
    on_q = np.concatenate([np.arange(model.nq)[model.q_slices[i]] for i in inside])
    on_v = np.concatenate([np.arange(model.nv)[model.v_slices[i]] for i in inside])
    assert close(kn.mass_matrix(part, s.q[on_q]), kn.mass_matrix(model, s.q)[np.ix_(on_v, on_v)], 1e-11)
    base = kn.pose(model, s.q, part.base.name)
    for frame in (*part.body_names, *(f.name for f in part.frames)):
        assert close(base @ kn.pose(part, s.q[on_q], frame), kn.pose(model, s.q, frame)), frame


@pytest.mark.parametrize("seed", range(8))
def test_a_part_with_its_body_as_base(seed: int) -> None:
    model = random_tree(seed, nb=8)
    s = random_state(model, seed)
    root = next((i for i in range(model.nb) if 1 < len(model.subtree(i)) < model.nb), 0)
    name = model.body_names[root]
    part = edit.submodel(model, name)
    outward = model.subtree(root)[1:]
    assert part.base == model.bodies[root]
    assert part.joint_names == tuple(model.joint_names[i] for i in outward)
    on_q = np.concatenate([np.arange(model.nq)[model.q_slices[i]] for i in outward] or [np.arange(0)])
    base = kn.pose(model, s.q, name)
    for frame in part.frame_names:
        assert close(base @ kn.pose(part, s.q[on_q], frame), kn.pose(model, s.q, frame)), frame


def two_arms() -> Model:
    b = Builder("two")
    for side in ("left", "right"):
        b.body(f"{side}_upper", joint=Revolute("y"), at=(0, 1 if side == "left" else -1, 0), mass=1.0)
        b.body(f"{side}_lower", f"{side}_upper", Revolute("y"), (0, 0, 1), mass=1.0)
    b.close_loop("across", Revolute("x"), "left_lower", "right_lower")
    b.close_loop("within", Revolute("x"), "left_upper", "left_lower")
    b.mimic("right_lower_joint", "left_lower_joint")
    b.frame("hand", "right_lower")
    return b.build()


def test_what_crosses_the_cut_is_left_out_and_said() -> None:
    left, right = (edit.submodel(two_arms(), f"{side}_upper", moving=True) for side in ("left", "right"))
    assert [loop.name for loop in left.loops] == ["within"]
    assert (left.loops[0].predecessor, left.loops[0].successor) == (0, 1)
    assert [(n.level, n.subject) for n in left.provenance.notes] == [("warning", "across")]
    assert (right.loops, right.couplings, right.nq) == ((), (), 2)
    assert {n.subject for n in right.provenance.notes} == {"across", "right_lower_joint"}
    assert right.frame("hand").body == 1


def test_the_part_at_the_base_is_everything() -> None:
    assert edit.submodel(two_arms(), "base") == two_arms()


# merge and attach


@pytest.mark.parametrize("seed", range(8))
def test_two_models_as_one(seed: int) -> None:
    """q = (q_a, q_b); b stands where it was put, and moves with a; the inertia of b's base counts."""
    rng = np.random.default_rng(seed)
    a, b = random_tree(rng, nb=4), random_tree(rng, nb=4)
    b = b.replace(base=Body("base", random_inertia(rng), visuals=(Geometry(Box((1.0, 1.0, 1.0))),)))
    onto = str(rng.choice(a.frame_names))
    X = random_transform(rng)
    both = edit.merge(a, b, onto, X, prefix="b/")
    assert both.body_names == (*a.body_names, *(f"b/{name}" for name in b.body_names))
    assert both.gravity == a.gravity
    sa, sb = random_state(a, rng), random_state(b, rng)
    q, v = np.concatenate([sa.q, sb.q]), np.concatenate([sa.v, sb.v])
    place = kn.pose(a, sa.q, onto) @ np.array(X.homogeneous.rows, dtype=float)
    for frame in a.frame_names:
        assert close(kn.pose(both, q, frame), kn.pose(a, sa.q, frame))
    for frame in b.frame_names:
        assert close(kn.pose(both, q, f"b/{frame}"), place @ kn.pose(b, sb.q, frame))
    still = np.concatenate([np.zeros_like(sa.v), sb.v])
    b_alone = kn.kinetic_energy(b, sb.q, sb.v)
    assert close(kn.kinetic_energy(both, q, still), b_alone, 1e-11)
    moving = kn.kinetic_energy(both, q, np.concatenate([sa.v, np.zeros_like(sb.v)]))
    assert close(moving, kn.kinetic_energy(a, sa.q, sa.v) + carried_energy(a, b, sa, sb, onto, X), 1e-11)
    assert len(v) == both.nv


def carried_energy(a: Model, b: Model, sa: object, sb: object, onto: str, X: object) -> float:
    """Energy of b, its joints still, riding on a: ½ V·IV with the inertia of all of b about its base."""
    at = kn.algorithms.kinematics.body_motions.positions(b, b.positions(list(sb.q)))  # type: ignore[attr-defined]
    total = b.base.inertia
    for i, I in enumerate(b.I):
        total = total + at[i].T @ I @ at[i]
    frame = a.frame(onto)
    if frame.body < 0:
        return 0.0
    V = kn.algorithms.kinematics.body_motions.velocities(
        a, a.positions(list(sa.q)), a.velocities(list(sa.q), list(sa.v))
    )  # type: ignore[attr-defined]
    return float(total.kinetic_energy(X @ (frame.X @ V[frame.body])))  # type: ignore[operator]


def test_names_that_both_have_need_a_prefix() -> None:
    with pytest.raises(kn.ModelError, match=r"both models have a joint called 'left_upper_joint'.*prefix=\.\.\."):
        edit.merge(two_arms(), two_arms(), "hand")
    both = edit.merge(two_arms(), two_arms(), "hand", prefix="second_")
    assert both.nb == 8
    assert [loop.name for loop in both.loops] == ["across", "within", "second_across", "second_within"]
    assert both.couplings[1] == mimic(7, 5, 1.0, 0.0)
    assert both.loops[2] == LoopJoint("second_across", Revolute("x"), 5, 7)


def test_planar_and_spatial_models_do_not_mix() -> None:
    b = Builder("flat", gravity=(0, -9.81, 0))
    b.body("a", joint=Revolute("z"), mass=1.0)
    with pytest.raises(kn.ModelError, match="'two' is spatial and 'flat' planar"):
        edit.merge(two_arms(), to_planar(b.build()), "hand")


def test_merging_in_the_plane() -> None:
    b = Builder("flat", gravity=(0, -9.81, 0))
    b.body("a", joint=Revolute("z"), mass=1.0, com=(1, 0, 0))
    model = b.build()
    X = dict(xyz=(1, 0, 0), rpy=(0, 0, 0.5))
    one = edit.merge(to_planar(model), to_planar(model), "a", X, prefix="b")
    other = to_planar(edit.merge(model, model, "a", X, prefix="b"))
    assert close(kn.mass_matrix(one, [0.1, 0.2]), kn.mass_matrix(other, [0.1, 0.2]))


def test_attaching_a_body_an_inertia_and_a_model() -> None:
    model = two_arms().without_couplings()
    I = solid_box(2.0, (1, 1, 1))
    as_inertia = edit.attach(model, "hand", I, (0, 0, 3))
    as_body = edit.attach(model, "hand", Body("tool", I, visuals=(Geometry(Box((1.0, 1.0, 1.0))),)), (0, 0, 3))
    b = Builder("tool", base=Body("grip", I))
    b.body("finger", joint=Prismatic("x"), mass=0.1)
    as_model = edit.attach(model, "hand", b.build(), (0, 0, 3), prefix="tool/")
    expected = model.bodies[3].inertia + solid_box(2.0, (1, 1, 1), at=(0, 0, 3))
    for other in (as_inertia, as_body, as_model):
        assert close(other.bodies[3].inertia.matrix.rows, expected.matrix.rows)
    assert as_inertia.frame_names == model.frame_names
    assert close(
        as_body.frame("tool").X.homogeneous.rows, np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 3], [0, 0, 0, 1]])
    )
    assert len(as_body.bodies[3].visuals) == 1
    assert as_model.body_names[-1] == "tool/finger"
    assert as_model.joints[-1].parent == 3


def test_an_empty_base_needs_no_name() -> None:
    """A tool built on the default base: nothing is lost with its name."""
    b = Builder("tool")
    b.body("finger", joint=Prismatic("x"), mass=0.1)
    model = edit.attach(two_arms(), "hand", b.build())
    assert model.frame_names == (*two_arms().frame_names[:-1], "finger", "hand")
    heavy = b.build().replace(base=Body("base", solid_box(1.0, (1, 1, 1))))
    with pytest.raises(kn.ModelError, match="both models have a frame called 'base'"):
        edit.attach(two_arms(), "hand", heavy)


def test_attaching_in_the_plane() -> None:
    b = Builder("flat", gravity=(0, -9.81, 0))
    b.body("a", joint=Revolute("z"), mass=1.0, com=(1, 0, 0))
    model = b.build()
    for tool in (solid_box(1.0, (1, 2, 3)), Body("tool", solid_box(1.0, (1, 2, 3)))):
        one = edit.attach(to_planar(model), "a", tool, (1, 2, 0))
        assert close(one.I[0].matrix.rows, to_planar(edit.attach(model, "a", tool, (1, 2, 0))).I[0].matrix.rows)


def test_attaching_twice_needs_another_name() -> None:
    tool = Body("tool", solid_box(1.0, (1, 1, 1)))
    model = edit.attach(two_arms(), "hand", tool)
    with pytest.raises(kn.ModelError, match="hand: there is a frame called 'tool' already"):
        edit.attach(model, "hand", tool)
    assert "second_tool" in edit.attach(model, "hand", tool, prefix="second_").frame_names


def test_a_tool_on_the_base_does_not_move() -> None:
    model = edit.attach(two_arms(), "base", Body("lamp", solid_box(1.0, (1, 1, 1))))
    assert model.base.inertia.mass == 1
    assert model.bodies == two_arms().bodies
