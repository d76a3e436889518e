"""The benchmark of rollouts runs, and its page shows what was measured. No test looks at how long anything takes."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"


@pytest.mark.slow
def test_quick_run_writes_its_results(tmp_path: Path):
    pytest.importorskip("mujoco")
    command = [sys.executable, str(BENCHMARKS / "rollout.py"), "--quick", "--robots", "xarm7", "--out", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "rollout.json").read_text("utf-8"))
    assert [(row["robot"], row["integrator"]) for row in results["rows"]] == [("xarm7", "euler"), ("xarm7", "rk4")]
    assert all(row["apart"] < 1e-6 for row in results["rows"])
    assert "xArm7, rk4" in done.stdout


def test_the_page_shows_the_committed_results(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    rollout: Any = importlib.import_module("rollout")
    results = json.loads((BENCHMARKS / "results" / "rollout.json").read_text("utf-8"))
    page = rollout.PAGE.read_text("utf-8")
    assert rollout.filled(page, rollout.page(results)) == page, "docs/rollout.md shows other results"
    assert {row["robot"] for row in results["rows"]} == set(rollout.ROBOTS)
