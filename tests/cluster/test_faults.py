"""Sweeps under attack: whatever is killed, removed or full, no chunk is lost, none comes twice, none is wrong."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import knuckle as kn

sys.path.insert(0, str(Path(__file__).parent))
import fault_runs
from studies import DiesOnce, same, slow_sum, sums

pytest.importorskip("zarr", reason="the extra `cluster` is not installed")
ROUNDS = 10


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A sweep that nothing happens to."""
    return fault_runs.computed(tmp_path_factory.mktemp("calm") / "s", seconds=0.0)


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced_and_nothing_is_lost(tmp_path: Path) -> None:
    pendulum = kn.robots.load("pendulum")
    with pytest.warns(RuntimeWarning, match="a worker ended with exit status -9; another takes its place"):
        found = kn.sweep(pendulum, sums(), tmp_path / "a", kernel=DiesOnce(tmp_path / "mark"), chunk=16, workers=1)
    assert (tmp_path / "mark").exists()
    assert same(found, kn.sweep(pendulum, sums(), tmp_path / "b", kernel=slow_sum, chunk=16))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["processes", "workers", "nodes", "drivers", "local-drivers", "disk"])
def test_nothing_is_lost(kind: str, calm: Any, tmp_path: Path) -> None:
    if kind in ("workers", "nodes", "drivers"):
        pytest.importorskip("ray", reason="the extra `cluster` is not installed: no Ray")
    if kind in ("processes", "workers"):
        pytest.importorskip("psutil", reason="psutil is not installed: there is nobody to find what to kill")
    if kind == "disk" and (not hasattr(os, "geteuid") or os.geteuid()):
        pytest.skip("a small disk can be mounted by root only")
    count = fault_runs.RUNS[kind](tmp_path, calm, ROUNDS, random.Random(0))
    assert count.rounds == ROUNDS
    assert count.attacks >= ROUNDS // 2  # some rounds are over before they are attacked
    assert count.is_clean, count


@pytest.mark.slow
def test_a_chunk_that_kills_every_worker_is_named(tmp_path: Path) -> None:
    def deadly(model: Any, x: Any, y: Any) -> Any:
        if len(x) > 5 and x.min() < 0.02:
            os.abort()
        return x

    with (
        pytest.warns(RuntimeWarning, match="a worker ended"),
        pytest.raises(RuntimeError, match=r"chunk \d, samples \d+ to \d+, lost 10 workers"),
    ):
        kn.sweep(kn.robots.load("pendulum"), sums(), tmp_path / "a", kernel=deadly, chunk=16, workers=1)


@pytest.mark.slow
def test_an_address_without_a_cluster_is_named(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra `cluster` is not installed: no Ray")
    with pytest.raises(ConnectionError, match=r"address='127\.0\.0\.1:1': there is no Ray cluster"):
        kn.sweep(kn.robots.load("pendulum"), sums(), tmp_path / "a", kernel=slow_sum, address="127.0.0.1:1")


@pytest.mark.slow
def test_errors_of_workers_are_raised_here(tmp_path: Path) -> None:
    def wrong(model: Any, x: Any, y: Any) -> Any:
        if len(x) > 5:
            raise ZeroDivisionError("by this sample")
        return x

    with pytest.raises(ZeroDivisionError, match="by this sample") as caught:
        kn.sweep(kn.robots.load("pendulum"), sums(), tmp_path / "a", kernel=wrong, chunk=16, workers=2)
    assert "In a worker" in caught.value.__notes__[0]
