"""A result that nobody has any more is given again with new numbers; one that somebody has never changes."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.kernels.kernel_registry import CALLS
from knuckle.engine.native.fast_call import KEPT_BYTES

from .interpreters import on_cpython
from .mechanisms import arm, chain, states, tree

pytestmark = [pytest.mark.usefixtures("native"), on_cpython]

Call = Callable[[Any, Any, Any], Any]


def parts_of(result: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of a result."""
    several = result.values() if isinstance(result, dict) else result if isinstance(result, tuple) else (result,)
    return [x for x in several if isinstance(x, np.ndarray)]


@kn.kernel
def mixed(model: kn.Model, q: Any, v: Any, a: Any) -> Any:
    return kn.mass_matrix(model, q), v @ v, 2.0 * a


def ways(model: kn.Model) -> dict[str, Call]:
    """Calls with results of all kinds, learned."""
    bound = kn.bind(model)
    calls: dict[str, Call] = {
        "array": lambda q, v, a: kn.inverse_dynamics(model, q, v, a),
        "named array": lambda q, v, a: kn.mass_matrix(model, q=q),
        "bound": lambda q, v, a: bound.inverse_dynamics(q, v, a),
        "tuple": lambda q, v, a: kn.normalize(model, q, v),
        "named tuple": lambda q, v, a: kn.derivatives.inverse_dynamics(model, q, v, a),
        "dictionary": lambda q, v, a: kn.inverse_dynamics.jacobian(model, q, v, a, wrt=("q", "v")),
        "numbers too": lambda q, v, a: mixed(model, q, v, a),
    }
    x = states(model)
    for call in calls.values():
        for _ in range(CALLS + 2):
            call(x.q, x.v, x.a)
    return calls


HOLDS: dict[str, Callable[[np.ndarray[Any, Any]], Any]] = {
    "array": lambda x: x,
    "view": lambda x: x[..., 1:],
    "view of a view": lambda x: x.T[1:].T,
    "reshaped": lambda x: x.reshape(-1)[::2],
    "memory": memoryview,
    "memory of C": lambda x: x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
    "buffer": lambda x: np.frombuffer(memoryview(x).cast("B"), np.float64),
    "capsule": lambda x: np.from_dlpack(x),
    "out of band": lambda x: pickle.PickleBuffer(x),
    "base": lambda x: x.base if x.base is not None else x,
    "iterator": lambda x: x.flat,
}


def numbers(held: Any) -> list[float]:
    """What is read through whatever holds a result."""
    if isinstance(held, ctypes._Pointer):
        return [held[0]]
    if isinstance(held, pickle.PickleBuffer):
        return np.frombuffer(held.raw(), np.float64).tolist()
    if isinstance(held, np.flatiter):
        return held.copy().tolist()
    return np.asarray(held).ravel().tolist()


@pytest.mark.parametrize("seed", range(4))
def test_what_is_held_never_changes(seed: int) -> None:
    """Results are held for a while in any way there is, and let go in any order."""
    rng, model = np.random.default_rng(seed), tree()
    calls, x = ways(model), states(model, (20,))
    wanted = {(name, k): [y.copy() for y in parts_of(call(x.q[k], x.v[k], x.a[k]))]
              for name, call in calls.items() for k in range(20)}  # fmt: skip
    held: list[tuple[Any, list[float]]] = []
    for _ in range(600):
        name, k = rng.choice(list(calls)), rng.integers(20)
        result = calls[name](x.q[k], x.v[k], x.a[k])
        assert all(np.array_equal(y, z) for y, z in zip(parts_of(result), wanted[name, k], strict=True))
        hold = HOLDS[rng.choice(list(HOLDS))](parts_of(result)[rng.integers(len(parts_of(result)))])
        if rng.random() < 0.7:
            held.append((hold, numbers(hold)))
        if rng.random() < 0.2:
            held.append((result, []))
        while len(held) > rng.integers(1, 12):
            held.pop(rng.integers(len(held)))
        del result, hold
        for other, then in held:
            assert not then or numbers(other) == then


@pytest.mark.parametrize("name", ["array", "named array", "bound", "tuple", "named tuple"])
def test_a_loop_makes_no_objects(name: str) -> None:
    call, x = ways(arm())[name], states(arm())
    places = {id(call(x.q, x.v, x.a)) for _ in range(50)}
    assert len(places) == 1
    seen, result = set[int](), None
    for _ in range(50):
        result = call(x.q, x.v, x.a)
        seen.add(id(result))
    assert len(seen) == 2
    many = [call(x.q, x.v, x.a) for _ in range(50)]
    assert len({id(y) for y in [*many, result]}) == 51


def lock(x: np.ndarray[Any, Any]) -> None:
    x.flags.writeable = False


def reshape(x: np.ndarray[Any, Any]) -> None:
    x.shape = (*x.shape, 1)


def of_other_lengths(x: np.ndarray[Any, Any]) -> None:
    x.shape = (*reversed(x.shape),) if x.ndim > 1 and x.shape[0] != x.shape[1] else (1, x.size)


def of_integers(x: np.ndarray[Any, Any]) -> None:
    x.dtype = np.int64


def elsewhere(x: np.ndarray[Any, Any]) -> None:
    with contextlib.suppress(AttributeError):  # later versions of NumPy do not let it be said
        x.data = x.copy().data


def turned(x: np.ndarray[Any, Any]) -> None:
    if x.ndim > 1:
        x.strides = x.strides[::-1]
    else:
        x.strides = (0,)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("alter", [lock, reshape, of_other_lengths, of_integers, elsewhere, turned])
@pytest.mark.parametrize("name", ["array", "named array", "tuple", "named tuple", "dictionary"])
def test_what_was_altered_is_not_given_again(name: str, alter: Callable[[np.ndarray[Any, Any]], None]) -> None:
    """Results are always arrays that can be written to, of the lengths and elements they should have."""
    call, x = ways(arm())[name], states(arm())
    wanted = [y.copy() for y in parts_of(call(x.q, x.v, x.a))]
    for _ in range(10):
        result = call(x.q, x.v, x.a)
        found = parts_of(result)
        assert all(np.array_equal(y, z) and y.dtype == z.dtype for y, z in zip(found, wanted, strict=True))
        assert all(y.flags.writeable and y.flags.c_contiguous for y in found)
        found[-1][...] = 0.0
        alter(found[-1])
        del result, found


@pytest.mark.parametrize("name", ["array", "named tuple", "dictionary"])
def test_weak_references_do_not_see_a_second_life(name: str) -> None:
    call, x = ways(arm())[name], states(arm())
    watched = [weakref.ref(y) for y in parts_of(call(x.q, x.v, x.a))]
    bases = [weakref.ref(y.base) for y in parts_of(call(x.q, x.v, x.a)) if y.base is not None]
    places = [id(ref()) for ref in (*watched, *bases)]
    results = [call(x.q, x.v, x.a) for _ in range(8)]
    now = [y for result in results for y in parts_of(result)]
    assert not {id(y) for y in now} & {place for place, ref in zip(places, (*watched, *bases), strict=True) if ref()}
    assert not any(ref() is not None for ref in (*watched, *bases))  # others have been kept instead


def test_parts_that_are_held_alone() -> None:
    """Of a tuple only one array is held, or only what it shares its memory in."""
    call, x = ways(tree())["named tuple"], states(tree(), (12,))
    held = [call(x.q[k], x.v[k], x.a[k])[k % 3] for k in range(6)]
    held += [call(x.q[k], x.v[k], x.a[k])[0].base for k in range(6, 9)]
    copies = [y.copy() for y in held]
    for k in range(12):
        call(x.q[k], x.v[k], x.a[k])
    assert all(np.array_equal(y, z) for y, z in zip(held, copies, strict=True))


class Pair(NamedTuple):
    """A plain one."""

    H: Any
    v: Any


class Noted(Pair):
    """One with attributes of its own."""


def test_tuples_with_attributes_are_new() -> None:
    @kn.kernel
    def plain(model: kn.Model, q: Any, v: Any) -> Pair:
        return Pair(kn.mass_matrix(model, q), 2.0 * v)

    @kn.kernel
    def noted(model: kn.Model, q: Any, v: Any) -> Noted:
        return Noted(kn.mass_matrix(model, q), 2.0 * v)

    model, x = arm(), states(arm())
    for _ in range(CALLS + 2):
        plain(model, x.q, x.v), noted(model, x.q, x.v)
    assert len({id(plain(model, x.q, x.v)) for _ in range(9)}) == 1
    for _ in range(9):
        result = noted(model, x.q, x.v)
        assert type(result) is Noted
        assert not vars(result)
        result.note = 1  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]


def test_large_results_are_not_kept() -> None:
    model = chain(24)
    x = states(model)
    small, large = kn.mass_matrix, kn.derivatives.forward_dynamics
    assert 3 * model.nv**2 * 8 < KEPT_BYTES  # these are small, too

    @kn.kernel
    def huge(model: kn.Model, q: Any, v: Any) -> Any:
        return np.outer(np.outer(q, v).ravel(), v)

    for _ in range(CALLS + 2):
        small(model, x.q), large(model, x.q, x.v, x.a), huge(model, x.q, x.v)
    assert huge(model, x.q, x.v).nbytes > KEPT_BYTES
    kept = weakref.ref(huge(model, x.q, x.v))
    assert kept() is None
    kept = weakref.ref(small(model, x.q))
    assert kept() is not None


def test_they_end_with_the_mechanism() -> None:
    model, x = arm(), states(arm())
    calls = ways(model)
    watched = [weakref.ref(y) for name in calls for y in parts_of(calls[name](x.q, x.v, x.a))]
    assert any(ref() is not None for ref in watched)
    del calls, model
    gc.collect()
    assert not any(ref() is not None for ref in watched)


def test_references_are_neither_lost_nor_left() -> None:
    """What was given has one reference more than if NumPy had made it, whether it is new or was given again."""
    calls, x = ways(arm()), states(arm())
    whole = np.zeros(4)
    like = [whole[:2], whole[2:]]
    del whole
    for name in ("array", "tuple", "dictionary"):
        for _ in range(5):
            result = calls[name](x.q, x.v, x.a)
            if name == "array":
                one = np.zeros(3)
                assert sys.getrefcount(result) == sys.getrefcount(one) + 1
                continue
            one, two = parts_of(result)
            other, _another = like
            assert sys.getrefcount(one) == sys.getrefcount(other) + (name == "dictionary")
            assert sys.getrefcount(one.base) == sys.getrefcount(other.base)
            del result, one, two, other, _another


def test_threads() -> None:
    """Each thread finds its own numbers in what it was given."""
    model = tree()
    calls, x = ways(model), states(model, (4,))
    wrong: list[Any] = []

    def work(k: int) -> None:
        wanted = {name: [y.copy() for y in parts_of(call(x.q[k], x.v[k], x.a[k]))] for name, call in calls.items()}
        for _ in range(300):
            results = {name: call(x.q[k], x.v[k], x.a[k]) for name, call in calls.items()}
            for name, result in results.items():
                if not all(np.array_equal(y, z) for y, z in zip(parts_of(result), wanted[name], strict=True)):
                    wrong.append(name)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
