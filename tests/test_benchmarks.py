"""The benchmarks run, and the pages show what the committed results say. No test looks at how long anything takes."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"


@pytest.mark.slow
def test_quick_run_writes_its_results(tmp_path: Path):
    for package in ("pinocchio", "mujoco", "casadi", "matplotlib"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not there to compare with")
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--quick", "--robots", "xarm7", "--out", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "speed.json").read_text("utf-8"))
    (robot,) = results["robots"]
    functions = {row["function"] for row in robot["rows"]}
    libraries = {row["library"] for row in robot["rows"]}
    assert functions == {"inverse dynamics", "forward dynamics", "mass matrix", "frame Jacobian"}
    assert {"knuckle, float64", "knuckle, float32", "knuckle, bound", "knuckle", "Pinocchio", "MuJoCo"} <= libraries
    assert all(row["best"] > 0 for row in robot["rows"])
    assert [(r["shape"], r["bodies"], r["compiled"]) for r in results["scaling"]] == [
        ("chain", 5, True),
        ("binary tree", 5, True),
    ]
    assert (tmp_path / "speed.png").stat().st_size > 10_000
    assert "xArm7" in done.stdout
    assert "xArm7" in (tmp_path / "speed.md").read_text("utf-8")


def test_pages_show_the_committed_results(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    report: Any = importlib.import_module("report")
    results = json.loads((BENCHMARKS / "results" / "speed.json").read_text("utf-8"))
    for path, text in report.pages(results).items():
        page = path.read_text("utf-8")
        assert text in page, f"{path.name} shows other results: python benchmarks/report.py"
        assert report.filled(page, text) == page, f"{path.name} has no place for the results"
    assert (ROOT / "docs" / "speed.png").read_bytes() == (BENCHMARKS / "results" / "speed.png").read_bytes()


def test_the_page_on_speed_shows_the_committed_derivatives(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    report: Any = importlib.import_module("report")
    derivatives: Any = importlib.import_module("derivatives")
    results = json.loads((BENCHMARKS / "results" / "derivatives.json").read_text("utf-8"))
    page, text = (ROOT / "docs" / "speed.md").read_text("utf-8"), derivatives.tables(results)
    assert text in page, "other results: python benchmarks/derivatives.py --out benchmarks/results"
    assert report.filled(page, text, "derivatives") == page, "no place for the results"
    changed = results | {"rounds": results["rounds"] + 1}
    assert report.filled(page, derivatives.tables(changed), "derivatives") != page


@pytest.mark.slow
def test_derivatives_are_measured_beside_pinocchio(tmp_path: Path):
    if importlib.util.find_spec("pinocchio") is None:
        pytest.skip("pinocchio is not there to compare with")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, str(BENCHMARKS / "derivatives.py"), "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "derivatives.json").read_text("utf-8"))
    assert [row["function"] for row in results["matrices"]] == ["inverse dynamics", "forward dynamics"]
    ways = "dense", "blocks", "one state", "Pinocchio", "first call"
    assert all(row[way] > 0 for row in results["matrices"] for way in ways)
    assert [row["product"].split()[0] for row in results["products"]] == ["vjp", "vjp", "hessian"]
    assert "xArm7, inverse dynamics" in done.stdout
    (step,) = results["steps"]
    assert step["MuJoCo"] > step["step"] > 0


@pytest.mark.slow
def test_files_are_simulated_beside_a_reference(tmp_path: Path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, str(BENCHMARKS / "files.py"), "--jobs", "2", "--seconds", "20", "--check"]
    chosen = ["--only", "*/double_pendulum.urdf", "--out", str(tmp_path)]
    done = subprocess.run([*command, *chosen], env=environment, capture_output=True, text=True, check=False)
    if "example-robot-data is not installed" in done.stderr:
        pytest.skip("example-robot-data is not there")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads((tmp_path / "files.json").read_text("utf-8"))["rows"]
    assert (row["bodies"], row["nv"], row["reason"]) == (2, 2, "finished")
    assert row["agreement"] <= 1e-5
    assert row["difference"] <= 1e-6
    assert "Nothing diverged" in (tmp_path / "files.md").read_text("utf-8")


@pytest.mark.slow
def test_what_is_wrong_with_a_file_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    files: Any = importlib.import_module("files")
    row = {"reason": "finished", "warnings": [], "agreement": 1e-9, "difference": 1e-2}
    assert files.verdict(row) == "wrong, without a warning"
    assert files.verdict(row | {"warnings": ["too stiff"]}) == ""
    assert files.verdict(row | {"agreement": 1e-2}) == ""  # nobody knows
    assert files.verdict(row | {"difference": 1e-5}) == ""
    assert files.verdict(row | {"reason": "diverged"}) == "diverged"
    assert files.verdict(row | {"failed": "exit code 1: …"}).startswith("its reference failed")
    assert files.verdict({"reason": "no result"}) == "no result"
    *_, last = files.measure(ROOT / "src" / "knuckle" / "robots" / "four_bar.json", 20.0)
    assert (last["loops"], last["reason"]) == (1, "finished")
    assert last["difference"] < 1e-6 >= last["agreement"]


@pytest.mark.slow
def test_muscles_move_as_mujoco_has_them(tmp_path: Path):
    if importlib.util.find_spec("mujoco") is None:
        pytest.skip("mujoco is not there to compare with")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, str(BENCHMARKS / "muscles.py"), "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "muscles.json").read_text("utf-8"))["rows"]
    assert [row["integrator"] for row in rows] == ["euler", "rk4"]
    assert all(row["apart"] < 1e-8 for row in rows)


@pytest.mark.slow
def test_environments_are_measured_on_the_same_robot(tmp_path: Path):
    for package in ("gymnasium", "mujoco"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not there to compare with")
    command = [sys.executable, str(BENCHMARKS / "environments.py"), "--quick", "--out", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "environments.json").read_text("utf-8"))
    assert abs(results["heights"]["gymnasium"] - results["heights"]["knuckle"]) < 0.1
    assert set(results["one"]) == set(results["together"])
    assert "Gymnasium on MuJoCo" in done.stdout


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("implicit_trees", ["--most", "100", "--steps", "3", "--scene", "sprung chain"], "pcg"),
        pytest.param("deformables", ["--steps", "1", "--most", "700"], "640", marks=pytest.mark.slow),
    ],
)
def test_steps_of_large_mechanisms_are_measured(
    name: str, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    script: Any = importlib.import_module(name)
    script.main()
    assert said in capsys.readouterr().out
