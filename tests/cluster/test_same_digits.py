"""The same digits here, over processes and over a cluster, in chunks of any size; code is compiled once and shipped."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.cluster import sweeping
from knuckle.cluster.pickling import pickled
from knuckle.engine.native import disk_cache

sys.path.insert(0, str(Path(__file__).parent))
from studies import same

pytest.importorskip("zarr", reason="the extra `cluster` is not installed")


@kn.kernel
def pulled(model: Any, q: Any, v: Any, stiffness: Any) -> Any:
    return -stiffness * q - 0.1 * v


def reach(rollout: Any) -> dict[str, Any]:
    return {"reach": np.abs(rollout.q).max((-1, -2)), "energy": rollout.energy[..., -1]}


def rollouts(into: Path, **options: Any) -> Any:
    """Rollouts of a double pendulum, by code that is compiled."""
    design = kn.cluster.sobol({"q0": kn.cluster.uniform(-1, 1, 2), "stiffness": (0, 10)}, 500, seed=2)
    return kn.sweep(
        kn.robots.load("double_pendulum"), design, into, steps=50, controller=pulled, measure=reach, keep=["q"],
        **{"chunk": 64, **options},
    )  # fmt: skip


@pytest.mark.slow
def test_chunks_processes_and_clusters_give_the_same_digits(tmp_path: Path) -> None:
    here = rollouts(tmp_path / "here")
    assert here.failed == 0
    assert all(same(rollouts(tmp_path / f"chunk{n}", chunk=n), here) for n in (1, 3, 499, 1000))
    for workers in (1, 3):
        assert same(rollouts(tmp_path / f"workers{workers}", workers=workers), here)
    reached = here.summary["reach"]
    assert reached.mean == kn.cluster.read_sweep(tmp_path / "workers3").summary["reach"].mean
    pytest.importorskip("ray", reason="the extra `cluster` is not installed: no Ray")
    assert same(rollouts(tmp_path / "ray", address="local", workers=2), here)


@pytest.mark.slow
def test_shipped_code_is_not_compiled_again(tmp_path: Path) -> None:
    """A process with an empty cache that receives the kernels of another writes none of its own."""
    pytest.importorskip("ray", reason="the extra `cluster` is not installed: no Ray")
    script = f"""
import sys, pickle
sys.path[:0] = {[str(Path(__file__).parent)]!r}
from pathlib import Path
from knuckle.engine.native import disk_cache
from knuckle.cluster.workers.ray_actors import SweepWorker
order, kernels = pickle.loads(Path({str(tmp_path / "sent")!r}).read_bytes())
worker = SweepWorker([], order)
if {{ships}}:
    worker.receive(kernels)
before = len(list(disk_cache.entries()))
receipt = worker.carry_out(0)
assert receipt.chunk == 0, receipt
print(before, len(list(disk_cache.entries())))
"""
    found = rollouts(tmp_path / "here")
    order = sweeping._prepared(found.job, tmp_path / "here")
    (tmp_path / "sent").write_bytes(pickle.dumps((pickled(order), disk_cache.met())))
    for ships in (False, True):
        environment = {**os.environ, "KNUCKLE_CACHE_DIR": str(tmp_path / f"theirs{ships}")}
        command = [sys.executable, "-c", script.replace("{ships}", str(ships))]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        before, after = map(int, done.stdout.split()[-2:])
        assert (before == after) is ships, done.stdout
        assert after > 0
