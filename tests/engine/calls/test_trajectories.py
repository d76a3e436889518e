"""What rollouts stand on: threads that share pieces, arguments over batch and time, loops on the disk."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls import time_loop
from knuckle.engine.calls.trajectory_batches import Clock, Input
from knuckle.engine.kernels import fetch_or_compile
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.native import disk_cache, machine_code, threads
from knuckle.testing import random_state

PENDULUM = kn.robots.load("double_pendulum")


@pytest.fixture(autouse=True)
def native_code(monkeypatch: pytest.MonkeyPatch, _plain: None):
    monkeypatch.setattr(kernels, "policy", "auto")
    before = kn.compilation.get_threads()
    kn.compilation.set_threads(3)
    yield
    kn.compilation.set_threads(before)


def test_every_piece_is_done_once_by_whoever_is_free():
    done: list[int] = []
    names: set[str] = set()
    together = threading.Barrier(3, timeout=20)

    def work(piece: int, stop: threading.Event) -> None:
        if piece < 3:
            together.wait()
        names.add(threading.current_thread().name)
        done.append(piece)

    threads.shared(range(50), 3, work)
    assert sorted(done) == list(range(50))
    assert len(names) == 3


@pytest.mark.parametrize("kind", [ArithmeticError, KeyboardInterrupt])
def test_when_one_fails_the_others_leave_off(kind: type[BaseException]):
    """They are told, they are waited for, and nobody takes another piece."""
    begun, left = threading.Event(), threading.Event()
    taken: list[int] = []

    def work(piece: int, stop: threading.Event) -> None:
        taken.append(piece)
        if threading.current_thread() is threading.main_thread():
            assert begun.wait(20)
            raise kind(piece)
        begun.set()
        assert stop.wait(20)
        left.set()

    with pytest.raises(kind):
        threads.shared(range(1000), 2, work)
    assert left.is_set()
    assert len(taken) == 2


def test_an_error_of_a_helper_comes_out():
    seen = threading.Event()

    def work(piece: int, stop: threading.Event) -> None:
        if threading.current_thread() is threading.main_thread():
            assert seen.wait(20)
        else:
            seen.set()
            raise ArithmeticError(piece)

    with pytest.raises(ArithmeticError):
        threads.shared(range(2), 2, work)


def full(x: Input, batch: tuple[int, ...], steps: int) -> Any:
    return np.broadcast_to(x.array, (*batch, steps, *x.shape)).reshape(-1, steps, *x.shape)


@pytest.mark.parametrize("own", [(), (1, 1), (4,), (1, 4), (3, 1), (3, 4)])
@pytest.mark.parametrize("steps", [1, 6])
def test_rows_of_what_broadcasts(own: tuple[int, ...], steps: int):
    batch = (3, 4)
    x = Input(np.random.default_rng(0).normal(size=(*own, steps, 2)), (2,))
    expected = full(x, batch, 6)
    for start, end in ((0, 12), (5, 6), (3, 11)):
        array, stride, size = x.rows(batch, start, end)
        for place in range(end - start):
            for step in range(6):
                first = place * stride + (step * size if x.is_moving else 0)
                np.testing.assert_array_equal(array.reshape(-1)[first : first + size], expected[start + place, step])
    at = np.broadcast_to(x.at(2), (*batch, 2)).reshape(-1, 2)
    np.testing.assert_array_equal(at, expected[:, 2])


def test_the_clock():
    clock = Clock(0.5, 0.1, np.dtype(np.float32))
    assert clock.at(3).dtype == np.float32
    assert clock.at(3).tolist() == [np.float32(0.5 + 0.1 * 3)]
    assert clock.rows((7,), 2, 4)[0].tolist() == [0.5, 0.1]


def go(model: kn.Model) -> kn.simulation.Rollout:
    state = random_state(model, 3)
    return kn.rollout(model, state.q, state.v, None, 1e-3, steps=5)


def test_loops_are_kept_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(tmp_path))
    model = PENDULUM.with_gravity((0.1, 0.2, -9.5))
    expected = go(model)
    assert "rollout by RungeKutta4" in [entry.description["function"] for entry in disk_cache.entries()]

    def fails(*_: Any) -> bytes:
        raise AssertionError("compiled again")

    monkeypatch.setattr(machine_code, "compile_text", fails)
    kernels._slots.clear()
    fetch_or_compile._in_use.clear()
    np.testing.assert_array_equal(go(model).v, expected.v)


def test_damaged_code_on_the_disk_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(tmp_path))
    model = PENDULUM.with_gravity((0.1, 0.2, -9.6))
    expected = go(model)
    (name,) = [entry.name for entry in disk_cache.entries() if entry.description["function"].startswith("rollout")]
    file = tmp_path / f"{name}.kernel"
    data = file.read_bytes()
    file.write_bytes(data[:-100] + bytes(100))
    kernels._slots.clear()
    fetch_or_compile._in_use.clear()
    np.testing.assert_array_equal(go(model).v, expected.v)
    assert file.read_bytes() == data


def test_loops_are_forgotten_with_their_model():
    model = PENDULUM.with_gravity((0.1, 0.2, -9.7))
    go(model)
    number = id(model)
    assert number in kernels._slots
    del model
    gc.collect()
    assert number not in kernels._slots


def test_long_steps_are_called_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """And give the same bits."""
    model = PENDULUM.with_gravity((0.1, 0.2, -9.9))
    expected = go(model)
    kernels._slots.clear()
    fetch_or_compile._in_use.clear()
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(time_loop, "MOST", 10)
    found = go(model)
    assert not any(isinstance(slot.kernel, time_loop.Loop) for slot in kernels._slots.values(model))
    np.testing.assert_array_equal(found.q, expected.q)
    np.testing.assert_array_equal(found.v, expected.v)


@pytest.mark.slow
def test_closed_loops_compute_in_double_precision():
    """Only what is kept, and what goes from step to step, is in single precision."""
    model = kn.robots.load("four_bar")
    q, v = np.zeros((2, 3, model.nq))
    double = kn.rollout(model, q, v, None, 1e-3, steps=20)
    single = kn.rollout(model, q.astype(np.float32), v.astype(np.float32), None, 1e-3, steps=20)
    assert single.q.dtype == np.float32
    assert np.abs(double.q).max() > 1e-4
    np.testing.assert_allclose(single.q, double.q, rtol=0, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*runs as plain Python:RuntimeWarning")
def test_a_compiler_that_fails_is_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch):
    def fails(*_: Any) -> bytes:
        raise RuntimeError("no compiler today")

    model = PENDULUM.with_gravity((0.1, 0.2, -9.8))
    expected = go(PENDULUM.with_gravity((0.1, 0.2, -9.8)))
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", "/nowhere")
    monkeypatch.setattr(machine_code, "compile_text", fails)
    kernels._slots.clear()
    fetch_or_compile._in_use.clear()
    with pytest.warns(RuntimeWarning, match="plain Python, which is slow: no native code .RuntimeError: no compiler"):
        found = go(model)
    np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=1e-12)
