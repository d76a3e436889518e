"""`knuckle cache`: what is kept on disk, and how it goes."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import knuckle as kn
from knuckle.cli.app import app
from knuckle.cli.commands.cache import age, size
from knuckle.engine.kernels.kernel_registry import kernels


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(kernels, "policy", "always")
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "kernels"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["cache", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def compute() -> None:
    """Two kernels of a model that no other test has in memory."""
    model = kn.testing.general_chain(2).with_gravity((0, 0, -time.time()))
    kn.gravity_force(model, np.zeros((3, 2)))
    kn.mass_matrix(model, np.zeros((3, 2), np.float32))


def test_an_empty_folder(place: Path):
    assert run() == f"0 kernels, 0.0 kB of 1.0 GB, in {place}\n"
    assert run("--clear") == f"0 kernels thrown away from {place}\n"
    assert not place.exists()


def test_the_list(place: Path):
    compute()
    for file in place.iterdir():
        os.utime(file, (time.time() - 7300,) * 2)
    lines = [line.split() for line in run().splitlines() if line.strip()]
    assert lines[0] == ["model", "function", "dtype", "size", "age"]
    rows = [line for line in lines if "kB" in line and "kernels," not in line]
    assert [row[-6:-4] for row in rows] == [["gravity_force", "float64"], ["mass_matrix", "float32"]]
    assert all(row[-3:] == ["kB", "2", "hours"] for row in rows)
    assert lines[-1][:2] == ["2", "kernels,"]
    assert lines[-1][-1] == str(place)


def test_json(place: Path):
    compute()
    about: dict[str, Any] = json.loads(run("--json"))
    assert about["folder"] == str(place)
    assert [(k["function"], k["dtype"]) for k in about["kernels"]] == [
        ("gravity_force", "float64"),
        ("mass_matrix", "float32"),
    ]
    assert about["bytes"] == sum(file.stat().st_size for file in place.iterdir())
    assert all(0 <= k["unused_s"] <= k["age_s"] < 600 for k in about["kernels"])
    assert about["limit_bytes"] == 10**9


def test_limit(place: Path):
    compute()
    assert run("--limit", "500MB").startswith("500.0 MB are kept at most; 0 kernels thrown away\n")
    assert json.loads(run("--json"))["limit_bytes"] == 500_000_000, "it is kept"
    assert json.loads(run("--limit", "1kB", "--json"))["kernels"] == []
    result = CliRunner().invoke(app, ["cache", "--limit", "much"])
    assert result.exit_code == 2
    assert "a size is a number of bytes or such as 500MB" in result.stderr


def test_clear(place: Path):
    compute()
    assert run("--clear") == f"2 kernels thrown away from {place}\n"
    assert list(place.glob("*.kernel")) == []
    compute()
    assert json.loads(run("--clear", "--json")) == {"folder": str(place), "cleared": 2}


def test_help_has_examples():
    assert "knuckle cache --clear" in CliRunner().invoke(app, ["cache", "--help"]).stdout


def test_words_for_sizes_and_times():
    assert [size(n) for n in (0, 999, 1000, 123_456, 2_500_000, 2e9)] == [
        "0.0 kB", "1.0 kB", "1.0 kB", "123.5 kB", "2.5 MB", "2.0 GB",
    ]  # fmt: skip
    assert [age(s) for s in (0, 1, 59.9, 60, 3599, 7300, 86400, 3e6)] == [
        "0 seconds", "1 second", "59 seconds", "1 minute", "59 minutes", "2 hours", "1 day", "34 days",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [(["cold"], "cache cold: no such thing"), (["warm"], "a file is missing"), (["warm", "no.urdf"], "no such file")],
)
def test_what_cannot_be_warmed(arguments: list[str], complaint: str):
    result = CliRunner().invoke(app, ["cache", *arguments])
    assert result.exit_code == 2
    assert complaint in result.stderr


@pytest.mark.slow
def test_a_warm_robot_needs_no_compiler(place: Path):
    """In another process nothing is added to the folder by what was prepared."""
    environment = {**os.environ, "KNUCKLE_CACHE_DIR": str(place)}
    warm = [sys.executable, "-m", "knuckle", "cache", "warm", "pendulum"]
    shown = subprocess.run(warm, check=True, env=environment, capture_output=True, text=True).stdout
    assert "pendulum: simulate, " in shown
    before = {file.name for file in place.iterdir()}
    script = (
        "import numpy as np, knuckle as kn\n"
        "model = kn.robots.load('pendulum')\n"
        "kn.simulate(model, [0.1], duration=0.1, progress=False)\n"
        "kn.rollout(model, np.zeros((64, 1)), None, None, 1e-3, steps=5)\n"
        "kn.bind(model).inverse_dynamics([0.1], [0.0], [0.0])\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    assert {file.name for file in place.iterdir()} == before
