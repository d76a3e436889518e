"""The command `knuckle`: every command, its errors, its JSON."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import knuckle as kn
from knuckle import robots
from knuckle.cli.app import app

COUPLED = """<robot name="coupled">
  <link name="base"/>
  <link name="left">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lead" type="revolute"><parent link="base"/><child link="left"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics friction="0.25"/></joint>
  <joint name="follow" type="revolute"><parent link="base"/><child link="right"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-2" upper="2" effort="1" velocity="1"/><mimic joint="lead" multiplier="-2" offset="0.5"/></joint>
</robot>"""

COMMANDS = sorted(command.callback.__name__ for command in app.registered_commands if command.callback)

HEAVY = COUPLED.replace('<mass value="1"/>', '<mass value="-1"/>', 1)


def run(*arguments: Any, code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.fixture
def coupled(tmp_path: Path) -> Path:
    path = tmp_path / "coupled.urdf"
    path.write_text(COUPLED)
    return path


# knuckle


def test_help_shows_every_command_and_examples():
    shown = run("--help").stdout
    for word in (*COMMANDS, "Examples", "knuckle info robot.urdf", "--install-completion"):
        assert word in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_examples(command: str):
    shown = " ".join(run(command, "--help").stdout.split())
    assert "Examples:" in shown
    assert f"knuckle {command}" in shown


def test_version():
    assert run("--version").stdout == f"knuckle {kn.__version__}\n"


# info


def test_info_of_a_bundled_robot():
    shown = run("info", "arm").stdout
    for word in ("16.7 kg", "nq = 7", "shoulder_pitch", "revolute y", "base_link → turret", "−2.2 … 2.2 rad", "tool0"):
        assert word in shown
    assert "shoulder_yaw: friction 0.2" in shown


def test_info_of_a_file(coupled: Path):
    shown = run("info", coupled).stdout
    assert "nq = 1" in shown
    assert "q[follow] = -2 q[lead] +0.5" in shown
    assert "revolute (0, 0.6, 0.8)" in shown


def test_info_json_is_the_model(coupled: Path):
    about = json.loads(run("info", coupled, "--json").stdout)
    assert (about["name"], about["bodies"], about["nq"], about["nv"], about["mass"]) == ("coupled", 2, 1, 1, 2.0)
    lead, follow = about["joints"]
    assert lead | {"mass": 1.0} == lead
    assert (lead["parent"], lead["body"], lead["axis"], lead["lower"]) == ("base", "left", [0.0, 0.0, 1.0], [-1.0])
    assert lead["friction"] == [0.25]
    assert follow["follows"] == {"sources": ["lead"], "law": "-2 q[lead] +0.5"}
    assert (lead["q"], follow["q"]) == ([0, 1], [1, 1])


def test_json_has_null_where_there_is_no_limit():
    about = json.loads(run("info", "arm", "--base", "floating", "--json").stdout)
    first = about["joints"][0]
    assert (first["name"], first["type"], first["q"], first["v"]) == ("floating_base", "free", [0, 7], [0, 6])
    assert first["lower"] == [None] * 7
    assert first["effort"] == [None] * 6
    assert (about["nq"], about["nv"]) == (14, 13)


def test_no_mimic_frees_the_joint(coupled: Path):
    about = json.loads(run("info", coupled, "--no-mimic", "--json").stdout)
    assert (about["nq"], about["joints"][1]["follows"]) == (2, None)


def test_a_file_goes_before_a_bundled_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm").write_text(COUPLED)
    assert "coupled" in CliRunner().invoke(app, ["info", "arm"]).output


# check


def test_check_of_a_good_model():
    shown = run("check", "arm").stdout
    assert shown.rstrip().endswith("fit for use.")
    assert "Errors:\n" not in shown


def test_check_finds_errors(tmp_path: Path):
    path = tmp_path / "heavy.urdf"
    path.write_text(HEAVY)
    shown = run("check", path, code=1).stdout
    assert "left" in shown
    assert "Errors:\n" in shown
    assert "not fit for use" in shown
    found = json.loads(run("check", path, "--json", code=1).stdout)
    assert found["ok"] is False
    assert any(note["subject"] == "left" and "mass" in note["text"] for note in found["errors"])
    assert {note["from"] for note in (*found["errors"], *found["infos"])} == {"model", "reading"}


def test_check_json_of_a_good_model():
    found = json.loads(run("check", "arm", "--json").stdout)
    assert (found["ok"], found["errors"], found["warnings"]) == (True, [], [])
    assert found["infos"]


# errors


@pytest.mark.parametrize("command", ["info", "check"])
def test_a_missing_file_is_one_line(command: str):
    result = run(command, "nowhere.urdf", code=2)
    (line,) = result.stderr.splitlines()
    assert line == f"error: nowhere.urdf: no such file; bundled robots: {', '.join(robots.names())}"
    assert result.stdout == ""


def test_a_near_miss_is_pointed_out(coupled: Path):
    wrong = coupled.with_name("coupeld.urdf")
    assert f"did you mean {coupled}?" in run("info", wrong, code=2).stderr
    assert "did you mean arm?" in run("info", "amr", code=2).stderr


def test_a_bad_file_is_one_line_with_its_place(tmp_path: Path):
    path = tmp_path / "bad.urdf"
    path.write_text(COUPLED.replace('<child link="right"/>', '<child link="rigth"/>'))
    (line,) = run("info", path, code=1).stderr.splitlines()
    assert line.startswith(f"error: {path}:9: ")
    assert "rigth" in line


def test_a_folder_is_refused(tmp_path: Path):
    (tmp_path / "robot.urdf").write_text(COUPLED)
    (line,) = run("info", tmp_path, code=2).stderr.splitlines()
    assert line == f"error: {tmp_path}: a folder, not a model file; it holds robot.urdf"


def test_a_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    path = tmp_path / "arm.xml"
    path.write_text("<mujoco><worldbody/></mujoco>")
    monkeypatch.setitem(sys.modules, "mujoco", None)
    (line,) = run("info", path, code=2).stderr.splitlines()
    assert "install mujoco" in line


def test_an_unknown_base_is_refused():
    assert "floating" in run("info", "arm", "--base", "soft", code=2).output


def test_an_impossible_body_is_a_line_of_warning(tmp_path: Path):
    path = tmp_path / "heavy.urdf"
    path.write_text(HEAVY)
    (line,) = run("info", path).stderr.splitlines()
    assert line.startswith(f"warning: {path}: link 'left' has a negative mass, -1 kg: no body can be like that")
    assert not run("check", path, code=1).stderr  # its report says it
    with pytest.warns(RuntimeWarning, match="link 'left' has a negative mass") as raised:
        kn.load(path)
    assert len(raised) == 1


def test_names_in_errors_stay_as_they_are(tmp_path: Path):
    path = tmp_path / "smile.urdf"
    path.write_text('<robot name="r"><link name="x"/><joint name=":smile:" type="foo"/></robot>')
    assert "joint ':smile:'" in run("info", path, code=1).stderr


@pytest.mark.slow
def test_a_reader_that_ends_is_no_error():
    whole = f"{sys.executable} -m knuckle export pendulum | head -n 1"
    done = subprocess.run(["bash", "-c", whole], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_strict_speaks_of_the_command_line(tmp_path: Path):
    (line,) = run("convert", "satellite", tmp_path / "s.urdf", "--strict", code=1).stderr.splitlines()
    assert "without --strict that is left out" in line
    assert "lossy" not in line


def test_actuators_are_listed(tmp_path: Path):
    kn.save(kn.actuators.with_motors(kn.robots.load("arm")), tmp_path / "arm.json")
    assert "elbow_pitch: motor actuator elbow_pitch, control −100 … 100" in run("info", tmp_path / "arm.json").output
