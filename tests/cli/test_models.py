"""`knuckle convert` and `knuckle export`: the files they write, what they say, their errors."""

import json
import shutil
import subprocess
from ctypes import CDLL, POINTER, c_double
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import knuckle as kn
from knuckle.cli.app import app
from knuckle.cli.commands.export import functions


def run(*arguments: Any, code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


# convert


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".json"])
@pytest.mark.parametrize("name", ["arm", "quadruped", "pendulum"])
def test_a_converted_file_is_the_same_mechanism(name: str, suffix: str, tmp_path: Path):
    out = tmp_path / f"robot{suffix}"
    run("convert", name, out)
    model, back = kn.robots.load(name), kn.load(out)
    assert back.joint_names == model.joint_names
    s = kn.testing.random_state(model, 0)
    one, two = (kn.inverse_dynamics(m, s.q, s.v, s.a) for m in (model, back))
    np.testing.assert_allclose(two, one, atol=1e-12 * np.abs(one).max())


def test_convert_says_that_nothing_was_lost(tmp_path: Path):
    out = tmp_path / "arm.json"
    assert run("convert", "arm", out).stdout == f"{out} written, nothing lost\n"


def test_convert_says_what_was_lost_together(tmp_path: Path):
    out = tmp_path / "arm.xml"
    first, second = run("convert", "arm", out).stdout.splitlines()
    assert first == f"{out} written, 7 things it cannot say:"
    assert second.startswith("  lost limits of velocity (shoulder_yaw, shoulder_pitch, ")
    assert second.endswith(" and 1 more)")
    told = json.loads(run("convert", "satellite", tmp_path / "s.urdf", "--json").stdout)
    assert told == {
        "file": str(tmp_path / "s.urdf"),
        "lost": [{"subject": "satellite", "text": "gravity (0.0, 0.0, 0.0)"}],
    }


def test_strict_refuses_and_writes_nothing(tmp_path: Path):
    out = tmp_path / "arm.xml"
    assert "limits of velocity" in run("convert", "arm", out, "--strict", code=1).stderr
    assert not out.exists()


def test_a_loop_goes_through_urdf(tmp_path: Path):
    """URDF has no word for loops; our own element has, and other readers skip it."""
    run("convert", "four_bar", tmp_path / "f.urdf")
    model, back = kn.robots.load("four_bar"), kn.load(tmp_path / "f.urdf")
    assert [loop.name for loop in back.loops] == [loop.name for loop in model.loops]
    q = kn.neutral(model) + 0.1
    np.testing.assert_allclose(kn.loops.error(back, q), kn.loops.error(model, q), atol=1e-12)


@pytest.mark.parametrize("name", ["robot.sdf", "robot"])
def test_an_unknown_suffix_is_refused(name: str, tmp_path: Path):
    (line,) = run("convert", "arm", tmp_path / name, code=2).stderr.splitlines()
    assert line == f"error: {tmp_path / name}: models are written as .urdf, .xml, .json, by the suffix of the file"


def test_convert_names_a_place_it_cannot_write_to(tmp_path: Path):
    (line,) = run("convert", "arm", tmp_path / "no" / "arm.json", code=2).stderr.splitlines()
    assert "there is no folder" in line
    assert ".tmp" not in line


def test_options_reach_the_reader(tmp_path: Path):
    run("convert", "arm", tmp_path / "a.json", "--base", "floating", "--no-merge")
    model = kn.load(tmp_path / "a.json", merge_fixed=False)
    assert model.joint_names[0] == "floating_base"
    assert "tool0" in model.body_names


# export


def test_export_writes_what_the_library_prints(tmp_path: Path):
    model, out = kn.robots.load("arm"), tmp_path / "arm.c"
    assert run("export", "arm").stdout == kn.inverse_dynamics.source(model, language="c")
    text = kn.jacobian.source(model, language="llvm", dtype="float32", frame="tool0")
    shown = run("export", "arm", "-f", "jacobian", "--frame", "tool0", "-l", "llvm", "--dtype", "float32", "-o", out)
    assert out.read_text("utf-8") == text
    assert shown.stdout.replace("\n", "") == f"{out}: jacobian for arm, {len(text.splitlines())} lines of llvm"


def test_export_has_a_prefix_and_a_header(tmp_path: Path):
    out, header = tmp_path / "arm.c", tmp_path / "arm.h"
    run("export", "arm", "-f", "gravity_force", "--prefix", "arm_", "--header", header, "-o", out)
    model = kn.robots.load("arm")
    assert out.read_text("utf-8") == kn.gravity_force.source(model, language="c", prefix="arm_")
    assert header.read_text("utf-8") == kn.gravity_force.header(model, prefix="arm_")
    assert "void arm_gravity_force(const double *q, double *out);" in header.read_text("utf-8")
    (line,) = run("export", "arm", "--prefix", "1-", code=2).stderr.splitlines()
    assert "--prefix 1-: letters" in line
    (line,) = run("export", "arm", "-l", "llvm", "--header", header, code=2).stderr.splitlines()
    assert "llvm has no headers" in line


def test_exported_c_computes_the_same(tmp_path: Path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source, library = tmp_path / "arm.c", tmp_path / "arm.so"
    run("export", "arm", "-f", "forward_dynamics", "--external-forces", "-o", source)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library), "-lm"], check=True)
    model = kn.robots.load("arm")
    s = kn.testing.random_state(model, 1)
    out, arrays = np.zeros(7), [np.ascontiguousarray(x, float) for x in (s.q, s.v, s.a, s.f_ext)]
    CDLL(str(library)).forward_dynamics(*(x.ctypes.data_as(POINTER(c_double)) for x in (*arrays, out)))
    expected = kn.forward_dynamics(model, s.q, s.v, s.a, s.f_ext)
    condition = np.linalg.cond(kn.mass_matrix(model, s.q))
    np.testing.assert_allclose(out, expected, atol=1e-14 * condition * np.abs(expected).max())


def test_every_function_is_known():
    assert {"inverse_dynamics", "mass_matrix", "jacobian", "potential_energy"} <= functions().keys()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("-f", "jacobain"), "--function jacobain: no such function; did you mean jacobian"),
        (("-f", "xyz"), "--function xyz: no such function; there are: "),
        (("-f", "jacobian"), "--frame is missing: jacobian is about one of base_link, turret"),
        (("-f", "jacobian", "--frame", "tool"), "--frame tool: no such frame; did you mean tool0?"),
        (("--frame", "tool0"), "--frame tool0: inverse_dynamics is not about a frame"),
        (("-f", "mass_matrix", "--external-forces"), "--external-forces: mass_matrix takes none"),
    ],
)
def test_wrong_words_are_one_line(arguments: tuple[str, ...], complaint: str):
    (line,) = run("export", "arm", *arguments, code=2).stderr.splitlines()
    assert line.startswith(f"error: {complaint}")


@pytest.mark.parametrize("arguments", [("--language", "ada"), ("--dtype", "float16")])
def test_wrong_choices_show_the_right_ones(arguments: tuple[str, ...]):
    assert (
        "'c'" in run("export", "arm", *arguments, code=2).output
        or "float32" in run("export", "arm", *arguments, code=2).output
    )
