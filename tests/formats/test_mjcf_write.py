"""MJCF out: what MuJoCo reads from it is the same mechanism, and what it cannot say is said."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.errors import ModelError
from knuckle.formats import adapters, to_mjcf
from knuckle.formats.mjcf.mjcf_losses import unsayable
from knuckle.joints import Continuous, Fixed, Free, Helical, Joint, Prismatic, Revolute, Spherical
from knuckle.model import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    Material,
    Mesh,
    Model,
    Plane,
    Sphere,
    solid_box,
)
from knuckle.spatial import IDENTITY, Inertia
from knuckle.testing import random_inertia, random_state, random_transform

mujoco: Any = pytest.importorskip("mujoco")

KINDS = (Revolute((1.0, 2.0, -0.5)), Prismatic("y"), Spherical(), Continuous("z"), Revolute("x"))


def tree(seed: int, floating: bool) -> Model:
    """Five joints in a tree with a branch, everywhere turned and displaced."""
    rng = np.random.default_rng(seed)
    b = kn.Builder("tree", gravity=(0.3, -1.0, -9.0), base="world" if floating else "stand")
    b.body(
        "root",
        joint=Free() if floating else Revolute("y"),
        at=IDENTITY if floating else random_transform(rng),
        inertia=random_inertia(rng),
    )
    for k, kind in enumerate(KINDS):
        numbers = {"stiffness": 3.0, "rest": 0.2, "limits": (-1.0, 2.0)} if isinstance(kind, Prismatic) else {}
        b.body(
            f"body{k}",
            on="root" if k in (0, 3) else f"body{k - 1}",
            at=random_transform(rng),
            joint=kind,
            inertia=random_inertia(rng),
            damping=0.1 * k,
            rotor_inertia=0.01 * k,
            **numbers,
        )
    b.frame("tip", on="body2", at=random_transform(rng))
    return b.build()


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_mujoco_computes_the_same(seed: int, floating: bool):
    model = tree(seed, floating)
    compiled = mujoco.MjModel.from_xml_string(to_mjcf(model))
    there, data = adapters.mujoco(model, compiled), mujoco.MjData(compiled)
    s = random_state(model, seed)
    tau = np.linspace(-1.0, 2.0, model.nv)
    a = kn.forward_dynamics(model, s.q, s.v, tau)
    data.qpos, data.qvel, data.qfrc_applied = there.q_to(s.q), there.v_to(s.q, s.v), there.tau_to(s.q, tau)
    compiled.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    mujoco.mj_forward(compiled, data)
    found = there.a_from(data.qpos, data.qvel, data.qacc)
    condition = np.linalg.cond(kn.mass_matrix(model, s.q))
    np.testing.assert_allclose(found, a, atol=1e-14 * condition * np.abs(a).max())
    tip = np.array(data.site("tip").xpos)
    np.testing.assert_allclose(tip, kn.pose(model, s.q, "tip")[:3, 3], atol=1e-13)


@pytest.mark.parametrize("name", kn.robots.names())
def test_bundled_robots_come_back_the_same(name: str):
    model = kn.robots.load(name)
    back = kn.formats.loads(to_mjcf(model, lossy=True))
    assert back.joint_names == model.joint_names
    assert back.body_names == model.body_names
    assert {f.name for f in model.frames} <= set(back.frame_names)
    for ours, theirs in zip(model.joints, back.joints, strict=True):
        for what in ("damping", "friction", "rotor_inertia"):
            assert getattr(theirs, what) == getattr(ours, what)
        assert (theirs.limits.lower, theirs.limits.upper) == (ours.limits.lower, ours.limits.upper)
        assert theirs.limits.effort == ours.limits.effort or ours.type.nv != 1
    trees = [m.without_loops() for m in (model, back)]
    s = random_state(trees[0], 1)
    one, two = (kn.inverse_dynamics(m, s.q, s.v, s.a) for m in trees)
    np.testing.assert_allclose(two, one, atol=1e-13 * np.abs(one).max())
    for ours, theirs in zip(model.bodies, back.bodies, strict=True):
        assert [g.shape for g in ours.visuals] == [g.shape for g in theirs.visuals]
        assert [g.material and g.material.name for g in ours.visuals] == [
            g.material and g.material.name for g in theirs.visuals
        ]


@pytest.mark.parametrize("name", kn.robots.names())
def test_nothing_touches_at_the_neutral_position(name: str):
    compiled = mujoco.MjModel.from_xml_string(to_mjcf(kn.robots.load(name), lossy=True))
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    assert data.ncon == 0


@pytest.mark.parametrize("kind", [Fixed(), Spherical(), Revolute("y"), Revolute((1.0, 2.0, 2.0))])
def test_loops_hold_what_the_loop_joint_holds(kind: Joint):
    """Open loops too: the points that MuJoCo holds together are those of the loop joint, whatever the position."""
    rng = np.random.default_rng(5)
    b = kn.Builder("loop", base="stand")
    for side in ("left", "right"):
        b.body(side, joint=Spherical(), at=random_transform(rng), inertia=random_inertia(rng))
    P, S = random_transform(rng), random_transform(rng)
    b.close_loop("closing", kind, "left", "right", P, S)
    model = b.build()
    compiled = mujoco.MjModel.from_xml_string(to_mjcf(model, lossy=True))
    rows = {Fixed: 6, Spherical: 3, Revolute: 6}[type(kind)]
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    assert data.ne == rows
    back = kn.formats.loads(to_mjcf(model, lossy=True))
    q = random_state(model, 2).q
    poses = dict(enumerate(kn.body_poses(model, q)))
    there = dict(enumerate(kn.body_poses(back, q)))
    assert [loop.name for loop in back.loops] == ["closing"]
    for loop in back.loops:  # what it holds is the same place on either side
        (p, s) = (_pose(X) for X in (loop.X_predecessor, loop.X_successor))
        ours = [np.linalg.inv(_pose(X)) @ Y for X, Y in ((P, p), (S, s))]
        np.testing.assert_allclose(ours[0][:3, 3], ours[1][:3, 3], atol=1e-12)
        if isinstance(kind, Revolute):
            assert isinstance(loop.type, Revolute)  # the two pairs of points are one pin again
            assert np.linalg.norm(ours[0][:3, 3]) < 1e-12
            for side in ours:
                np.testing.assert_allclose(side[:3, :3] @ loop.type.axis, kind.axis, atol=1e-12)
        if isinstance(kind, Fixed):
            np.testing.assert_allclose(ours[0], ours[1], atol=1e-12)
    np.testing.assert_allclose(poses[1], there[1], atol=1e-12)


def _pose(X: kn.spatial.Transform) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = np.array([[float(x) for x in row] for row in X.E]).T
    pose[:3, 3] = [float(x) for x in X.r]
    return pose


def test_couplings():
    b = kn.Builder("hand", base="palm")
    for side in ("left", "right"):
        b.body(side, joint=Prismatic("x"), inertia=solid_box(0.1, (0.1, 0.1, 0.1)))
    b.mimic("right_joint", "left_joint", ratio=-2.0, offset=0.25)
    model = b.build()
    assert kn.formats.loads(to_mjcf(model)).couplings == model.couplings


def test_shapes_and_meshes(tmp_path: Path):
    stl = tmp_path / "cube.stl"
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((1, 1, 1)).export(stl)
    red = Material("red", (1.0, 0.0, 0.0, 1.0))
    shapes = [Box((1.0, 2.0, 3.0)), Cylinder(0.1, 0.5), Capsule(0.1, 0.4), Sphere(0.2), Ellipsoid((0.1, 0.2, 0.3))]
    floor = Body("stand", Inertia.zero(), (), (Geometry(Plane((2.0, 3.0))),))
    b = kn.Builder("shapes", base=floor)
    b.body(
        "thing",
        joint=Revolute("z"),
        inertia=solid_box(1.0, (1.0, 1.0, 1.0)),
        visuals=[*(Geometry(s, random_transform(np.random.default_rng(1)), "", red) for s in shapes)],
        collisions=[Plane((1.0, 1.0)), Mesh("cube.stl", (1.0, 2.0, 0.5), str(stl)), Mesh("lost.stl"), Mesh("x.dae")],
    )
    model = b.build()
    assert [what for _, what in unsayable(model)] == [
        "a plane on a body that moves",
        "mesh lost.stl, which was not found",
        "mesh x.dae, which was not found",
    ]
    back = kn.formats.loads(to_mjcf(model, lossy=True))
    (thing,), (ground,) = back.bodies, back.base.collisions
    assert [g.shape for g in thing.visuals] == shapes
    assert {g.material for g in thing.visuals} == {red}
    assert ground.shape == Plane((2.0, 3.0))
    (mesh,) = (g.shape for g in thing.collisions)
    assert isinstance(mesh, Mesh)
    assert mesh.scale == (1.0, 2.0, 0.5)


def test_what_is_lost_is_refused_or_listed():
    model = kn.robots.load("arm")
    with pytest.raises(ModelError, match=r"shoulder_yaw.*MJCF cannot say: limits of velocity \(and 6 more\)"):
        to_mjcf(model)
    text = to_mjcf(model, lossy=True)
    assert text.count("<!-- left out, MJCF cannot say it: ") == 7


def test_the_order_of_joints_is_said_to_change():
    b = kn.Builder("wide", base="world")
    for name, on in (("one", "world"), ("two", "world"), ("three", "one")):
        b.body(name, on=on, joint=Revolute("z"), inertia=solid_box(1.0, (1.0, 1.0, 1.0)))
    model = b.build()
    assert [what for _, what in unsayable(model)] == ["the order of its joints: they are numbered depth first there"]
    assert kn.formats.loads(to_mjcf(model, lossy=True)).body_names == ("one", "three", "two")


def one_body(kind: Joint, **options: Any) -> Model:
    b = kn.Builder("one", base="world")
    b.body("body", joint=kind, inertia=solid_box(1.0, (1.0, 1.0, 1.0)), **options)
    return b.build()


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (one_body(Helical("z", 0.1)), "MJCF has no joint for Helical"),
        (one_body(Free(), at=(0, 0, 1)), "starts from the world's own frame"),
        (kn.model.to_planar(one_body(Revolute("z"))), "MJCF has no planar models"),
        (one_body(Spherical(), damping=(1.0, 2.0, 3.0)), "not the same for all its freedoms"),
        (one_body(Free(), rotor_inertia=(0.1,) * 6), "its velocity terms are others there"),
    ],
)
def test_what_cannot_be_said_is_an_error(model: Model, complaint: str):
    with pytest.raises(ModelError, match=complaint):
        to_mjcf(model)


def test_an_inertia_without_mass_is_an_error():
    model = one_body(Revolute("z"))
    I = model.bodies[0].inertia
    body = dataclasses.replace(model.bodies[0], inertia=dataclasses.replace(I, mass=0.0))
    with pytest.raises(ModelError, match="body: MJCF cannot say an inertia without a mass"):
        to_mjcf(model.replace(bodies=(body,)))


def test_names_that_xml_cannot_hold_are_refused():
    with pytest.raises(ModelError, match="a character that XML cannot"):
        to_mjcf(one_body(Revolute("z"), joint_name="a\uffffb"))


def test_save_writes_it(tmp_path: Path):
    model = kn.robots.load("pendulum")
    kn.save(model, tmp_path / "pendulum.xml")
    assert kn.load(tmp_path / "pendulum.xml").joint_names == ("pivot",)
