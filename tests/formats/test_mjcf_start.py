"""Where an MJCF file starts (qpos0), its keyframes, and both through writing; against MuJoCo itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.errors import ModelError
from knuckle.formats import adapters, from_mujoco, read_mjcf, to_json, to_mjcf, to_urdf
from knuckle.model import Keyframe, Model

mujoco: Any = pytest.importorskip("mujoco")

# Free bodies in several places, references on several joints of one body, a ball, and a follower, all with keyframes.
SCENE = """
<mujoco model="scene"><compiler angle="radian"/>
<worldbody>
  <body name="a" pos="0 0 1"><freejoint name="fa"/><geom size=".1"/></body>
  <body name="b" pos="2 0 1" quat="0.5 -0.5 0.1 0.7"><freejoint name="fb"/><geom size=".1"/></body>
  <body name="arm" pos="0 1 0" euler="0.1 0.2 0.3">
    <joint name="h" type="hinge" axis="0 1 1" pos="0.1 0 0.2" ref="0.8" springref="0.3" stiffness="2" range="-1 2"/>
    <joint name="s" type="slide" axis="1 0 1" ref="-0.3"/>
    <geom type="capsule" size=".02" fromto="0 0 0 1 0 0"/>
    <body name="hand" pos="1 0 0"><joint name="ball" type="ball"/><geom size=".1" pos="0 0 .2"/>
      <body name="finger" pos="0 0.1 0"><joint name="f" axis="1 0 0" ref="0.25"/><geom size=".02" pos="0 0 .1"/></body>
      <body name="thumb" pos="0 -0.1 0"><joint name="t" axis="1 0 0" ref="-0.5"/><geom size=".02" pos="0 0 .1"/></body>
    </body>
  </body>
</worldbody>
<equality><joint joint1="t" joint2="f" polycoef="0 -2 0.5 0 0"/></equality>
<actuator><motor name="m" joint="h"/><motor joint="s"/></actuator>
<keyframe>
  <key name="home" time="1.5" ctrl="3 4"
    qpos="1 2 3 2 0 0 1  0 0 0 1 0 0 0  0.1 -0.2  0.6 0 0.8 0  0.5 -0.96875"
    qvel="1 2 3 4 5 6  .1 .2 .3 .4 .5 .6  1 2  3 4 5  0.5 -0.875"/>
  <key/>
</keyframe></mujoco>
"""
ONE_JOINT_PER_BODY = SCENE.replace('<joint name="s" type="slide" axis="1 0 1" ref="-0.3"/>', "").replace(
    'pos="0.1 0 0.2" ref', "ref"
).replace("0.1 -0.2  0.6", "0.1  0.6").replace("  1 2  3 4 5", "  1  3 4 5").replace(
    '<motor joint="s"/>', ""
).replace('ctrl="3 4"', 'ctrl="0"')  # fmt: skip


def worst_pose(m: Any, data: Any, model: Model, q: Any) -> float:
    """The largest difference of any body's place or axes from MuJoCo's."""
    worst = 0.0
    for b in range(1, m.nbody):
        pose = kn.pose(model, np.asarray(q), m.body(b).name or f"body{b}")
        worst = max(worst, np.abs(pose[:3, 3] - data.xpos[b]).max(), np.abs(pose[:3, :3].ravel() - data.xmat[b]).max())
    return worst


def test_the_start_is_qpos0():
    m = mujoco.MjModel.from_xml_string(SCENE)
    model, data = from_mujoco(m), mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    assert worst_pose(m, data, model, kn.neutral(model)) < 1e-14
    np.testing.assert_allclose(adapters.mujoco(model, m).q_to(kn.neutral(model)), m.qpos0, atol=1e-15)
    assert model.joints[2].start == (0.8,)
    assert (model.joints[2].limits.lower, model.joints[2].rest) == ((-1.0,), (0.3,))  # in the same coordinates
    # a spring stretched by as much as MuJoCo's
    spring = kn.joint_passive_force(model, kn.neutral(model), np.zeros(model.nv))
    assert spring[model.v_slices[2]] == pytest.approx(-data.qfrc_spring[m.joint("h").dofadr[0]])


@pytest.mark.slow
def test_keyframes():
    """q, v, controls and times; a follower is where its coupling puts it."""
    m = mujoco.MjModel.from_xml_string(SCENE)
    model, data = from_mujoco(m), mujoco.MjData(m)
    there = adapters.mujoco(model, m)
    assert [key.name for key in model.keyframes] == ["home", "keyframe1"]
    for k, key in enumerate(model.keyframes):
        mujoco.mj_resetDataKeyframe(m, data, k)
        mujoco.mj_forward(m, data)
        assert worst_pose(m, data, model, key.q) < 1e-14
        np.testing.assert_allclose(there.v_to(np.array(key.q), np.array(key.v)), data.qvel, atol=1e-14)
        np.testing.assert_array_equal(key.ctrl, data.ctrl)
        assert key.time == data.time
    assert model.keyframe("home") is model.keyframes[0]
    with pytest.raises(KeyError, match="did you mean 'home'"):
        model.keyframe("hom")
    motion = kn.simulate(model, model.keyframe("home").q, model.keyframe("home").v, 0.01)
    np.testing.assert_allclose(motion.q[0], model.keyframe("home").q)


def test_a_state_that_does_not_meet_its_coupling_is_noted():
    text = SCENE.replace('polycoef="0 -2', 'polycoef="0.1 -2')
    notes = [note.text for note in read_mjcf(text).provenance.notes if note.subject == "t"]
    assert notes[0] == "the start has it at -0.5, its coupling at -0.4, where it is here"
    assert notes[1].startswith("keyframe 'home'")
    assert not [note for note in read_mjcf(SCENE).provenance.notes if note.subject == "t"]


def test_what_a_floating_base_adds_starts_where_the_file_has_the_body():
    text = '<mujoco><worldbody><body name="a" pos="1 2 3" quat="0 1 0 0"><geom size=".1"/></body></worldbody></mujoco>'
    model = read_mjcf(text, base="floating")
    np.testing.assert_allclose(kn.pose(model, kn.neutral(model), "a")[:3, 3], [1, 2, 3])
    assert kn.pose(model, kn.neutral(model), "a")[1, 1] == -1


# and out


def test_writing_keeps_the_start_and_the_keyframes():
    model = read_mjcf(ONE_JOINT_PER_BODY)
    assert model.nb == 6
    text = to_mjcf(model)
    again = read_mjcf(text)
    for old, new in zip(model.joints, again.joints, strict=True):
        assert new.start == pytest.approx(old.start, abs=1e-15), old.name
    for old, new in zip(model.keyframes, again.keyframes, strict=True):
        np.testing.assert_allclose(new.q, old.q, atol=1e-15)
        np.testing.assert_allclose(new.v, old.v, atol=1e-15)
        assert (new.name, new.time) == (old.name, old.time)
    rng = np.random.default_rng(0)
    q, v = kn.random_configuration(model, rng), rng.standard_normal(model.nv)
    for name in model.frame_names:
        np.testing.assert_allclose(kn.pose(again, q, name), kn.pose(model, q, name), atol=1e-14)
    np.testing.assert_allclose(kn.inverse_dynamics(again, q, v, v), kn.inverse_dynamics(model, q, v, v), atol=1e-12)
    m = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(m)
    for k in range(m.nkey):
        mujoco.mj_resetDataKeyframe(m, data, k)
        mujoco.mj_forward(m, data)
        assert worst_pose(m, data, model, model.keyframes[k].q) < 1e-14
    mujoco.mj_resetData(m, data)
    mujoco.mj_forward(m, data)
    assert worst_pose(m, data, model, kn.neutral(model)) < 1e-14


def test_json_keeps_them_all():
    model = read_mjcf(SCENE)
    again = kn.formats.loads(to_json(model))
    assert again == model
    assert (again.keyframes, again.start) == (model.keyframes, model.start)
    assert "keyframes" not in to_json(model.replace(keyframes=()))


def test_what_cannot_be_said_is_refused_or_listed():
    b = kn.Builder("ball", base="world")
    b.body("x", joint=kn.joints.Spherical(), joint_name="j", mass=1.0, inertia=(1, 1, 1), start=(0.0, 1.0, 0.0, 0.0))
    with pytest.raises(ModelError, match=r"j: MJCF cannot say: that it starts at"):
        to_mjcf(b.build())
    assert "starts at" in to_mjcf(b.build(), lossy=True)
    model = read_mjcf(ONE_JOINT_PER_BODY)
    with pytest.raises(ModelError, match="home: MJCF cannot say: inputs of actuators"):
        to_mjcf(model.replace(keyframes=(Keyframe("home", model.start, (0.0,) * model.nv, (1.0,)),)))
    hinge = read_mjcf('<mujoco><worldbody><body><joint name="j" ref="30"/><geom size="1"/></body></worldbody></mujoco>')
    with pytest.raises(ModelError, match=r"j: URDF cannot say: that it starts at"):
        to_urdf(hinge)
    assert "starts at" in to_urdf(hinge, lossy=True)
    with pytest.raises(ModelError, match="home: URDF cannot say: a keyframe"):
        to_urdf(kn.robots.load("arm").replace(keyframes=(Keyframe("home", (0.0,) * 7, (0.0,) * 7),)))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('"q": [1], "v": [0]', "q of the keyframe has 1 entries"),
        ('"q": [0, 0, 0, 0, 0, 0, 0]', "v: missing"),
        ('"q": 3, "v": []', "expected a list"),
    ],
)
def test_keyframes_of_json_are_checked(entry: str, words: str):
    text = to_json(kn.robots.load("arm"))
    text = text.rstrip()[:-1] + ', "keyframes": [{"name": "k", ' + entry + "}]}"
    with pytest.raises(ModelError, match=words):
        kn.formats.loads(text)


# every model of dm_control


def dm_control_files() -> list[Any]:
    spec = importlib.util.find_spec("dm_control")
    if spec is None or not spec.submodule_search_locations:
        return [pytest.param(None, marks=pytest.mark.skip(reason="dm_control is not installed"))]
    root = Path(next(iter(spec.submodule_search_locations)))
    return [pytest.param(path, id=str(path.relative_to(root))) for path in sorted(root.rglob("*.xml"))]


@pytest.mark.slow
@pytest.mark.parametrize("path", dm_control_files())
def test_dm_control(path: Path):
    """Every body is where MuJoCo has it, at the start and in every keyframe."""
    try:
        m = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        pytest.skip(f"MuJoCo does not read it alone: {str(error)[:80]}")
    model, data = kn.load(path), mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    assert worst_pose(m, data, model, kn.neutral(model)) < 1e-14
    for k, key in enumerate(model.keyframes):
        mujoco.mj_resetDataKeyframe(m, data, k)
        mujoco.mj_forward(m, data)
        assert worst_pose(m, data, model, key.q) < 1e-14
