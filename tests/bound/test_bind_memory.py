"""Bound calls leave no references and no memory behind, and their results outlive what computed them, in any thread."""

import gc
import sys
import threading
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

import knuckle as kn

from ..engine.calls.mechanisms import MODELS, arm, states
from .closeness import close


def test_no_references_are_lost() -> None:
    model, s = arm(), states(arm())
    fast = kn.bind(model)
    call, single, far, listed = fast.inverse_dynamics, fast.kinetic_energy, s.q + 1e9, list(s.q)

    def both(times: int) -> None:
        for _ in range(times):
            call(s.q, s.v, s.a), single(s.q, s.v), call(far, s.v, s.a), call(listed, s.v, s.a)

    both(50)  # beyond the number of calls after which the general path is compiled, too
    gc.collect()
    watched = (s.q, s.v, s.a, far, listed, s.q.dtype, np.ndarray, call, fast, model)
    before = [sys.getrefcount(x) for x in watched]
    both(500)
    gc.collect()
    after = [sys.getrefcount(x) for x in watched]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 50  # one per call would be 500 and more
    assert sys.getrefcount(call(s.q, s.v, s.a)) == sys.getrefcount(np.zeros(3)) + 1  # it is kept, to be given again


def test_no_references_are_lost_in_native_calls() -> None:
    model, s = arm(), states(arm())
    fast = kn.bind(model)
    call, single = fast.inverse_dynamics, fast.kinetic_energy
    for _ in range(2):
        call(s.q, s.v, s.a), single(s.q, s.v)
    watched = (s.q, s.v, s.a, s.q.dtype, np.ndarray, call, single, model)
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(500):
        call(s.q, s.v, s.a), single(s.q, s.v)
    assert [sys.getrefcount(x) for x in watched] == before


@pytest.mark.slow
def test_no_memory_is_lost() -> None:
    model, s = arm(), states(arm())
    fast = kn.bind(model)
    call, single = fast.inverse_dynamics, fast.kinetic_energy
    call(s.q, s.v, s.a), single(s.q, s.v)
    tracemalloc.start()
    try:
        for _ in range(1000):
            call(s.q, s.v, s.a), single(s.q, s.v)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(100_000):
            call(s.q, s.v, s.a), single(s.q, s.v)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 10_000  # bytes; a lost array per call would be ten million


def test_results_outlive_everything_else() -> None:
    model, s = arm(), states(arm())
    wanted = kn.inverse_dynamics(model, s.q, s.v, s.a)
    fast = kn.bind(model)
    call = fast.inverse_dynamics
    call(s.q, s.v, s.a)
    gone = weakref.ref(fast)
    del fast
    gc.collect()
    assert gone() is None
    results = [call(s.q, s.v, s.a) for _ in range(3)]
    kept = weakref.ref(model)
    del call, model
    gc.collect()
    assert kept() is None
    assert all(close(found, wanted) for found in results)
    results[0][:] = 0
    assert close(results[1], wanted)


def test_first_calls_from_many_threads() -> None:
    model, s = MODELS["tree"], states(MODELS["tree"])
    wanted, fast = kn.coriolis_force(model, s.q, s.v), kn.bind(model)
    found: list[Any] = []
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        found.extend(fast.coriolis_force(s.q, s.v) for _ in range(200))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 800
    assert all(close(x, wanted) for x in found)
