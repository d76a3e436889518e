"""MuJoCo's actuators: the same forces as MuJoCo's, there and back; and what is said of those that do not come over."""

from __future__ import annotations

import numpy as np
import pytest

import knuckle as kn
from knuckle.formats import read_mjcf, to_mjcf

mujoco = pytest.importorskip("mujoco")

PUPPET = """
<mujoco model="puppet"><compiler angle="radian"/><option><flag contact="disable"/></option><worldbody>
  <body name="torso" pos="0 0 1"><freejoint name="root"/><geom type="capsule" size="0.07 0.15" mass="8"/>
    <site name="nose" pos="0.1 0 0.2" euler="0.3 0.1 0"/>
    <body name="pelvis" pos="0 0.1 -0.2"><joint name="hip_x" axis="1 0 0"/><geom size="0.04" mass="1"/>
      <body name="thigh"><joint name="hip_y" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04" mass="3"/>
        <body name="shin" pos="0 0 -0.3"><joint name="knee" axis="0 1 0" ref="0.2" actuatorfrcrange="-15 15"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="2"/><site name="heel" pos="0 0 -0.3"/></body>
      </body></body>
    <body name="arm" pos="0 -0.15 0.1"><joint name="lift" type="slide" axis="0 0 1"/>
      <geom size="0.05" mass="1"/><site name="hand" pos="0 -0.1 0"/></body>
  </body></worldbody>
  <tendon><fixed name="both"><joint joint="hip_y" coef="0.6"/><joint joint="knee" coef="-0.4"/></fixed>
    <spatial name="string"><site site="heel"/><site site="hand"/></spatial></tendon>
  <actuator>
    <motor name="m_hip" joint="hip_x" gear="40" ctrlrange="-1 1" ctrllimited="true"/>
    <position name="p_hip" joint="hip_y" kp="30" kv="2" gear="1.5" forcerange="-20 20"/>
    <velocity name="v_knee" joint="knee" kv="4"/>
    <general name="g_lift" joint="lift" gear="3" gaintype="affine" gainprm="2 0.5 0.1" biastype="affine"
      biasprm="0.3 -2 -0.2"/>
    <motor name="t_both" tendon="both" gear="5"/>
    <position name="t_string" tendon="string" kp="50" gear="1.2"/>
    <motor name="jet" site="nose" gear="1 2 3 0.1 0.2 0.3"/>{more}
  </actuator>
</mujoco>"""
COUNT = 7


def differences(text: str, model: kn.Model) -> float:
    """How far forces of actuators are from MuJoCo's, in some states and under some controls, also clamped ones."""
    m = mujoco.MjModel.from_xml_string(text)
    d, worst, rng = mujoco.MjData(m), 0.0, np.random.default_rng(0)
    for _ in range(10):
        d.qpos[:], d.qvel[:] = rng.normal(size=m.nq), rng.normal(size=m.nv)
        d.qpos[3:7] /= np.linalg.norm(d.qpos[3:7])
        d.ctrl[:COUNT] = u = 2 * rng.normal(size=COUNT)
        mujoco.mj_forward(m, d)
        R = kn.lie_groups.quaternion_to_matrix(d.qpos[3:7])
        q = np.concatenate([d.qpos[3:7], d.qpos[:3], d.qpos[7:]])
        v, tau = (np.concatenate([x[3:6], R.T @ x[:3], x[6:]]) for x in (d.qvel, d.qfrc_actuator))
        worst = max(worst, np.abs(kn.actuators.forces(model, q, v, u) - d.actuator_force[:COUNT]).max())
        worst = max(worst, np.abs(kn.actuators.joint_forces(model, q, v, u) - tau).max())
    return worst


@pytest.fixture(scope="module")
def puppet() -> kn.Model:
    return read_mjcf(PUPPET.format(more=""))


def test_forces_are_mujocos(puppet: kn.Model):
    assert [x.kind for x in puppet.actuators] == [
        "motor", "position", "velocity", "general", "motor", "position", "motor",
    ]  # fmt: skip
    assert differences(PUPPET.format(more=""), puppet) < 1e-10


def test_what_is_written_is_what_was_read(puppet: kn.Model):
    text = to_mjcf(puppet, lossy=True)
    assert differences(text, puppet) < 1e-10
    assert [x.name for x in read_mjcf(text).actuators] == [x.name for x in puppet.actuators]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ('<general name="x" joint="lift" dyntype="user" actdim="1"/>', "its state is none of"),
        ('<muscle name="x" joint="knee" lengthrange="0 1"/>', "its state is none of"),
        ('<motor name="x" cranksite="nose" slidersite="heel" cranklength="0.3"/>', "none of joint, tendon or site"),
    ],
)
def test_what_does_not_come_over_is_a_warning(more: str, why: str):
    model = read_mjcf(PUPPET.format(more=more))
    assert len(model.actuators) == COUNT
    (note,) = (note for note in model.provenance.notes if note.subject == "x")
    assert (note.level, why in note.text) == ("warning", True)


def test_urdf_transmissions_are_motors():
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    link = f'<link name="{{}}">{inertial}</link>'
    text = f"""<robot name="r">{link.format("a")}{link.format("b")}
      <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
        <limit lower="-1" upper="1" effort="5" velocity="1"/></joint>
      <transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="j"/>
        <actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>
      <transmission name="d"><type>transmission_interface/DifferentialTransmission</type></transmission></robot>"""
    model = kn.formats.read_urdf(text)
    assert model.actuators == (kn.actuators.motor("m", "j", gear=50.0),)
    tau = [kn.actuators.joint_forces(model, [0.0], [0.0], [u])[0] for u in (0.02, 0.5)]
    assert tau == pytest.approx([1.0, 5.0])  # the reduction, and no more than the effort
    assert any(note.subject == "d" and note.level == "warning" for note in model.provenance.notes)
