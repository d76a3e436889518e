"""The benchmark of the operators runs, and operations grow with the number of bodies. No test looks at times."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_operations_grow_linearly(tmp_path: Path):
    command = [sys.executable, str(ROOT / "benchmarks" / "operators.py"), "--quick", "--out", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "operators.json").read_text("utf-8"))
    for shape in ("chain", "binary tree"):
        assert all(0.9 <= slope <= 1.1 for slope in results["slopes"][shape]["operations"].values())
    assert (tmp_path / "operators.png").stat().st_size > 10_000


def test_committed_results_are_of_order_n():
    """Operations and times of the last full run, from 10 to 5,000 bodies: slope 1 within a tenth."""
    results = json.loads((ROOT / "benchmarks" / "results" / "operators.json").read_text("utf-8"))
    sizes = {record["bodies"] for record in results["records"]}
    assert min(sizes) == 10
    assert max(sizes) == 5000
    for shape in ("chain", "binary tree"):
        for kind in ("operations", "recursion"):
            for name, slope in results["slopes"][shape][kind].items():
                assert 0.9 <= slope <= 1.1, (shape, kind, name)
