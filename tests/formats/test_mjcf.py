"""MJCF in, against MuJoCo itself: places, inertia, passive forces."""

import dataclasses
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.errors import ModelError
from knuckle.formats import adapters, from_mujoco, load, read_mjcf
from knuckle.joints import Free, Prismatic, Revolute, Spherical
from knuckle.model import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Limits,
    Mesh,
    Model,
    Plane,
    Sphere,
    TreeJoint,
)
from knuckle.scalar import ZERO

from .mjcf_worlds import body, compiled, mujoco, random_state, texts, worlds

# Several joints on a body, anchors off the origin, reference positions, all joint types, springs and resistance.
ROBOT = """
<mujoco model="odd"><compiler angle="radian"/>
<option gravity="0.3 -1 -9"><flag contact="disable" limit="disable"/></option>
<worldbody>
  <site name="mark" pos="1 0 0" quat="0.5 0.5 0.5 0.5"/>
  <body name="torso" pos="0 0 1" quat="0.9 0.1 0.2 0.3"><freejoint name="root"/>
    <inertial pos="0.1 0.2 0.3" quat="0.8 0.1 -0.5 0.2" mass="3" diaginertia="0.2 0.3 0.4"/>
    <site name="imu" pos="0.1 0 0.2" euler="0.1 0.2 0.3"/>
    <body name="thigh" pos="0.1 -0.2 0.3" euler="0.3 0.2 0.1">
      <joint name="swing" type="hinge" axis="1 2 3" pos="0.05 0.02 -0.1" ref="0.4" armature="0.2" damping="0.5"
             stiffness="3" springref="0.7" limited="true" range="-1 2"/>
      <joint name="push" type="slide" axis="0 1 1" ref="-0.1" damping="0.7" armature="0.01"/>
      <joint name="twist" type="hinge" axis="0 0 1" pos="-0.1 0.2 0.1" stiffness="2"/>
      <inertial pos="0 0.1 0.1" mass="1.5" fullinertia="0.1 0.2 0.15 0.01 0.02 -0.01"/>
      <site name="knee" pos="0 0.1 -0.3" quat="1 2 3 4"/>
      <body name="plate" pos="0.1 0 0" euler="1 0 0"><inertial pos="0 0 0.1" mass="0.3" diaginertia="0.01 0.02 0.02"/>
        <body name="foot" pos="0 0.3 0.1">
          <joint name="ankle" type="ball" pos="0.02 0.03 0.04" damping="0.3" armature="0.05" stiffness="1.5"/>
          <inertial pos="0.1 0 0" mass="0.4" diaginertia="0.01 0.02 0.02"/>
        </body>
      </body>
    </body>
  </body>
  <body name="cart" pos="2 0 0"><joint name="roll" type="slide" axis="1 0 0"/>
    <inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
  </body>
</worldbody>
<actuator><motor joint="roll" gear="3" armature="0.1" damping="0.2"/></actuator>
</mujoco>
"""


@pytest.fixture(scope="module")
def pair() -> tuple[Any, Model]:
    m = compiled(ROBOT)
    return m, from_mujoco(m)


# against MuJoCo


@pytest.mark.parametrize("merge_fixed", [True, False])
def test_places(merge_fixed: bool):
    """Every body and site of MuJoCo is a frame of ours, in the same place at any q."""
    m = compiled(ROBOT)
    model, data, rng = from_mujoco(m, merge_fixed=merge_fixed), mujoco.MjData(m), np.random.default_rng(0)
    there = adapters.mujoco(model, m)
    for _ in range(10):
        data.qpos[:], _, _ = random_state(m, rng)
        mujoco.mj_kinematics(m, data)
        q = there.q_from(data.qpos)
        for get, count in ((m.body, m.nbody), (m.site, m.nsite)):
            for k in range(count):
                name = get(k).name
                found = data.body(name) if get == m.body else data.site(name)
                pose = kn.pose(model, q, frame=name)
                np.testing.assert_allclose(pose[:3, 3], found.xpos, rtol=0, atol=1e-13)
                np.testing.assert_allclose(pose[:3, :3].ravel(), found.xmat, rtol=0, atol=1e-13)


def test_mass_matrix_bias_and_inverse_dynamics(pair: tuple[Any, Model]):
    """M, the bias force, and τ with springs, dampers and armature; everything scaled by its own size."""
    m, model = pair
    data, rng, there = mujoco.MjData(m), np.random.default_rng(1), adapters.mujoco(model, m)
    for _ in range(10):
        data.qpos[:], data.qvel[:], data.qacc[:] = random_state(m, rng)
        mujoco.mj_inverse(m, data)
        q = there.q_from(data.qpos)
        v, a = there.v_from(data.qpos, data.qvel), there.a_from(data.qpos, data.qvel, data.qacc)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, data, M)
        B = there.velocity_map(q)
        H = kn.mass_matrix(model, q)
        np.testing.assert_allclose(H, B.T @ M @ B, rtol=0, atol=1e-12 * np.abs(H).max())
        tau = kn.inverse_dynamics(model, q, v, a)
        np.testing.assert_allclose(
            tau, there.tau_from(data.qpos, data.qfrc_inverse), rtol=0, atol=1e-12 * np.abs(tau).max()
        )
        # the velocity of a free body is in other axes: at zero MuJoCo acceleration ours is not zero
        bias = kn.inverse_dynamics(model.without_friction(), q, v, there.a_from(data.qpos, data.qvel, np.zeros(m.nv)))
        springs = kn.inverse_dynamics(model, q, 0 * v, 0 * v) - kn.inverse_dynamics(
            model.replace(joints=tuple(without_springs(j) for j in model.joints)), q, 0 * v, 0 * v
        )
        expected = there.tau_from(data.qpos, data.qfrc_bias) + springs
        np.testing.assert_allclose(bias, expected, rtol=0, atol=1e-12 * np.abs(bias).max())


def without_springs(joint: TreeJoint) -> TreeJoint:
    return dataclasses.replace(joint, stiffness=(), rest=())


def test_forward_dynamics(pair: tuple[Any, Model]):
    """The acceleration MuJoCo simulates with; H is inverted, so the error is scaled by its condition number."""
    m, model = pair
    data, rng, there = mujoco.MjData(m), np.random.default_rng(2), adapters.mujoco(model, m)
    for _ in range(5):
        data.qpos[:], data.qvel[:], _ = random_state(m, rng)
        data.qfrc_applied[:] = rng.normal(size=m.nv)
        mujoco.mj_forward(m, data)
        q, v = there.q_from(data.qpos), there.v_from(data.qpos, data.qvel)
        a = kn.forward_dynamics(model, q, v, there.tau_from(data.qpos, data.qfrc_applied))
        expected = there.a_from(data.qpos, data.qvel, data.qacc)
        condition = np.linalg.cond(kn.mass_matrix(model, q))
        np.testing.assert_allclose(a, expected, rtol=0, atol=1e-13 * condition * np.abs(expected).max())


# names and frames


def test_names_of_bodies_with_several_joints(pair: tuple[Any, Model]):
    _, model = pair
    assert model.body_names == ("torso", "thigh/swing", "thigh/push", "thigh/twist", "foot/ankle", "cart")
    assert model.joint_names == ("root", "swing", "push", "twist", "ankle", "roll")
    assert {f.name for f in model.frames} == {"thigh", "plate", "foot", "mark", "imu", "knee"}
    assert (model.base.name, model.name, model.gravity) == ("world", "odd", (0.3, -1.0, -9.0))
    assert [type(j.type) for j in model.joints] == [Free, Revolute, Prismatic, Revolute, Spherical, Prismatic]
    assert [float(b.inertia.mass) for b in model.bodies] == [3.0, 0.0, 0.0, 1.8, 0.4, 2.0]


def test_joint_properties(pair: tuple[Any, Model]):
    _, model = pair
    swing = model.joints[1]
    assert (swing.rotor_inertia, swing.damping, swing.stiffness, swing.rest) == ((0.2,), (0.5,), (3.0,), (0.7,))
    assert swing.limits == Limits((-1.0,), (2.0,), (math.inf,), (math.inf,))
    roll = model.joints[5]
    assert roll.rotor_inertia == pytest.approx((0.9,))  # gear² · 0.1
    assert roll.damping == pytest.approx((1.8,))


def test_zero_reference_and_anchor_leave_structural_zeros():
    model = worlds(body("a", '<joint name="j" axis="0 0 1"/>', euler="0 0 90"))
    assert model.X_tree[0].E[0][0] is ZERO
    assert model.body_names == ("a",)
    assert model.frames == ()


def test_elements_without_names_and_names_used_twice():
    unnamed = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    model = worlds(
        f'<body><joint/>{unnamed}<site name="x"/></body><body name="x"><joint name="joint0"/>{unnamed}</body>'
    )
    assert model.body_names == ("body1", "x")
    assert model.joint_names == ("joint0_", "joint0")
    assert [f.name for f in model.frames] == ["x_site"]
    assert texts(model, "x_site") == ["renamed: something else is called 'x'"]


def test_base():
    still = body("a", body("b", '<joint name="j"/>'), pos="1 2 3")
    fixed = worlds(still)
    assert (fixed.joint_names, fixed.nv, fixed.frame_names) == (("j",), 1, ("world", "b", "a"))
    assert [float(x) for x in fixed.X_tree[0].r] == [1, 2, 3]
    floating = worlds(still, base="floating")
    assert (floating.joint_names, floating.nv) == (("floating_base", "j"), 7)
    np.testing.assert_allclose(kn.pose(floating, kn.neutral(floating), frame="a")[:3, 3], [1, 2, 3])
    np.testing.assert_allclose(kn.pose(floating, [1, 0, 0, 0, 0, 0, 0, 0], frame="a"), np.eye(4))
    free = worlds(body("a", "<freejoint/>"), base="floating")
    assert (free.nv, texts(free, "a")) == (6, ["the file says that it floats: no joint added"])
    with pytest.raises(ModelError, match=r"needs one body in the world, not 2 \(a, b\)"):
        worlds(body("a") + body("b"), base="floating")
    with pytest.raises(ModelError, match="needs a root body without joints"):
        worlds(body("a", "<joint/>"), base="floating")
    with pytest.raises(ValueError, match="base='up'"):
        worlds(still, base="up")


# shapes


def test_shapes():
    tetrahedron = '<asset><mesh name="t" vertex="0 0 0 1 0 0 0 2 0 0 0 3"/><material name="m" rgba="1 0 0 1"/></asset>'
    geoms = (
        '<geom name="p" type="plane" size="1 2 0.1"/>',
        '<geom name="s" type="sphere" size="0.1" rgba="0 1 0 1"/>',
        '<geom name="c" type="capsule" size="0.1 0.2"/>',
        '<geom name="e" type="ellipsoid" size="0.1 0.2 0.3"/>',
        '<geom name="y" type="cylinder" size="0.1 0.2" contype="0" conaffinity="0"/>',
        '<geom name="b" type="box" size="0.1 0.2 0.3" group="3"/>',
        '<geom name="m" type="mesh" mesh="t" pos="1 2 3" euler="10 20 30" material="m"/>',
    )
    text = (
        f"<mujoco>{tetrahedron}<worldbody>{geoms[0]}{body('a', '<joint/>' + ''.join(geoms[1:]))}</worldbody></mujoco>"
    )
    model = read_mjcf(text)
    (plane,) = model.base.visuals
    assert plane.shape == Plane((1.0, 2.0))
    visuals = {g.name: g for g in model.bodies[0].visuals}
    assert set(visuals) == {"s", "c", "e", "y", "m"}
    assert {g.name for g in model.bodies[0].collisions} == {"s", "c", "e", "b", "m"}
    assert visuals["s"].shape == Sphere(0.1)
    assert visuals["c"].shape == Capsule(0.1, 0.4)
    assert visuals["e"].shape == Ellipsoid((0.1, 0.2, 0.3))
    assert visuals["y"].shape == Cylinder(0.1, 0.4)
    assert model.bodies[0].collisions[3].shape == Box((0.2, 0.4, 0.6))
    mesh = visuals["m"]
    assert mesh.shape == Mesh("t")
    assert mesh.material is not None
    assert (mesh.material.name, mesh.material.color) == ("m", (1.0, 0.0, 0.0, 1.0))
    # MuJoCo moved the vertices to the mesh's own centre; with our X they are where the file has them
    m = compiled(text)
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    moved = data.geom("m").xpos + m.mesh_vert @ data.geom("m").xmat.reshape(3, 3).T
    pose = np.array(mesh.X.homogeneous.rows, dtype=float)
    original = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
    ours = original @ pose[:3, :3].T + pose[:3, 3]
    distances = np.linalg.norm(ours[:, None] - moved[None], axis=-1).min(axis=1)
    assert distances.max() < 1e-6  # vertices are float32 in MuJoCo


def test_mesh_files_are_found(tmp_path: Path):
    (tmp_path / "meshes").mkdir()
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    (tmp_path / "meshes" / "t.obj").write_text(corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    moving = body("a", '<joint/><geom type="mesh" mesh="t" pos="1 2 3"/>')
    asset = '<compiler meshdir="meshes"/><asset><mesh name="t" file="t.obj" scale="2 2 2"/></asset>'
    (tmp_path / "m.xml").write_text(f"<mujoco>{asset}<worldbody>{moving}</worldbody></mujoco>")
    (shape,) = load(tmp_path / "m.xml").bodies[0].visuals
    assert isinstance(shape.shape, Mesh)
    assert (shape.shape.path, shape.shape.scale) == (str(tmp_path / "meshes" / "t.obj"), (2.0, 2.0, 2.0))
    np.testing.assert_allclose([float(x) for x in shape.X.r], [1, 2, 3], rtol=0, atol=1e-6)


# files and errors


def test_includes_and_meshes_are_found_from_the_file(tmp_path: Path):
    (tmp_path / "part.xml").write_text(f"<mujoco><worldbody>{body('a', '<joint/>')}</worldbody></mujoco>")
    (tmp_path / "m.xml").write_text('<mujoco><include file="part.xml"/></mujoco>')
    model = load(tmp_path / "m.xml")
    assert (model.body_names, model.provenance.file) == (("a",), str(tmp_path / "m.xml"))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("<mujoco>\n<worldbody>\n<bod/></worldbody></mujoco>", 3, "unrecognized element"),
        ('<mujoco>\n<worldbody><body><geom size="-1"/></body></worldbody></mujoco>', 2, "must be positive"),
        ("<mujoco>\n<worldbody>", 2, "not well-formed XML"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><mujoco/>', 1, "document type declaration"),
        ("<a>" * 300, 1, "nested"),
    ],
)
def test_files_that_cannot_be_used(text: str, line: int, words: str):
    with pytest.raises(ModelError) as caught:
        read_mjcf(text)
    assert caught.value.line == line, str(caught.value)
    assert words in caught.value.message


def test_without_mujoco_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ImportError, match=r"install mujoco"):
        read_mjcf("<mujoco/>")
