"""What a terminal would obey does not reach it: names with control characters are refused, other text is escaped."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import knuckle as kn
from knuckle.cli.app import app
from knuckle.errors import ModelError, printable
from knuckle.formats import to_json
from knuckle.model import Body, Builder, Frame, Keyframe, Note, edit

RED = "\x1b[31mred"
CONTROL = {"escape": RED, "CSI": "\x9b31m", "bell": "\x07", "delete": "a\x7f", "line": "a\nb", "return": "a\rb",
           "separator": "a\u2028b", "override": "\u202eabc"}  # fmt: skip


def shown(text: str) -> bool:
    """Whether a terminal would show all of it."""
    return all(printable(line) == line for line in text.split("\n"))


def test_printable():
    assert printable("Ärmel 腕 a_b/c 🤖 −1") == "Ärmel 腕 a_b/c 🤖 −1"
    assert printable(RED) == r"\x1b[31mred"
    assert printable("a\nb\x9bc\udc80") == r"a\nb\x9bc\udc80"
    assert str(ModelError("a\x1bb", file="f\x07", element="e\x9b")) == r"f\x07: e\x9b: a\x1bb"


@pytest.mark.parametrize("name", CONTROL.values(), ids=CONTROL)
def test_no_part_of_a_model_has_such_a_name(name: str):
    arm = kn.robots.load("arm")
    b = Builder()
    b.body("a", joint=kn.joints.Revolute("z"), joint_name=name, mass=1.0)
    for make in (
        b.build,
        lambda: Builder(name).build(),
        lambda: arm.replace(base=dataclasses.replace(arm.base, name=name)),
        lambda: arm.replace(frames=(Frame(name, 0),)),
        lambda: arm.replace(keyframes=(Keyframe(name, arm.start, arm.start),)),
        lambda: edit.rename(arm, bodies={"elbow": name}),
        lambda: edit.attach(arm, "tool0", Body(name, arm.I[0])),
    ):
        with pytest.raises(ModelError, match="holds a control character") as caught:
            make()
        assert shown(str(caught.value))


@pytest.mark.parametrize("name", CONTROL.values(), ids=CONTROL)
def test_json(name: str):
    """In any text of it; in the notes of its provenance, which are only told, they are escaped."""
    whole = json.loads(to_json(kn.robots.load("pendulum")))
    for place, change in {
        "$.name": {"name": name},
        "$.base.name": {"base": {**whole["base"], "name": name}},
        "$.bodies[0].visuals[0].name": {
            "bodies": [{**whole["bodies"][0], "visuals": [{"shape": {"type": "Sphere", "radius": 1.0}, "name": name}]}]
        },
    }.items():
        with pytest.raises(ModelError, match="holds a control character") as caught:
            kn.formats.loads(json.dumps(whole | change))
        assert caught.value.element == place
        assert shown(str(caught.value))
    for document in (whole | {name: 1}, whole | {"joints": [{name: 1}]}, whole | {"algebra": name}):
        with pytest.raises(ModelError) as caught:
            kn.formats.loads(json.dumps(document))
        assert shown(str(caught.value))
    notes = {"file": f"{name}.urdf", "notes": [{"level": "warning", "subject": name, "text": name}]}
    model = kn.formats.loads(json.dumps(whole | {"provenance": notes}))
    assert model.provenance.notes == (Note("warning", printable(name), printable(name)),)
    assert shown(str(kn.audit(model)))


@pytest.mark.parametrize("code", ["9b", "7f", "85", "202e"])
@pytest.mark.parametrize(
    "text",
    [
        '<robot name="r">\n<link name="{}"/></robot>',
        '<mujoco>\n<worldbody><body name="{}"/></worldbody></mujoco>',
        '<robot name="r">\n<link name="a"/><gazebo {}="1"/></robot>',
    ],
)
def test_xml(text: str, code: str):
    with pytest.raises(ModelError) as caught:
        kn.formats.loads(text.format(f"b&#x{code};31m" if "{}=" not in text else chr(int(code, 16))))
    assert caught.value.line == 2
    assert shown(str(caught.value))


def test_file_names(tmp_path: Path):
    path = tmp_path / f"{RED}.json"
    path.write_text("{}")
    with pytest.raises(ModelError) as caught:
        kn.load(path)
    assert shown(str(caught.value))
    assert caught.value.file == str(path)  # as it is, for programs
    kn.save(kn.robots.load("arm"), path)
    model = kn.load(path)
    assert shown(str(kn.audit(model)))
    again = kn.formats.loads(to_json(model.replace(provenance=dataclasses.replace(model.provenance, file=str(path)))))
    assert again == model


@pytest.mark.parametrize("command", [["info"], ["check"], ["simulate", "--duration", "0.01"], ["convert"]])
def test_command_line(tmp_path: Path, command: list[str]):
    good, bad = tmp_path / f"{RED}.json", tmp_path / f"bad{RED}.json"
    kn.save(kn.robots.load("pendulum"), good)
    bad.write_text(to_json(kn.robots.load("pendulum")).replace('"pendulum"', json.dumps(RED)))
    for path in (good, bad, tmp_path / f"none{RED}.json"):
        more = [str(tmp_path / f"out{RED}.json")] if command == ["convert"] else []
        result = CliRunner().invoke(app, [*command, str(path), *more])
        assert shown(result.output), result.output
        assert (result.exit_code == 0) == (path == good), result.output
