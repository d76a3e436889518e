"""What does not come over from MJCF is noted, and what would move otherwise is a warning."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.errors import ModelError
from knuckle.formats import adapters, from_mujoco, read_mjcf

from .mjcf_worlds import compiled, mujoco, random_state, texts


def test_everything_ignored_is_noted():
    text = """
    <mujoco><option density="1.2"/><worldbody>
      <body name="a" gravcomp="1"><joint name="j" damping="1 2" stiffness="1 2"/><geom size="0.1"/></body>
      <body name="f"><joint name="free" type="free" frictionloss="0.1" armature="0.2" stiffness="3"/>
        <geom size="1"/></body>
      <body name="g"><joint name="ball" type="ball" limited="true" range="0 30"/><geom size="1"/></body>
      <body name="mover" mocap="true"/><camera name="eye"/>
    </worldbody>
    <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
    <actuator><motor joint="j"/></actuator><sensor><jointpos joint="j"/></sensor>
    <keyframe><key name="home"/></keyframe>
    </mujoco>"""
    try:
        model = read_mjcf(text)
    except ModelError:  # MuJoCo before 4 has no polynomial damping
        model = read_mjcf(text.replace("1 2", "1"))
    found = {(note.level, note.subject): note.text for note in model.provenance.notes}
    assert found["warning", "option"].startswith("fluid forces")
    assert found["warning", "a"] == "gravcomp 1 ignored"
    assert found["info", "tendons"].startswith("1 tendons ignored")
    assert found["info", "sensors"] == "1 sensors ignored"
    assert found["info", "cameras"] == "1 cameras ignored"
    assert found["info", "actuators"].startswith("1 actuators: they push where")
    assert found["info", "contacts"].startswith("3 colliding geoms")
    assert texts(model, "mover")[0].startswith("a mocap body")
    free = [note.text for note in model.provenance.notes if note.subject == "free"]
    assert len(free) == 3
    assert "range" in texts(model, "ball")[0]
    assert model.joints[0].stiffness == (1.0,)
    if hasattr(compiled(text.replace("1 2", "1")), "dof_dampingpoly"):
        assert texts(model, "j") == ["higher terms of its stiffness ignored", "higher terms of its damping ignored"]


JOINT = '<body name="b"><joint name="j" axis="0 1 0"{joint}/><geom size=".1" pos=".3 0 0"/></body>'
MOVES = [
    # joint, what comes after the bodies, subject of the note, words of it
    ("", '<actuator><position name="p" joint="j" kp="10"/></actuator>', "p", "not idle at zero control"),
    ("", '<actuator><velocity name="p" joint="j" kv="1"/></actuator>', "p", "not idle"),
    ("", '<actuator><motor name="p" joint="j" ctrllimited="true" ctrlrange="1 2"/></actuator>', "p", "not idle"),
    ("", '<actuator><general name="p" joint="j" biastype="affine" biasprm="3"/></actuator>', "p", "not idle"),
    ("", '<actuator><motor name="p" joint="j" damping="1 2"/></actuator>', "p", "higher terms of their damping"),
    (' type="ball"', '<actuator><motor name="p" joint="j" armature="1"/></actuator>', "j", "of its actuators ignored"),
    (' damping="0 2"', "", "j", "higher terms of its damping"),
    (' type="ball" damping="0 0 3"', "", "j", "higher terms of its damping"),
    (' stiffness="0 2"', "", "j", "higher terms of its stiffness"),
    ("", '<tendon><fixed name="t" damping="0 1"><joint joint="j" coef="1"/></fixed></tendon>', "t", "its damping"),
    ("", '<tendon><fixed name="t" frictionloss="1"><joint joint="j" coef="1"/></fixed></tendon>', "t", "frictionloss"),
    ("", '<tendon><fixed name="t" range="0 1"><joint joint="j" coef="1"/></fixed></tendon>', "t", "its range"),
    ("", '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon><actuator><motor tendon="t" '
         'armature="1"/></actuator>', "t", "armature or damping of its actuator"),
]  # fmt: skip


@pytest.mark.parametrize(("joint", "after", "subject", "words"), MOVES)
def test_whatever_moves_it_in_mujoco_and_not_here_is_a_warning(joint: str, after: str, subject: str, words: str):
    """MuJoCo's acceleration at zero control is another one, and a warning of the audit says why."""
    text = f"<mujoco><worldbody>{JOINT.format(joint=joint)}</worldbody>{after}</mujoco>"
    try:
        m = compiled(text)
    except ValueError:
        pytest.skip("a feature of newer MuJoCo versions")
    model = from_mujoco(m)
    assert [note.subject for note in kn.audit(model).warnings if words in note.text] == [subject]
    data, there, rng = mujoco.MjData(m), adapters.mujoco(model, m), np.random.default_rng(1)
    data.qpos[:], data.qvel[:], _ = random_state(m, rng)
    data.qpos[:] = there.q_to(kn.normalize(model, there.q_from(data.qpos), data.qvel)[0]) + (m.nq == 1)
    mujoco.mj_forward(m, data)
    q, v = there.q_from(data.qpos), there.v_from(data.qpos, data.qvel)
    assert not np.allclose(kn.forward_dynamics(model, q, v, 0 * v), there.a_from(data.qpos, data.qvel, data.qacc))


@pytest.mark.parametrize(
    ("option", "joint", "after"),
    [
        ('<flag actuation="disable"/>', "", '<actuator><position joint="j" kp="10"/></actuator>'),
        ('<flag damper="disable"/>', ' damping="1 2"', '<actuator><motor joint="j" damping="1 2"/></actuator>'),
        ('<flag spring="disable"/>', ' stiffness="1 2"', ""),
        ('<flag gravity="disable"/>', "", ""),
        ("", "", '<actuator><motor joint="j" ctrllimited="true" ctrlrange="-1 0"/></actuator>'),
        ("", "", '<tendon><fixed><joint joint="j" coef="1"/></fixed></tendon>'),
    ],
)  # fmt: skip
def test_what_is_switched_off_or_idle_is_no_warning(option: str, joint: str, after: str):
    body = JOINT.format(joint=joint).replace('name="b"', 'name="b" gravcomp="1"' if "gravity" in option else 'name="b"')
    text = f"<mujoco><option>{option}</option><worldbody>{body}</worldbody>{after}</mujoco>"
    try:
        m = compiled(text)
    except ValueError:
        pytest.skip("a feature of newer MuJoCo versions")
    model = from_mujoco(m)
    assert kn.audit(model).warnings == ()
    data = mujoco.MjData(m)
    data.qpos[:], data.qvel[:] = 0.4, 0.7
    mujoco.mj_forward(m, data)
    np.testing.assert_allclose(kn.forward_dynamics(model, data.qpos, data.qvel, [0.0]), data.qacc, rtol=1e-12)


def test_flags_that_turn_things_off():
    text = """<mujoco><option><flag gravity="disable" equality="disable" frictionloss="disable"/></option><worldbody>
      <body name="a"><joint name="j" frictionloss="1"/><geom size="0.1"/></body></worldbody>
      <equality><weld name="w" body1="a"/></equality></mujoco>"""
    model = read_mjcf(text)
    assert (model.gravity, model.loops, model.joints[0].friction) == ((0.0, 0.0, 0.0), (), (0.0,))
