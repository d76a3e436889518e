"""Mechanisms of the plane (RBDA 2.16). That algorithms agree with their spatial embedding is a law; see there."""

from __future__ import annotations

import math

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import (
    Composite,
    Driven,
    Fixed,
    Free,
    Helical,
    InPlane,
    Joint,
    Planar,
    PlanarLocal,
    Prismatic,
    RackAndPinion,
    Revolute,
    Sinusoid,
    Spherical,
)
from knuckle.joints.in_plane.inplane import embed
from knuckle.model import Builder, Model, Sphere, solid_box, to_planar
from knuckle.spatial import (
    PLANAR,
    PlanarForce,
    PlanarInertia,
    PlanarMotion,
    PlanarTransform,
    Transform,
    Vector,
    project,
    rotation,
)

FLAT: list[Joint] = [
    Revolute("z"),
    Revolute((0, 0, -1)),
    Prismatic("x"),
    Prismatic((3, 4, 0)),
    Planar(),
    PlanarLocal(),
    Planar((0, 0, -1)),
    RackAndPinion(0.3),
    Composite((Prismatic("y"), Revolute("z"))),
    Revolute("z").reversed(),
    RackAndPinion(0.3).reversed(),
    Fixed(),
    Driven(Revolute("z"), Sinusoid(0.5, 2.0)),
]
"""Joints that keep to the xy plane."""

BENT: list[tuple[Joint, str]] = [
    (Revolute("x"), "tilts"),
    (Revolute((0.001, 0, 1)), "tilts"),
    (Prismatic("z"), "moves along z"),
    (Prismatic((1, 0, 1e-6)), "moves along z"),
    (Helical("z", 0.1), "moves along z"),
    (Spherical(), "tilts"),
    (Free(), "tilts"),
    (Composite((Revolute("z"), Revolute("x"))), "tilts"),
    (Planar("x"), "tilts"),
    (Driven(Prismatic("z"), Sinusoid(0.5, 2.0)), "moves along z"),
]


def model_with(kind: Joint, at: object = None) -> Model:
    b = Builder(gravity=(0, -9.81, 0))
    b.body("a", joint=Revolute("z"), mass=1.0)
    b.body("b", "a", kind, at, joint_name="odd", mass=1.0)  # type: ignore[arg-type]
    return b.build(merge_fixed=False)


@pytest.mark.parametrize("kind", FLAT, ids=repr)
def test_joints_of_the_plane_are_accepted(kind: Joint) -> None:
    flat = to_planar(model_with(kind))
    assert flat.algebra is PLANAR
    assert flat.joints[1].type == InPlane(kind)


@pytest.mark.parametrize(("kind", "why"), BENT, ids=lambda x: repr(x))
def test_joints_that_leave_the_plane_are_named(kind: Joint, why: str) -> None:
    with pytest.raises(kn.ModelError, match=rf"odd: it does not keep to the xy plane: at q = \[.*\] it {why}"):
        to_planar(model_with(kind))


@pytest.mark.parametrize(
    ("at", "why"),
    [(dict(rpy=(0.1, 0, 0)), "tilts the plane"), (dict(rpy=(math.pi, 0, 0)), "turns the plane over")],
)
def test_placements_that_leave_the_plane_are_named(at: object, why: str) -> None:
    with pytest.raises(kn.ModelError, match=f"odd: its placement {why}"):
        to_planar(model_with(Revolute("z"), at))


def test_heights_do_not_matter() -> None:
    """Links stacked along z move in parallel planes: the same planar model, and the same inertia matrix."""
    low, high = (model_with(Revolute("z"), (1, 2, z)) for z in (0, 3))
    assert to_planar(low) == to_planar(high)
    assert np.allclose(kn.mass_matrix(low, [0.1, 0.2]), kn.mass_matrix(high, [0.1, 0.2]), rtol=0, atol=1e-15)


def test_every_part_is_planar() -> None:
    b = Builder(gravity=(1, -9.81, 0))
    inertia = solid_box(2.0, (1, 2, 3), at=(1, 0, 5))
    b.body("a", None, Revolute("z"), dict(xyz=(1, 2, 3), rpy=(0, 0, 0.5)), inertia=inertia, visuals=Sphere(1.0))
    b.body("b", "a", Prismatic("x"), mass=1.0)
    b.frame("f", "b", (1, 2, 3))
    b.close_loop("l", Revolute("z"), "b", "base", (1, 0, 0), (0, 1, 0))
    model = b.build()
    flat = to_planar(model)
    assert [type(I) for I in (flat.base.inertia, *flat.I)] == [PlanarInertia] * 3
    assert [type(X) for X in flat.X_tree] == [PlanarTransform] * 2
    assert flat.I[0] == project(model.I[0])
    assert [frame.X for frame in flat.frames] == [project(Transform.translation((1, 2, 3)))]
    assert isinstance(flat.loops[0].type, InPlane)
    assert flat.loops[0].X_predecessor == project(Transform.translation((1, 0, 0)))
    assert flat.g == PlanarMotion(0, 1, -9.81)
    assert flat.bodies[0].visuals == model.bodies[0].visuals
    assert to_planar(flat) is flat


def test_loops_are_looked_at_too() -> None:
    b = Builder()
    b.body("a", joint=Revolute("z"), mass=1.0)
    b.close_loop("l", Spherical(), "a", "base")
    with pytest.raises(kn.ModelError, match="l: it does not keep"):
        to_planar(b.build())
    b = Builder()
    b.body("a", joint=Revolute("z"), mass=1.0)
    b.close_loop("l", Revolute("z"), "a", "base", at_successor=dict(rpy=(0.5, 0, 0)))
    with pytest.raises(kn.ModelError, match="l: its placement on the successor tilts the plane"):
        to_planar(b.build())


def test_tilted_frames_are_left_out_and_said() -> None:
    b = Builder(gravity=(0, -9.81, 0))
    b.body("a", joint=Revolute("z"), mass=1.0)
    b.frame("camera", "a", dict(rpy=(1, 0, 0)))
    b.frame("tip", "a", (1, 0, 0))
    flat = to_planar(b.build())
    assert flat.frame_names == ("base", "a", "tip")
    (note,) = flat.provenance.notes
    assert (note.level, note.subject) == ("warning", "camera")


def test_gravity_across_the_plane_is_said_to_do_nothing() -> None:
    b = Builder()
    b.body("a", joint=Revolute("z"), mass=1.0, com=(1, 0, 0))
    flat = to_planar(b.build())
    assert [note.level for note in flat.provenance.notes] == ["info"]
    assert kn.gravity_force(flat, [0.5]).tolist() == [0.0]


# the joint itself


@pytest.mark.parametrize("kind", FLAT, ids=repr)
def test_a_joint_in_the_plane_gives_the_projections(kind: Joint) -> None:
    rng = np.random.default_rng(0)
    assert InPlane(kind).at_time(0.3) == InPlane(kind.at_time(0.3))
    kind = kind.at_time(0.3)
    flat = InPlane(kind)
    assert (flat.q_units, flat.v_units, flat.symmetrical) == (kind.q_units, kind.v_units, kind.symmetrical)
    q, v = kind.random(rng), Vector(rng.standard_normal(kind.nv).tolist())
    assert flat.transform(q) == project(kind.transform(q))
    assert flat.motion(q, v) == tuple(map(project, kind.motion(q, v)))
    assert flat.subspace(q) == project(kind.subspace(q))
    assert flat.subspace_rate(q, v) == project(kind.subspace_rate(q, v))
    assert flat.rate(q, v) == kind.rate(q, v)
    assert flat.integrate(q, v) == kind.integrate(q, v)
    assert flat.difference(q, flat.integrate(q, v)) == kind.difference(q, kind.integrate(q, v))
    assert flat.neutral() == kind.neutral()
    assert flat.normalized(q, v) == kind.normalized(q, v)
    assert flat.reversed() == InPlane(kind.reversed())


@pytest.mark.parametrize("kind", FLAT, ids=repr)
def test_constraints_within_the_plane(kind: Joint) -> None:
    """T spans what S leaves of the three forces, T_aᵀS = 1, and a reached place has no error."""
    rng = np.random.default_rng(1)
    kind = kind.at_time(0.3)
    flat = InPlane(kind)
    q = kind.random(rng)
    S, T, T_a = flat.subspace(q), flat.constraints(q), flat.actuation(q)
    assert (len(S) + len(T), T.vector) == (3, PlanarForce)
    assert np.abs(np.array((T.T @ S).rows, float)).max(initial=0) < 1e-14
    assert np.allclose(np.array((T_a.T @ S).rows, float).reshape(len(S), len(S)), np.eye(len(S)), atol=1e-14)
    full = np.array(S.matrix.rows, float).reshape(3, len(S)), np.array(T.matrix.rows, float).reshape(3, len(T))
    assert np.linalg.matrix_rank(np.hstack(full)) == 3
    delta, _ = flat.loop(flat.transform(q))
    assert np.abs([float(x) for x in delta]).max(initial=0) < 1e-9
    assert np.allclose(np.array(flat.transform(flat.locate(flat.transform(q))).matrix.rows, float),
                       np.array(flat.transform(q).matrix.rows, float), atol=1e-9)  # fmt: skip


def test_a_small_loop_error_is_measured_along_the_constraints() -> None:
    """A hinge whose frames are apart by (dx, dy): |δ| is that distance, whatever the angle."""
    flat = InPlane(Revolute("z"))
    X = project(Transform.rotation(rotation.rz(0.7)) @ Transform.translation((3e-7, -4e-7, 0)))
    delta, _ = flat.loop(X)
    assert math.hypot(*map(float, delta)) == pytest.approx(5e-7, rel=1e-6)


def test_planar_transforms_in_space() -> None:
    X = PlanarTransform(math.cos(0.3), math.sin(0.3), 1.0, 2.0)
    assert project(embed(X)) == X
    assert np.allclose(np.array(embed(X).matrix.rows, float)[2:5, 2:5], np.array(X.matrix.rows, float), atol=1e-15)
