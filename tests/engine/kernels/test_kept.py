"""There is an end to the compiled code that a process keeps, and code in use outlives it."""

import gc
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.kernels import per_model
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.kernels.per_model import PerModel
from knuckle.engine.native import machine_code as native
from knuckle.engine.native.python_abi import python_abi

from ..calls.mechanisms import chain


@pytest.fixture(autouse=True)
def native_code(monkeypatch: pytest.MonkeyPatch, _plain: None) -> None:
    monkeypatch.setattr(kernels, "policy", "auto")
    monkeypatch.setattr(per_model._Limit, "count", per_model.DEFAULT)


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> "weakref.WeakSet[native.Loaded]":
    """The code in memory that was loaded since, without the entry for Python, which a process has once."""
    python_abi()
    found: weakref.WeakSet[native.Loaded] = weakref.WeakSet()
    start = native.Loaded.__init__
    monkeypatch.setattr(native.Loaded, "__init__", lambda self, code: found.add(self) or start(self, code))
    return found


def test_the_least_recently_used_go_first():
    kn.compilation.set_kernel_limit(8)
    values: PerModel[int] = PerModel()
    model, other = chain(1), chain(2)
    for k in range(8):
        values.put(model if k % 2 else other, k, k)
    assert [values.get(model, 1), values.get(other, 2)] == [1, 2]
    values.setdefault(model, 8, lambda: 8)
    assert sorted(values.all()) == [1, 2, 3, 4, 5, 6, 7, 8]
    values.setdefault(model, 9, lambda: 9)
    assert sorted(values.all()) == [1, 2, 4, 5, 6, 7, 8, 9]
    assert values.setdefault(model, 1, lambda: 100) == 1
    kn.compilation.set_kernel_limit(2)
    values.put(model, 10, 10)
    assert sorted(values.all()) == [1, 10]
    del model, other
    gc.collect()
    assert len(values) == 0


def test_changing_constants_do_not_pile_up(engines: "weakref.WeakSet[native.Loaded]"):
    kn.compilation.set_kernel_limit(6)
    own = kn.kernel(lambda model, q, *, gain=1.0: gain * q)
    model = chain(2)
    for k in range(40):
        assert own(model, np.ones(2), gain=0.5 + k)[0] == 0.5 + k
    gc.collect()
    assert len(engines) <= 6
    assert kernels.made(model) <= 6
    assert own(model, np.ones(2), gain=0.5)[0] == 0.5, "what was forgotten is made again"


@pytest.mark.slow
def test_captured_constants_do_not_pile_up(engines: "weakref.WeakSet[native.Loaded]"):
    gain = 0.0
    own = kn.kernel(lambda model, q: gain * q)
    model = chain(2)
    for k in range(20):
        gain = 0.25 + k
        assert own(model, np.ones(2))[0] == gain
    gc.collect()
    assert len(engines) == 1, "code that is no longer right is of no use"


@pytest.mark.slow
def test_options_of_bound_functions_do_not_pile_up(engines: "weakref.WeakSet[native.Loaded]"):
    kn.compilation.set_kernel_limit(8)
    model, q = chain(3), np.ones(3)
    fast = kn.bind(model)
    for k in range(30):
        stop = kn.constraints.JointPosition(model.joint_names[0], 0.1 * k)
        fast.constraints.acceleration(q, q, q, constraints=(stop,), stabilization=0.1)
    gc.collect()
    assert len(engines) <= 9


@pytest.mark.slow
def test_runs_through_time_do_not_pile_up(engines: "weakref.WeakSet[native.Loaded]"):
    kn.compilation.set_kernel_limit(3)
    pendulum = kn.robots.load("pendulum")
    for k in range(8):
        push = kn.kernel(lambda model, t, q, v, k=k: v * (-0.1 * k))
        kn.simulate(pendulum, [0.1], [0.0], 0.02, dt=0.01, controller=push)
        kn.rollout(pendulum, [0.1], [0.0], None, dt=0.01, steps=2, controller=push)
    del push
    gc.collect()
    assert len(engines) <= 3 * 3


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory maps of the process")
def test_memory_maps_do_not_pile_up():
    def maps() -> int:
        return len(Path("/proc/self/maps").read_text().splitlines())

    kn.compilation.set_kernel_limit(5)
    own = kn.kernel(lambda model, q, *, gain=1.0: gain * q)
    model = chain(2)
    for k in range(10):
        own(model, np.ones(2), gain=0.125 + k)
    before = maps()
    for k in range(60):
        own(model, np.ones(2), gain=100.125 + k)
    gc.collect()
    assert maps() < before + 40, "each kernel has two"


@pytest.mark.slow
def test_code_in_use_stays():
    """Threads that compute while others push their kernels out get what they should."""
    kn.compilation.set_kernel_limit(2)
    model, wrong = chain(3), list[float]()
    q = np.linspace(0, 1, 3000).reshape(1000, 3)

    def work(number: int) -> None:
        own = kn.kernel(lambda model, q, *, gain=1.0: gain * q)
        for k in range(15):
            gain = number + k / 16
            found = own(model, q, gain=gain)
            wrong.append(float(np.max(np.abs(found - gain * q))))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 45
    assert max(wrong) == 0.0


def test_a_bound_function_keeps_its_code():
    kn.compilation.set_kernel_limit(1)
    model, q = chain(3), np.linspace(0, 1, 3)
    fast = kn.bind(model)
    expected = fast.gravity_force(q)
    call = fast.gravity_force
    for k in range(5):
        kn.kernel(lambda model, q, *, gain: gain * q)(chain(2), np.ones(2), gain=k + 0.5)
    del fast
    gc.collect()
    np.testing.assert_array_equal(call(q), expected)


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "many"])
def test_limits_that_are_none(count: Any):
    with pytest.raises(ValueError, match="the number of kernels is a whole number from 1"):
        kn.compilation.set_kernel_limit(count)


def test_the_limit_of_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KNUCKLE_KERNEL_LIMIT", "77")
    kn.compilation.set_kernel_limit(None)
    assert per_model._Limit.count == 77
    monkeypatch.setenv("KNUCKLE_KERNEL_LIMIT", "few")
    with pytest.warns(RuntimeWarning, match="KNUCKLE_KERNEL_LIMIT is 'few', and must be a whole number from 1"):
        kn.compilation.set_kernel_limit(None)
    assert per_model._Limit.count == per_model.DEFAULT


def test_models_may_go_while_others_are_counted():
    """The collector may drop models at any allocation in the middle of a look at all of them: at each of the first."""
    threshold = gc.get_threshold()
    gc.freeze()  # what other tests left is not looked through
    try:
        for later in range(40):
            kept: PerModel[int] = PerModel()
            gc.collect()
            gc.disable()
            for _ in range(20):
                model = kn.Model((), ())
                kept.put(model, "key", 1)
                cycle: list[object] = [model]
                cycle.append(cycle)
                del model, cycle
            gc.set_threshold(gc.get_count()[0] + later)
            gc.enable()
            assert len(kept) in (0, 20)
    finally:
        gc.set_threshold(*threshold)
        gc.enable()
        gc.unfreeze()
