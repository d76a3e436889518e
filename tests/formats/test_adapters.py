"""Adapters to other libraries: the same state, the same forces, another order."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.formats import adapters, read_mjcf, read_urdf
from knuckle.formats.adapters import Adapter
from knuckle.joints import Free, Planar, Prismatic, Revolute, Spherical, Translational
from knuckle.model import ROOT, Body, Model, TreeJoint
from knuckle.spatial import Inertia, Transform, rotation

INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/><mass value="1.5"/>'
    '<inertia ixx="0.2" ixy="0.01" ixz="-0.02" iyy="0.3" iyz="0.03" izz="0.25"/></inertial>'
)
NAMES = ("base", "zeta", "alpha", "mid", "tip", "finger")


def joint(name: str, kind: str, parent: str, child: str, axis: str, more: str = "") -> str:
    limit = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
    place = '<origin xyz="0.3 -0.1 0.2" rpy="0.3 0.2 -0.5"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{place}'
        f'<axis xyz="{axis}"/>{limit}{more}</joint>'
    )


# Children whose names sort otherwise than the file has them, a continuous joint, and one that follows another.
URDF = "".join(
    [
        '<robot name="r">',
        *(f'<link name="{name}">{INERTIAL}</link>' for name in NAMES),
        joint("z", "revolute", "base", "zeta", "0 1 0"),
        joint("a", "continuous", "base", "alpha", "0.6 0 0.8"),
        joint("m", "prismatic", "zeta", "mid", "0 0 1"),
        joint("t", "revolute", "mid", "tip", "1 0 0"),
        joint("f", "prismatic", "alpha", "finger", "0 1 0", '<mimic joint="m" multiplier="-2" offset="0.3"/>'),
        "</robot>",
    ]
)


def laws(there: Adapter, seed: int = 0, batch: tuple[int, ...] = (3, 2)) -> None:
    """What holds for every adapter: there and back is the identity, power is power, a is the rate of v."""
    model, rng = there.model, np.random.default_rng(seed)
    q = np.array([[kn.random_configuration(model, rng) for _ in range(batch[1])] for _ in range(batch[0])])
    v, a, tau = (rng.normal(size=(*batch, model.nv)) for _ in range(3))
    Q, V, A, T = there.q_to(q), there.v_to(q, v), there.a_to(q, v, a), there.tau_to(q, tau)
    assert (Q.shape, V.shape, A.shape, T.shape) == ((*batch, there.nq), *((*batch, there.nv),) * 3)
    np.testing.assert_allclose(kn.difference(model, there.q_from(Q), q), 0, atol=1e-14)
    np.testing.assert_allclose(there.v_from(Q, V), v, rtol=0, atol=1e-14)
    np.testing.assert_allclose(there.a_from(Q, V, A), a, rtol=0, atol=1e-13)
    np.testing.assert_allclose(there.tau_from(Q, T), tau, rtol=0, atol=1e-14)
    np.testing.assert_allclose((V * T).sum(-1), (v * tau).sum(-1), rtol=0, atol=1e-13)
    other = rng.normal(size=(*batch, there.nv))
    np.testing.assert_allclose((V * other).sum(-1), (v * there.tau_from(Q, other)).sum(-1), rtol=0, atol=1e-13)
    B = there.velocity_map(q)
    np.testing.assert_allclose((B @ v[..., None])[..., 0], V, rtol=0, atol=1e-14)
    # central differences along a motion with constant a: error h² (third derivative of order 10) + rounding/h
    h = 1e-5
    ahead, behind = (
        there.v_to(kn.integrate(model, q, s * h * v + h * h * a / 2), v + s * h * a)
        for s in (1, -1)
    )  # fmt: skip
    np.testing.assert_allclose((ahead - behind) / (2 * h), A, rtol=0, atol=1e-8)
    single = there.a_to(q[0, 0], v[0, 0], a[0, 0])
    np.testing.assert_allclose(single, A[0, 0], rtol=0, atol=1e-15)


# Pinocchio


def pinocchio_pair(base: str, mimic: bool) -> tuple[Any, Any, Model]:
    pin = pytest.importorskip("pinocchio")
    root = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    # Pinocchio wants a joint that is followed to come before the follower in its order
    text = URDF.replace('joint name="a"', 'joint name="zz"').replace("alpha", "zz_alpha") if mimic else URDF
    return pin, pin.buildModelFromXML(text, *root, mimic=mimic), read_urdf(text, base=base)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("mimic", [True, False])
def test_pinocchio_laws(base: str, mimic: bool):
    _, theirs, model = pinocchio_pair(base, mimic)
    laws(adapters.pinocchio(model, theirs))


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_pinocchio_dynamics(base: str):
    pin, theirs, model = pinocchio_pair(base, mimic=False)
    there, data, rng = adapters.pinocchio(model, theirs), theirs.createData(), np.random.default_rng(1)
    for _ in range(5):
        q = np.asarray(kn.random_configuration(model, rng))
        v, a = rng.normal(size=(2, model.nv))
        pin.forwardKinematics(theirs, data, there.q_to(q), there.v_to(q, v))
        for name in model.joint_names[1:]:
            body = model.body_names[model.joint_index(name)]
            pose = data.oMi[theirs.getJointId(name)].homogeneous
            np.testing.assert_allclose(kn.pose(model, q, frame=body), pose, rtol=0, atol=1e-14)
        tau = there.tau_from(
            there.q_to(q), pin.rnea(theirs, data, there.q_to(q), there.v_to(q, v), there.a_to(q, v, a))
        )
        ours = kn.inverse_dynamics(model, q, v, a)
        np.testing.assert_allclose(tau, ours, rtol=0, atol=1e-12 * np.abs(ours).max())


def test_pinocchio_orders():
    """By hand: the place first, then (x, y, z, w), cosine and sine for the continuous joint, joints by name."""
    _, theirs, model = pinocchio_pair("floating", mimic=False)
    there = adapters.pinocchio(model, theirs)
    q = np.array([0.5, -0.5, 0.5, 0.5, 1, 2, 3, 0.1, 0.2, 0.3, 0.4])  # base, z, a, m, t
    expected = [1, 2, 3, -0.5, 0.5, 0.5, 0.5, math.cos(0.2), math.sin(0.2), -2 * 0.3 + 0.3, 0.1, 0.3, 0.4]
    assert list(theirs.names)[2:] == ["a", "f", "z", "m", "t"]
    np.testing.assert_allclose(there.q_to(q), expected, rtol=0, atol=1e-16)
    v = np.arange(1.0, 11.0)
    np.testing.assert_allclose(there.v_to(q, v), [4, 5, 6, 1, 2, 3, 8, -2 * 9, 7, 9, 10])
    wrench = np.arange(12.0).reshape(2, 6)
    np.testing.assert_array_equal(there.wrench_to(wrench), [[3, 4, 5, 0, 1, 2], [9, 10, 11, 6, 7, 8]])
    np.testing.assert_array_equal(there.wrench_from(there.wrench_to(wrench)), wrench)


def inertia() -> Inertia:
    return Inertia.of(1.5, (0.1, 0.2, 0.3), ((0.2, 0.01, 0), (0.01, 0.3, 0), (0, 0, 0.25)))


def test_pinocchio_joints_that_urdf_does_not_have():
    pin = pytest.importorskip("pinocchio")
    kinds = [(Spherical(), pin.JointModelSpherical()), (Planar(), pin.JointModelPlanar())]
    kinds += [(Translational(), pin.JointModelTranslation()), (Free(), pin.JointModelFreeFlyer())]
    X = Transform.of(rotation.from_rpy(0.1, 0.2, 0.3), (0.1, 0.2, 0.3))
    pose = np.array(X.homogeneous.rows, dtype=float)
    theirs, joints, bodies = pin.Model(), [], []
    for k, (ours, other) in enumerate(kinds):
        number = theirs.addJoint(k, other, pin.SE3(pose), f"j{k}")
        I = np.array(inertia().I_com.matrix, dtype=float)
        theirs.appendBodyToJoint(number, pin.Inertia(1.5, np.array([0.1, 0.2, 0.3]), I), pin.SE3.Identity())
        joints.append(TreeJoint(f"j{k}", ours, k - 1, X))
        bodies.append(Body(f"b{k}", inertia()))
    model = Model(tuple(bodies), tuple(joints))
    there, data, rng = adapters.pinocchio(model, theirs), theirs.createData(), np.random.default_rng(2)
    laws(there)
    q = np.asarray(kn.random_configuration(model, rng))
    v, a = rng.normal(size=(2, model.nv))
    tau = pin.rnea(theirs, data, there.q_to(q), there.v_to(q, v), there.a_to(q, v, a))
    ours = kn.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(there.tau_from(there.q_to(q), tau), ours, rtol=0, atol=1e-12 * np.abs(ours).max())


def test_a_plane_that_pinocchio_does_not_have():
    pin = pytest.importorskip("pinocchio")
    theirs = pin.Model()
    theirs.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "j")
    model = Model((Body("b", inertia()),), (TreeJoint("j", Planar("x"), ROOT),))
    with pytest.raises(ValueError, match="joint 'j' is Planar here and JointModelPlanar in Pinocchio, with 4"):
        adapters.pinocchio(model, theirs)


# MuJoCo; its dynamics are compared in test_mjcf.py


def test_mujoco_laws():
    mujoco = pytest.importorskip("mujoco")
    mass = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    text = (
        f'<mujoco><worldbody><body><freejoint/>{mass}<body><joint type="ball" name="b"/><joint name="s" type="slide"/>'
        f'{mass}<body><joint name="h"/>{mass}</body></body></body></worldbody>'
        '<equality><joint joint1="h" joint2="s" polycoef="0.1 2 0 0 0"/></equality></mujoco>'
    )
    laws(adapters.mujoco(read_mjcf(text), mujoco.MjModel.from_xml_string(text)))


def test_mujoco_orders():
    """By hand, at a quarter turn about z: the velocity goes from body to world axes, the angular velocity does not."""
    mujoco = pytest.importorskip("mujoco")
    text = '<mujoco><worldbody><body name="a"><freejoint name="r"/><geom size="1"/></body></worldbody></mujoco>'
    there = adapters.mujoco(read_mjcf(text), mujoco.MjModel.from_xml_string(text))
    s = math.sqrt(0.5)
    q = np.array([s, 0, 0, s, 1, 2, 3])
    np.testing.assert_allclose(there.q_to(q), [1, 2, 3, s, 0, 0, s])
    np.testing.assert_allclose(there.v_to(q, [1, 2, 3, 4, 5, 6]), [-5, 4, 6, 1, 2, 3], atol=1e-15)
    # spinning about z while the origin moves along x of the body: the world sees it turn
    np.testing.assert_allclose(there.a_to(q, [0, 0, 1, 1, 0, 0], np.zeros(6)), [-1, 0, 0, 0, 0, 0], atol=1e-15)
    np.testing.assert_array_equal(there.wrench_to([1, 2, 3, 4, 5, 6]), [4, 5, 6, 1, 2, 3])


# Drake, by its documented conventions: it is not among the test dependencies


@dataclass
class DrakeJoint:
    """What the adapter asks a joint of Drake's."""

    the_name: str
    kind: str
    q: int
    nq: int
    v: int
    nv: int

    def name(self) -> str:
        return self.the_name

    def type_name(self) -> str:
        return self.kind

    def position_start(self) -> int:
        return self.q

    def num_positions(self) -> int:
        return self.nq

    def velocity_start(self) -> int:
        return self.v

    def num_velocities(self) -> int:
        return self.nv


class DrakePlant:
    """What the adapter asks a plant of Drake's."""

    def __init__(self, *joints: DrakeJoint) -> None:
        self.joints = joints

    def GetJointIndices(self) -> range:
        return range(len(self.joints))

    def get_joint(self, index: int) -> DrakeJoint:
        return self.joints[index]

    def num_positions(self) -> int:
        return sum(j.nq for j in self.joints)

    def num_velocities(self) -> int:
        return sum(j.nv for j in self.joints)


def test_drake():
    bodies = tuple(Body(f"b{k}", inertia()) for k in range(4))
    kinds = (Free(), Revolute("x"), Planar(), Prismatic("y"))
    model = Model(bodies, tuple(TreeJoint(f"j{k}", kind, k - 1) for k, kind in enumerate(kinds)))
    plant = DrakePlant(
        DrakeJoint("j3", "prismatic", 0, 1, 0, 1),
        DrakeJoint("b0", "quaternion_floating", 1, 7, 1, 6),
        DrakeJoint("j2", "planar", 8, 3, 7, 3),
        DrakeJoint("weld", "weld", 0, 0, 0, 0),
        DrakeJoint("j1", "revolute", 11, 1, 10, 1),
    )
    there = adapters.drake(model, plant)
    laws(there)
    s = math.sqrt(0.5)
    q = np.array([s, 0, 0, s, 1, 2, 3, 0.1, math.pi / 2, 4, 5, 0.2])
    np.testing.assert_allclose(there.q_to(q), [0.2, s, 0, 0, s, 1, 2, 3, 4, 5, math.pi / 2, 0.1])
    v = np.arange(1.0, 12.0)
    np.testing.assert_allclose(there.v_to(q, v), [11, -2, 1, 3, -5, 4, 6, -10, 9, 8, 7], atol=1e-14)
    np.testing.assert_array_equal(there.wrench_to([1, 2, 3, 4, 5, 6]), [1, 2, 3, 4, 5, 6])


# mistakes


def test_joints_without_a_counterpart():
    _, theirs, model = pinocchio_pair("fixed", mimic=False)
    floating = read_urdf(URDF, base="floating")
    with pytest.raises(ValueError, match="without a counterpart: here floating_base; in Pinocchio none"):
        adapters.pinocchio(floating, theirs)
    renamed = read_urdf(URDF.replace('joint name="t"', 'joint name="tt"'))
    with pytest.raises(ValueError, match=r"here tt; in Pinocchio t; .*names="):
        adapters.pinocchio(renamed, theirs)
    assert adapters.pinocchio(renamed, theirs, names={"tt": "t"}).nq == adapters.pinocchio(model, theirs).nq


def test_shapes_are_checked():
    _, theirs, model = pinocchio_pair("fixed", mimic=False)
    there = adapters.pinocchio(model, theirs)
    with pytest.raises(ValueError, match=r"q has shape \(3,\); its last axis needs 4 entries, knuckle's"):
        there.q_to(np.zeros(3))
    with pytest.raises(ValueError, match=r"v has shape \(2, 3\); its last axis needs 4 entries, knuckle's"):
        there.v_to(np.zeros(4), np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"q has shape \(4,\); its last axis needs 6 entries, Pinocchio's"):
        there.q_from(np.zeros(4))
    with pytest.raises(ValueError, match=r"f has shape \(\)"):
        there.wrench_to(1.0)
