"""`knuckle sweep`: a study file, what it prints and writes, and what is wrong with others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import knuckle as kn
from knuckle.cli.app import app
from knuckle.cluster import sweeping

pytest.importorskip("zarr", reason="the extra `cluster` is not installed")

STUDY = """
model = "pendulum"
kernel = "functions.py:double"
[design]
kind = "random"
count = 50
seed = 3
[design.ranges]
x = [0.0, 1.0]
y = { normal = [0.0, 1.0], shape = 2 }
[parameters]
factor = 2.0
[run]
chunk = 16
"""
FUNCTIONS = """
def double(model, x, y, factor):
    return {"doubled": factor * x}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def run(*arguments: Any, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["sweep", *map(str, arguments)], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_a_study_is_computed_and_reported(study: Path) -> None:
    shown = run(study).stdout
    assert "sweep of pendulum: 50 samples of x, y" in shown
    found = kn.cluster.read_sweep(study.with_suffix(".sweep"))
    assert (found["doubled"][:] == 2 * found["x"][:]).all()
    said = json.loads(run(study, "--json").stdout)
    assert said["samples"] == 50
    assert said["chunks"] == 4
    assert said["results"]["doubled"]["mean"] == found.summary["doubled"].mean
    assert run(study, "--into", study.parent / "other", "--quiet").exit_code == 0
    assert kn.cluster.read_sweep(study.parent / "other").is_complete


def test_ctrl_c_says_what_is_there(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*args: Any) -> None:
        raise KeyboardInterrupt("stopped: 1 of 4 chunks are in here; the same call goes on with the rest")

    monkeypatch.setattr(sweeping, "_carried_out", stopped)
    assert "1 of 4 chunks" in run(study, code=130).output


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"random"', '"radom"', "design.kind is 'radom'; did you mean 'random'"),
        ("count = 50", "", "design.count is missing"),
        ("count = 50", "counts = 50", "no entry 'design.counts'; did you mean 'count'"),
        ("[run]", "[runs]", "no entry 'runs'; did you mean 'run'"),
        ("chunk = 16", "chunk = 0", "chunk must be a whole number from 1"),
        ("x = [0.0, 1.0]", "x = 3", "x=3 is no range"),
        ("normal =", "gauss =", "y must be \\[low, high\\] or"),
        (":double", ":duble", "functions.py has no 'duble'; did you mean 'double'"),
        ("functions.py", "funktions.py", "there is no file .*funktions.py"),
        ('"pendulum"', '"pendulun"', "no bundled robot; did you mean 'pendulum'"),
        ('model = "pendulum"', "", "model is missing"),
        ("[design]", "[design", "study.toml: .*line"),
        ("factor =", "facter =", "double asks for 'factor'"),
    ],
)
def test_what_is_wrong_is_one_line(study: Path, old: str, new: str, says: str) -> None:
    text = study.read_text()
    assert old in text
    study.write_text(text.replace(old, new))
    output = run(study, code=2).output
    assert output.startswith("error: ")
    assert re.search(says, " ".join(output.split())), output


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "nothing.toml" in run(tmp_path / "nothing.toml", code=2).output
    assert "--plot" in run(tmp_path / "nothing.toml", "--plot", "a.txt", code=2).output
