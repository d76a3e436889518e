"""Spatial tendons of MJCF as lines, against MuJoCo itself: lengths, rates, moment arms, accelerations; and out."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle import elements
from knuckle.elements import (
    Cable,
    ConstantTension,
    CubicMuscle,
    Drag,
    Line,
    LinePoint,
    Pulley,
    SlackSpring,
    Spring,
    Wrap,
)
from knuckle.errors import ModelError
from knuckle.formats import adapters, from_mujoco, read_mjcf, to_mjcf
from knuckle.model import Model

mujoco = pytest.importorskip("mujoco")

# Shoulder and elbow with six tendons: over a cylinder or a sphere with a side, over one without, through via points,
# over both joints; one on a cylinder that is placed askew and one through a ring.
ARM = """
<mujoco model="two-joint arm"><compiler angle="radian"/>
<option gravity="0.4 -9 0.3"><flag contact="disable" limit="disable"/></option>
<worldbody>
  <site name="chest" pos="-0.12 0.02 0.03"/><site name="back" pos="-0.09 -0.06 0.01"/>
  <site name="front side" pos="0.02 0.09 0"/><site name="back side" pos="-0.02 -0.08 0"/>
  <geom name="shoulder" type="cylinder" size="0.05 0.06" pos="0.01 0 0" euler="0.05 0.1 0"/>
  <body name="upper"><joint name="shoulder" axis="0.1 0.1 1" damping="0.02" armature="0.01"/>
    <inertial pos="0.13 0 0" mass="1.5" diaginertia="0.002 0.012 0.012"/>
    <site name="u0" pos="0.09 0.03 0.01"/><site name="u1" pos="0.1 -0.035 0"/><site name="u2" pos="0.19 0.03 0.015"/>
    <site name="u3" pos="0.21 -0.03 -0.01"/>
    <body name="lower" pos="0.28 0.005 0">
      <joint name="elbow" axis="0 0.05 1" pos="0.005 -0.01 0" ref="0.2" damping="0.01"/>
      <inertial pos="0.12 0 0" mass="1.1" diaginertia="0.001 0.008 0.008"/>
      <geom name="elbow" type="sphere" size="0.035" pos="0.004 0.003 0"/>
      <geom name="ring" type="cylinder" size="0.02 0.01" pos="0.09 0.02 0" euler="1.57 0.1 0"/>
      <site name="elbow front" pos="0.01 0.06 0.01"/><site name="elbow back" pos="-0.01 -0.07 0"/>
      <site name="in the ring" pos="0.091 0.021 0.001"/>
      <site name="l0" pos="0.07 0.02 0.005"/><site name="l1" pos="0.05 -0.025 0"/><site name="l2" pos="0.2 0.01 0.02"/>
      <site name="l3" pos="0.04 0.05 -0.03"/>
    </body>
  </body>
</worldbody>
<tendon>
  <spatial name="SF" stiffness="120" damping="3">
    <site site="chest"/><geom geom="shoulder" sidesite="front side"/><site site="u0"/></spatial>
  <spatial name="SE" stiffness="90" springlength="0.12" damping="2">
    <site site="back"/><geom geom="shoulder" sidesite="back side"/><site site="u1"/></spatial>
  <spatial name="EF" stiffness="150" springlength="0.05 0.2">
    <site site="u2"/><geom geom="elbow" sidesite="elbow front"/><site site="l0"/></spatial>
  <spatial name="EE" damping="4">
    <site site="u3"/><geom geom="elbow" sidesite="elbow back"/><site site="l1"/></spatial>
  <spatial name="BF" stiffness="80" springlength="0 0.3">
    <site site="chest"/><geom geom="shoulder"/><site site="u0"/><site site="u2"/><geom geom="elbow"/><site site="l0"/>
  </spatial>
  <spatial name="BE">
    <site site="back"/><geom geom="shoulder" sidesite="back side"/><site site="u1"/><site site="u3"/>
    <geom geom="elbow" sidesite="elbow back"/><site site="l1"/></spatial>
</tendon>
</mujoco>
"""
PULLEYS = """
<mujoco><option><flag contact="disable"/></option>
<worldbody>
  <site name="a" pos="0 0 1"/><site name="b" pos="0.3 0 1"/><site name="c" pos="0.6 0.1 1"/>
  <body name="p" pos="0.1 0 0.5"><freejoint name="p"/><geom size="0.1"/><site name="p" pos="0.02 0.05 0.1"/></body>
  <body name="r" pos="0.5 0 0.4"><joint name="r" type="ball"/>
    <geom name="drum" type="cylinder" size="0.08 0.1" pos="0.1 0 0.2" euler="20 40 0"/><geom size="0.05"/>
    <site name="r0" pos="0.1 0.1 0"/><site name="r1" pos="-0.1 0.02 0.1"/><site name="side" pos="0.3 0.1 0.2"/></body>
</worldbody>
<tendon>
  <spatial name="block" stiffness="30" damping="2" springlength="0.2">
    <site site="a"/><site site="p"/><pulley divisor="2"/><site site="p"/><site site="b"/><site site="r0"/>
    <pulley divisor="3.5"/><site site="c"/><geom geom="drum" sidesite="side"/><site site="r1"/>
  </spatial>
  <spatial name="first" stiffness="20" springlength="0.1">
    <pulley divisor="4"/><site site="a"/><site site="r1"/></spatial>
</tendon></mujoco>
"""
RING = (
    ARM[: ARM.index("<tendon>")]
    + """
<tendon><spatial name="RING" stiffness="60" springlength="0.1" damping="1">
  <site site="u2"/><geom geom="ring" sidesite="in the ring"/><site site="l3"/></spatial></tendon></mujoco>
"""
)


def tendon_jacobian(m: Any, data: Any) -> np.ndarray:
    """∂l/∂v of all tendons, dense: sparse in MuJoCo's memory."""
    J, rows = np.zeros((m.ntendon, m.nv)), m if hasattr(m, "ten_J_rownnz") else data
    if data.ten_J.ndim == 2:
        return np.array(data.ten_J)
    for t in range(m.ntendon):
        at = slice(int(rows.ten_J_rowadr[t]), int(rows.ten_J_rowadr[t]) + int(rows.ten_J_rownnz[t]))
        J[t, np.ravel(rows.ten_J_colind)[at]] = np.ravel(data.ten_J)[at]
    return J


def check(m: Any, model: Model, seed: int = 0, states: int = 60, arms: float = 1e-9, reach: float = 2.0) -> set[int]:
    """Everything that a tendon is, in random states. Gives how many points MuJoCo's lines had: what was tested."""
    data, there, rng = mujoco.MjData(m), adapters.mujoco(model, m), np.random.default_rng(seed)
    kinds = set[int]()
    spatial = [t for t in range(m.ntendon) if m.wrap_type[m.tendon_adr[t]] != mujoco.mjtWrap.mjWRAP_JOINT]
    for _ in range(states):
        q0 = np.array(m.qpos0)
        mujoco.mj_integratePos(m, q0, rng.uniform(-reach, reach, m.nv), 1.0)
        data.qpos[:], data.qvel[:] = q0, rng.normal(size=m.nv)
        mujoco.mj_forward(m, data)
        kinds.update(np.array(data.ten_wrapnum).tolist())
        q, v = there.q_from(data.qpos), there.v_from(data.qpos, data.qvel)
        np.testing.assert_allclose(elements.lengths(model, q), data.ten_length[spatial], rtol=0, atol=1e-10)
        np.testing.assert_allclose(elements.rates(model, q, v), data.ten_velocity[spatial], rtol=0, atol=10 * arms)
        J = tendon_jacobian(m, data)[spatial]
        R = elements.moment_arms(model, q)
        for one in rng.normal(size=(2, m.nv)):
            np.testing.assert_allclose(-R @ there.v_from(data.qpos, one), J @ one, rtol=0, atol=10 * arms)
        a = kn.forward_dynamics(model, q, v, np.zeros(model.nv))
        expected = there.a_from(data.qpos, data.qvel, data.qacc)
        np.testing.assert_allclose(a, expected, rtol=arms, atol=arms * max(1.0, np.abs(expected).max()))
    return kinds


@pytest.mark.parametrize(
    ("text", "wrapped"), [(ARM, {2, 4, 6, 8, 10}), pytest.param(PULLEYS, {7, 9}, marks=pytest.mark.slow)]
)
def test_tendons_are_what_they_are_in_mujoco(text: str, wrapped: set[int]):
    m = mujoco.MjModel.from_xml_string(text)
    model = from_mujoco(m)
    assert not {note.subject for note in kn.audit(model).warnings} & {line.name for line in model.elements}
    kinds = check(m, model)
    assert wrapped & kinds, f"no line was on a surface: {kinds}"


@pytest.mark.slow
def test_a_line_through_a_ring_is_mujocos_to_its_own_tolerance():
    """MuJoCo finds the point on the edge to 1e-6; the length is least there, and good to 1e-12."""
    m = mujoco.MjModel.from_xml_string(RING)
    model = from_mujoco(m)
    (line,) = model.elements
    assert isinstance(line, Line)
    assert line.points[1] == Wrap("ring", 0.02, "cylinder", inside=True)
    assert 4 in check(m, model, arms=2e-5)


def test_what_lines_are_made_of():
    model = read_mjcf(ARM)
    laws = {line.name: line.law for line in model.elements if isinstance(line, Line)}
    start = elements.lengths(model, model.start)
    assert laws["SF"] == Spring(120.0, laws["SF"].rest, 3.0)  # type: ignore[attr-defined]
    assert laws["SF"].rest == pytest.approx(start[0], abs=1e-12)  # type: ignore[attr-defined]
    assert laws["SE"] == Spring(90.0, 0.12, 2.0)
    assert laws["EF"] == SlackSpring(150.0, 0.05, 0.2)
    assert laws["EE"] == Spring(0.0, 0.0, 4.0)
    assert laws["BF"] == Cable(80.0, 0.3)
    assert laws["BE"] == ConstantTension(0.0)
    line = model.elements[2]
    assert isinstance(line, Line)
    side = LinePoint("elbow front")
    assert line.points == (LinePoint("u2"), Wrap("elbow", 0.035, "sphere", side), LinePoint("l0"))
    block = read_mjcf(PULLEYS).elements[0]
    assert isinstance(block, Line)
    assert [x.divisor for x in block.points if isinstance(x, Pulley)] == [2.0, 3.5]


def installed() -> list[Path]:
    """The files of installed packages that have spatial tendons."""
    roots = [Path(mujoco.__file__).parent]
    try:
        import dm_control  # pyright: ignore[reportMissingImports]

        roots.append(Path(dm_control.__file__).parent / "suite")
    except ImportError:
        pass
    files = [file for root in roots for file in sorted(root.rglob("*.xml"))]
    return [file for file in files if "<spatial" in file.read_text(errors="replace")]


@pytest.mark.slow
@pytest.mark.parametrize("file", installed(), ids=lambda file: file.name)
def test_tendons_of_files_of_other_packages(file: Path):
    """Their other forces (limits, contact, actuators, air) are switched off."""
    spec = mujoco.MjSpec.from_file(str(file))
    for flag in ("CONTACT", "LIMIT", "EQUALITY", "FRICTIONLOSS", "ACTUATION", "CONSTRAINT"):
        spec.option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    m = spec.compile()
    m.opt.density = m.opt.viscosity = 0.0
    m.body_gravcomp[:] = 0.0
    m.tendon_stiffness[:], m.tendon_damping[:] = 12.0, 0.7
    for t in range(m.ntendon):
        if m.wrap_type[m.tendon_adr[t]] == mujoco.mjtWrap.mjWRAP_JOINT:
            m.tendon_stiffness[t] = m.tendon_damping[t] = 0.0
    model = from_mujoco(m)
    assert any(isinstance(x, Line) for x in model.elements)
    check(m, model, states=20, reach=0.7)


# out, and in again


@pytest.mark.parametrize("text", [ARM, PULLEYS, RING])
def test_out_and_in_again(text: str):
    model = read_mjcf(text)
    m = mujoco.MjModel.from_xml_string(to_mjcf(model))
    again = from_mujoco(m)
    assert again.elements == model.elements
    assert {frame.name for frame in again.frames} == {frame.name for frame in model.frames}
    check(m, again, states=20, arms=2e-5 if text is RING else 1e-9)


def built() -> Model:
    """Points off the frames that they name, a surface on a body, a side point inside the radius, a ring."""
    b = kn.Builder("crane")
    box = kn.model.solid_box(1.0, (0.2, 0.3, 0.4))
    b.body("mast", joint=kn.joints.Revolute("z"), inertia=box)
    b.body("boom", "mast", joint=kn.joints.Revolute("y"), at=(0.0, 0.0, 0.5), inertia=box)
    b.frame("hook", "boom", at=(0.6, 0.0, 0.0))
    drum = Wrap("mast", 0.1, "sphere", side=LinePoint("mast", (0.0, 0.01, 0.0)))
    b.cable("rope", [("base", (0.3, 0.2, -0.1)), drum, ("boom", (0.3, 0.1, 0.2))], stiffness=50.0, rest=0.4)
    eye = Wrap("hook", 0.05, "cylinder", inside=True)
    b.line("stay", ["hook", Wrap("hook", 0.05, "cylinder"), ("base", (0, 0, 1.0))], Spring(30.0, 0.2, 1.0))
    b.line("ring", [("boom", (0.5, 0.1, 0.1)), eye, ("base", (0.9, 0.1, 1.0))], SlackSpring(30.0, 0.2, 0.3, 1.0))
    return b.build()


@pytest.mark.slow
def test_lines_that_were_built_move_mujoco_alike():
    model = built()
    m = mujoco.MjModel.from_xml_string(to_mjcf(model))
    assert (m.ngeom, m.geom_contype.any(), m.geom_group.tolist()) == (2, False, [4, 4])
    check(m, model, arms=2e-5)
    again = from_mujoco(m)
    assert not any(body.visuals or body.collisions for body in (again.base, *again.bodies))
    check(m, again, arms=2e-5)
    names = {line.name: line for line in again.elements}
    assert [x for line in names.values() for x in line.points if isinstance(x, Wrap)][1:] == [  # type: ignore[attr-defined]
        Wrap("hook", 0.05, "cylinder"),
        Wrap("hook", 0.05, "cylinder", inside=True),
    ]
    assert to_mjcf(from_mujoco(mujoco.MjModel.from_xml_string(to_mjcf(again)))) == to_mjcf(again)


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (Drag("x", "boom", (1.0, 1.0, 1.0)), "Drag"),
        (Line("x", (LinePoint("mast"), LinePoint("hook")), ConstantTension(3.0)), "ConstantTension"),
        (Line("x", (LinePoint("mast"), LinePoint("hook")), CubicMuscle(10.0, 0.1)), "CubicMuscle"),
        (Line("x", (LinePoint("mast"), LinePoint("hook")), Cable(3.0, 0.1, 1.0)), "damper of a cable"),
    ],
)
def test_what_mjcf_has_no_words_for_is_an_error_or_a_comment(element: Any, words: str):
    model = built()
    model = dataclasses.replace(model, elements=(*model.elements, element))
    with pytest.raises(ModelError, match=words):
        to_mjcf(model)
    text = to_mjcf(model, lossy=True)
    assert words in text
    assert len(read_mjcf(text).elements) == (4 if "damper" in words else 3)


# what does not come over

LINE = """
<mujoco><option><flag contact="disable"/></option><worldbody><site name="w" pos="0.5 0.2 0.1"/>
  <body name="b"><joint name="j" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/><site name="s" pos=".3 .1 .1"/></body>
</worldbody><tendon><spatial name="t"{}><site site="w"/><site site="s"/></spatial></tendon>{}</mujoco>"""


@pytest.mark.parametrize(
    ("tendon", "after", "words"),
    [
        (' frictionloss="1"', "", "its frictionloss"),
        (' range="0 0.1"', "", "its range"),
        (' stiffness="0 1" springlength="0.1"', "", "higher terms of its stiffness"),
        (' damping="0 1"', "", "higher terms of its damping"),
        ("", '<actuator><motor tendon="t" armature="1"/></actuator>', "armature or damping of its actuator"),
    ],
)
def test_what_a_tendon_does_and_a_line_does_not_is_a_warning(tendon: str, after: str, words: str):
    try:
        m = mujoco.MjModel.from_xml_string(LINE.format(tendon, after))
    except ValueError:
        pytest.skip("a feature of newer MuJoCo versions")
    model = from_mujoco(m)
    assert [note.subject for note in kn.audit(model).warnings if words in note.text] == ["t"]
    data = mujoco.MjData(m)
    data.qvel[:] = 2.0
    mujoco.mj_forward(m, data)
    assert not np.allclose(kn.forward_dynamics(model, [0.0], [2.0], [0.0]), data.qacc)


@pytest.mark.parametrize(
    ("tendon", "flag"), [(' stiffness="9" springlength="0"', "spring"), (' damping="9"', "damper")]
)
def test_forces_that_the_file_switches_off_are_off(tendon: str, flag: str):
    text = LINE.format(tendon, f'<option><flag {flag}="disable"/></option>')
    m = mujoco.MjModel.from_xml_string(text)
    model = from_mujoco(m)
    assert model.elements[0].law == ConstantTension(0.0)  # type: ignore[attr-defined]
    check(m, model, states=3)


@pytest.mark.parametrize("word", ["stiffness", "damping"])
def test_springs_and_dampers_that_push_the_wrong_way_are_refused(word: str):
    with pytest.raises(ModelError, match=f"t.*{word} of a Spring is a finite number, zero or more, not -3"):
        read_mjcf(LINE.format(f' {word}="-3"', ""))


def test_a_side_site_on_another_body_moves_the_side():
    side = '<site name="s" pos=".3 .1 .1"/></body><body name="c"><joint axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>'
    side += '<site name="side" pos="0.6 0 0"/>'
    text = LINE.format(' stiffness="5" springlength="0.1"', "").replace('<site name="s" pos=".3 .1 .1"/>', side)
    text = text.replace('<site site="w"/>', '<site site="w"/><geom geom="g" sidesite="side"/>')
    text = text.replace('<site name="w"', '<geom name="g" size="0.2" pos="0.3 0.1 0" contype="0"/><site name="w"')
    m = mujoco.MjModel.from_xml_string(text)
    model = from_mujoco(m)
    assert [note for note in model.provenance.notes if "side site on another body" in note.text]
    check(m, model, reach=3.0)
