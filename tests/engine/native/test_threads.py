"""Threads: any number gives the same bits, whoever calls; forks and interpreter exits are survived."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.emit.llvm import streaming_stores
from knuckle.engine.kernels import fetch_or_compile
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.native import machine_code as native
from knuckle.engine.native import result_memory, threads
from knuckle.testing import auto_tree

from ...seeds import quick
from ..calls.mechanisms import MODELS, chain, states

TREE = MODELS["tree"]


@pytest.fixture(autouse=True)
def native_code(monkeypatch: pytest.MonkeyPatch, _plain: None) -> Iterator[None]:
    """Native code, and threads for small batches."""
    monkeypatch.setattr(kernels, "policy", "always")
    monkeypatch.setattr(threads, "LEAST", 8)
    before = kn.compilation.get_threads()
    yield
    kn.compilation.set_threads(before)


def call(n: int, dtype: Any = float) -> Any:
    s = states(TREE, (n,))
    return kn.forward_dynamics(TREE, *(x.astype(dtype) for x in (s.q, s.v, s.a)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [8, 63, 64, 65, 201])
def test_the_number_of_threads_changes_no_bit(n: int, dtype: Any):
    kn.compilation.set_threads(1)
    expected = call(n, dtype)
    for count in (2, 3, 7, 64):
        kn.compilation.set_threads(count)
        np.testing.assert_array_equal(call(n, dtype), expected)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", quick([np.float64, np.float32], [np.float64]))
def test_large_matrices_are_the_same_too(dtype: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Written past the caches, in blocks that begin and end elsewhere for every number of threads."""
    model = auto_tree(17, 2.0, 0.3, 0.97)
    q = np.random.default_rng(0).normal(size=(403, 17)).astype(dtype)
    kn.compilation.set_threads(1)
    expected = kn.mass_matrix(model, q)
    monkeypatch.setenv("KNUCKLE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(streaming_stores, "BYTES", 0)
    monkeypatch.setattr(result_memory, "LEAST", 1)
    fetch_or_compile._in_use.clear()
    streamed = auto_tree(17, 2.0, 0.3, 0.97)
    for count in (1, 2, 3, 7):
        kn.compilation.set_threads(count)
        np.testing.assert_array_equal(kn.mass_matrix(streamed, q), expected)


def test_threads_are_used():
    seen: set[str] = set()
    together = threading.Barrier(3, timeout=20)

    def work(start: int, end: int) -> None:
        seen.add(threading.current_thread().name)
        together.wait()

    kn.compilation.set_threads(3)
    threads.in_parallel(100, 4, work)
    assert len(seen) == 3


def test_pieces_cover_the_batch_in_whole_vectors():
    for size in (1, 7, 8, 100, 101):
        for count in (1, 2, 3, 7):
            kn.compilation.set_threads(count)
            pieces: list[tuple[int, int]] = []
            threads.in_parallel(size, 4, lambda start, end, pieces=pieces: pieces.append((start, end)))
            pieces.sort()
            assert [0, *(end for _, end in pieces)] == [*(start for start, _ in pieces), size]
            assert all(start % 4 == 0 for start, _ in pieces)


def test_errors_come_back():
    kn.compilation.set_threads(4)

    def fails(start: int, end: int) -> None:
        if start:
            raise ArithmeticError(start)

    with pytest.raises(ArithmeticError):
        threads.in_parallel(64, 4, fails)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "two", True, np.nan])
def test_wrong_numbers(wrong: Any):
    with pytest.raises(ValueError, match="the number of threads is a whole number from 1, not "):
        kn.compilation.set_threads(wrong)


def test_default_is_every_core():
    kn.compilation.set_threads(np.int64(3))  # type: ignore[arg-type]
    assert kn.compilation.get_threads() == 3
    kn.compilation.set_threads()
    assert kn.compilation.get_threads() == threads._cores() >= 1


def test_a_strange_row_in_a_threaded_batch():
    """The rows that go to the C library's sine are found whatever piece they are in."""
    model = MODELS["arm"]
    s = states(model, (100,))
    kn.compilation.set_threads(3)
    expected = kn.gravity_force(model, s.q)
    q = s.q.copy()
    q[[0, 41, 99], 1] += 2e5 * np.pi
    found = kn.gravity_force(model, q)
    others = np.delete(np.arange(100), [0, 41, 99])
    np.testing.assert_array_equal(found[others], expected[others])
    np.testing.assert_allclose(found, expected, atol=1e-8)  # the angle itself is rounded at 6e5


def test_a_nan_stays_in_its_row_to_the_last_bit():
    model = MODELS["arm"]
    s = states(model, (100,))
    expected = kn.inverse_dynamics(model, s.q, s.v, s.a)
    q = s.q.copy()
    q[41, 1] = np.nan
    found = kn.inverse_dynamics(model, q, s.v, s.a)
    others = np.delete(np.arange(100), 41)
    assert np.isnan(found[41]).any()
    np.testing.assert_array_equal(found[others], expected[others])


# many callers


def test_callers_from_many_threads():
    kn.compilation.set_threads(3)
    batches = [states(TREE, (40,), seed=k) for k in range(8)]
    alone = [kn.forward_dynamics(TREE, s.q, s.v, s.a) for s in batches]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            together = pool.map(lambda s: kn.forward_dynamics(TREE, s.q, s.v, s.a), batches)
            for found, expected in zip(together, alone, strict=True):
                np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_threads_may_be_set_while_others_compute():
    expected = call(100)
    done = threading.Event()

    def change() -> None:
        while not done.is_set():
            for count in (1, 2, 5):
                kn.compilation.set_threads(count)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(50):
            np.testing.assert_array_equal(call(100), expected)
    finally:
        done.set()
        changer.join()


def test_a_kernel_is_compiled_once_by_many_callers(monkeypatch: pytest.MonkeyPatch):
    texts: list[str] = []
    compile_text = native.compile_text
    monkeypatch.setattr(native, "compile_text", lambda text: texts.append(text) or compile_text(text))
    fetch_or_compile._in_use.clear()
    model = chain(3).with_gravity((0.1, 0.2, -9.3))
    start = threading.Barrier(8)

    def first(_: int) -> Any:
        start.wait()
        return kn.gravity_force(model, np.ones(3))

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(first, range(8)))
    assert len(texts) == 1
    for result in results:
        np.testing.assert_array_equal(result, results[0])


def test_many_kernels_at_once(monkeypatch: pytest.MonkeyPatch):
    """Different functions and models, compiled by different threads at the same time."""
    models = [chain(n).with_gravity((0, 0, -n / 7)) for n in (1, 2, 3, 4)]
    calls = [
        (f, model) for model in models for f in (kn.gravity_force, kn.mass_matrix, kn.center_of_mass, kn.body_poses)
    ]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda pair: pair[0](pair[1], np.full(pair[1].nq, 0.3)), calls))
    monkeypatch.setattr(kernels, "policy", "never")
    for (f, model), result in zip(calls, found, strict=True):
        np.testing.assert_allclose(result, f(model, np.full(model.nq, 0.3)), atol=1e-12)


# forks and exits


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_after_the_pool_was_used():
    """The child computes with threads of its own, known kernels and new ones."""
    kn.compilation.set_threads(3)
    expected = call(100)
    new = chain(3).with_gravity((0.5, 0, -3))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - in the child
        code = 1
        try:
            same = np.array_equal(call(100), expected)
            fresh = np.isfinite(kn.gravity_force(new, np.ones((50, 3)))).all()
            os.write(writer, b"y" if same and fresh and kn.compilation.get_threads() == 3 else b"n")
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        assert answer.read() == b"y"
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(call(100), expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_others_compile():
    """Locks that other threads hold are not inherited."""
    code = """
import os, threading
import numpy as np
import knuckle as kn
from knuckle.engine.native import machine_code as native
from knuckle.testing import general_chain

kn.compilation.set_policy("always")
started, compile_text = threading.Event(), native.compile_text
def slowly(text):
    started.set()
    threading.Event().wait(0.5)
    return compile_text(text)
native.compile_text = slowly
model = general_chain(2)
other = threading.Thread(target=lambda: kn.gravity_force(model, np.ones(2)))
other.start()
started.wait()
child = os.fork()
if child == 0:
    native.compile_text = compile_text
    os._exit(0 if np.isfinite(kn.gravity_force(model, np.ones(2))).all() else 1)
other.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "0", done.stderr


@pytest.mark.slow
def test_a_call_while_the_interpreter_ends():
    code = """
import atexit
import numpy as np
import knuckle as kn
from knuckle.engine.native import threads

threads.LEAST = 8
kn.compilation.set_threads(2)
kn.compilation.set_policy("always")
model = kn.robots.load("arm")
call = lambda: print(np.isfinite(kn.gravity_force(model, np.zeros((100, model.nq)))).all())
atexit.register(call)
call()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["True", "True"], done.stderr
