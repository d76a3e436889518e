"""The benchmark of closed loops runs, and the page shows what its committed results say. No test looks at times."""

import importlib
import importlib.util
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
def test_quick_run(tmp_path: Path):
    for package in ("pinocchio", "mujoco"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not there to compare with")
    command = [
        sys.executable,
        str(BENCHMARKS / "loops.py"),
        "--quick",
        "--mechanisms",
        "four-bar",
        "--out",
        str(tmp_path),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads((tmp_path / "loops.json").read_text("utf-8"))["rows"]
    assert (row["variables"], row["constraints"]) == (3, 5)
    assert max(row[way]["energy"] for way in ("projection", "Baumgarte", "Pinocchio")) < 1e-8
    assert row["projection"]["loops"] < 1e-15 < row["MuJoCo"]["loops"]


def test_the_page_shows_the_committed_results(monkeypatch: pytest.MonkeyPatch):
    """Every mechanism keeps its energy within 10⁻⁶ and its loops within 10⁻⁸, both ways."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    loops: Any = importlib.import_module("loops")
    report: Any = importlib.import_module("report")
    results = json.loads((BENCHMARKS / "results" / "loops.json").read_text("utf-8"))
    page = (ROOT / "docs" / "loops.md").read_text("utf-8")
    assert report.filled(page, loops.page(results)) == page
    for row in results["rows"]:
        for way in ("projection", "Baumgarte"):
            assert row[way]["energy"] < 1e-6
            assert row[way]["loops"] < 1e-8
