"""The loop through time as printed: what it reads at which step, what it writes where, and nothing else."""

from __future__ import annotations

import ctypes
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from knuckle.engine.emit import Lanes
from knuckle.engine.emit.llvm import feedback_loop
from knuckle.engine.emit.llvm.feedback_loop import Feedback, LoopPrinter, to_loop
from knuckle.engine.native import machine_code
from knuckle.engine.trace import Program
from knuckle.scalar import cos, sin
from knuckle.spatial import Vector

from .compiled import DTYPES, record

Array = np.ndarray[Any, Any]
MARK = 12345.0


def swing(x: Any, y: Any, u: Any, c: Any) -> Any:
    """x (2) and y (1) go on under a moving u (2) and a fixed c (1)."""
    return Vector([x[0] + c[0] * x[1], x[1] - 0.5 * y[0] + u[0], 0.25 * (x[0] + u[1])])


SWING = record(swing, x=(2,), y=(1,), u=(2,), c=(1,))
PARTS = Feedback(3, (2, 1), frozenset(["u"]))


class Loop:
    """The code of a loop in this process."""

    def __init__(self, program: Program, feedback: Feedback, dtype: str = "f64", width: int = 4) -> None:
        self.dtype = DTYPES[dtype]
        code = machine_code.compile_text(to_loop(program, Lanes(dtype, width), feedback))
        self._loaded = machine_code.Loaded(code)
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        others, size = 0, 0
        for _, n in program.arguments:
            others += size >= feedback.state
            size += n
        kind = ctypes.CFUNCTYPE(
            None, *[number] * 8, pointer, *[pointer, number, number] * others,
            *[pointer, number, number] * len(feedback.kept),
        )  # fmt: skip
        self._call = kind(self._loaded.address("loop"))

    def __call__(
        self, state: Array, inputs: list[tuple[Array, int, int]], kept: list[Array], keep: int, *steps: int
    ) -> None:
        """Steps from the first to before the second of `steps`, of all that the third says there are."""
        first, stop, total = steps
        row = -(-(first + 1) // keep)
        flow = [n for array, stride, pace in inputs for n in (array.ctypes.data, stride, pace)]
        flow += [n for array in kept for n in (array.ctypes.data, *(k // array.itemsize for k in array.strides[:2]))]
        due = min(row * keep, total)
        self._call(0, len(state) - 1, first, stop, row, due, keep, total, state.ctypes.data, *flow)


def stepped(state: Array, u: Array, c: Array, steps: int) -> Array:
    """The states after 0, 1, … steps: (trajectories, steps + 1, 3), in the precision of the arrays."""
    states = [state]
    for s in range(steps):
        x0, x1, y = (states[-1][:, k] for k in range(3))
        now, half, quarter = u[:, s], state.dtype.type(0.5), state.dtype.type(0.25)
        states.append(np.stack([x0 + c[:, 0] * x1, x1 - half * y + now[:, 0], quarter * (x0 + now[:, 1])], -1))
    return np.stack(states, 1)


def given(count: int, steps: int, dtype: Any) -> tuple[Array, Array, Array]:
    """States with a row more that must stay as it is, controls and constants; small integers, so that all is exact."""
    rng = np.random.default_rng(count)
    state = np.full((count + 1, 3), MARK, dtype)
    state[:count] = rng.integers(-3, 4, (count, 3))
    u, c = rng.integers(-3, 4, (count, steps, 2)), rng.integers(-1, 2, (count, 1))
    return state, np.ascontiguousarray(u, dtype), np.ascontiguousarray(c, dtype)


@pytest.mark.parametrize(("dtype", "width"), [("f64", 1), ("f64", 2), ("f64", 4), ("f64", 8), ("f32", 8), ("f32", 16)])
@pytest.mark.parametrize("count", [1, 4, 7, 33])
def test_states_follow_each_other(dtype: str, width: int, count: int):
    loop, steps = Loop(SWING, PARTS, dtype, width), 5
    state, u, c = given(count, steps, DTYPES[dtype])
    expected = stepped(state[:count], u, c, steps)
    x, y = (np.full((count + 1, steps + 1, n), MARK, DTYPES[dtype]) for n in (2, 1))
    loop(state, [(u, steps * 2, 2), (c, 1, 0)], [x, y], 1, 0, steps, steps)
    np.testing.assert_array_equal(state[:count], expected[:, -1])
    np.testing.assert_array_equal(x[:count, 1:], expected[:, 1:, :2])
    np.testing.assert_array_equal(y[:count, 1:], expected[:, 1:, 2:])
    assert np.all(state[count] == MARK)
    assert np.all(x[:, 0] == MARK)
    assert np.all(x[count] == MARK)
    assert np.all(y[count] == MARK)


@pytest.mark.parametrize("keep", [1, 2, 3, 7, 11, 12])
@pytest.mark.parametrize("cuts", [(), (5,), (2, 3, 4, 10), (6, 7)])
def test_every_so_many_and_the_last_are_kept_however_the_steps_are_cut(keep: int, cuts: tuple[int, ...]):
    loop, steps, count = Loop(SWING, PARTS), 11, 6
    state, u, c = given(count, steps, np.float64)
    expected = stepped(state[:count], u, c, steps)
    rows = 1 - (-steps // keep)
    x, y = (np.full((count + 1, rows, n), MARK) for n in (2, 1))
    bounds = [0, *cuts, steps]
    for first, stop in pairwise(bounds):
        loop(state, [(u, steps * 2, 2), (c, 1, 0)], [x, y], keep, first, stop, steps)
    at = np.minimum(np.arange(1, rows) * keep, steps)
    np.testing.assert_array_equal(x[:count, 1:], expected[:, at, :2])
    np.testing.assert_array_equal(y[:count, 1:], expected[:, at, 2:])
    np.testing.assert_array_equal(state[:count], expected[:, -1])


def test_rows_of_long_steps_are_fetched_beforehand(monkeypatch: pytest.MonkeyPatch):
    """Those of trajectories side by side; what is fetched beyond an array's end does no harm, at whatever place."""
    called = re.compile(r"call void @llvm\.prefetch\.p0\(ptr %\w+, i32 ([01])")
    assert not called.findall(to_loop(SWING, Lanes("f64", 8), PARTS))
    monkeypatch.setattr(feedback_loop, "LONG_STEP", 0)
    assert set(called.findall(to_loop(SWING, Lanes("f64", 8), PARTS))) == {"0", "1"}, "for reading, and for writing"
    assert not called.findall(to_loop(SWING, Lanes("f64", 1), PARTS)), "a single one is foreseen"
    test_states_follow_each_other("f64", 8, 33)
    test_rows_may_be_read_and_written_backward()


def test_one_value_for_all_trajectories():
    loop, steps, count = Loop(SWING, PARTS), 4, 9
    state, u, c = given(count, steps, np.float64)
    u, c = u[:1].copy(), c[:1].copy()
    expected = stepped(state[:count], np.repeat(u, count, 0), np.repeat(c, count, 0), steps)
    x, y = (np.empty((count + 1, steps + 1, n)) for n in (2, 1))
    loop(state, [(u, 0, 2), (c, 0, 0)], [x, y], 1, 0, steps, steps)
    np.testing.assert_array_equal(x[:count, 1:], expected[:, 1:, :2])


def test_an_argument_that_nothing_uses_is_not_read():
    program = record(lambda x, u: Vector([2 * x[0]]), x=(1,), u=(3,))
    state, kept = np.array([[3.0], [MARK]]), np.empty((2, 4, 1))
    nowhere = np.empty(0)
    Loop(program, Feedback(1, (1,), frozenset(["u"])))(state, [(nowhere, 0, 0)], [kept], 1, 0, 3, 3)
    np.testing.assert_array_equal(kept[0, 1:, 0], [6.0, 12.0, 24.0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_clock_says_what_numpy_says(dtype: str):
    """Rounded once for the product and once for the sum, in double precision, and then to that of the state."""
    program = record(lambda x, t: Vector([0 * x[0] + t[0]]), x=(1,), t=(1,))
    loop = Loop(program, Feedback(1, (1,), frozenset(), "t"), dtype)
    first, dt, steps = 0.1, 1e-3, 200
    kept, state = np.empty((2, steps + 1, 1), DTYPES[dtype]), np.zeros((2, 1), DTYPES[dtype])
    loop(state, [(np.array([first, dt]), 0, 0)], [kept], 1, 0, steps, steps)
    np.testing.assert_array_equal(kept[0, 1:, 0], (first + dt * np.arange(steps)).astype(DTYPES[dtype]))


def test_outputs_that_are_inputs_change_places():
    program = record(lambda x: Vector([x[1], x[2], x[0]]), x=(3,))
    state, kept = np.array([[1.0, 2.0, 3.0], [MARK] * 3]), np.empty((2, 5, 3))
    Loop(program, Feedback(3, (3,), frozenset()))(state, [], [kept], 1, 0, 4, 4)
    np.testing.assert_array_equal(kept[0, 1:], [[2, 3, 1], [3, 1, 2], [1, 2, 3], [2, 3, 1]])


def test_rows_may_be_read_and_written_backward():
    """A negative pace begins with the last row of an argument, and a negative gap with that of what is kept."""
    program = record(lambda x, u: Vector([x[0] + u[0]]), x=(1,), u=(1,))
    state, u, kept = np.array([[0.0], [MARK]]), np.array([[1.0, 10.0, 100.0]] * 2), np.zeros((2, 4, 1))
    Loop(program, Feedback(1, (1,), frozenset(["u"])))(state, [(u[:, 2:], 3, -1)], [kept[:, ::-1]], 1, 0, 3, 3)
    np.testing.assert_array_equal(kept[0, :3, 0], [111.0, 110.0, 100.0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sine_is_that_of_numpy_however_large_the_angle(dtype: str):
    program = record(lambda x, u: Vector([0.0 * x[0] + sin(u[0]), cos(u[0])]), x=(2,), u=(1,))
    loop = Loop(program, Feedback(2, (2,), frozenset(["u"])), dtype)
    real = DTYPES[dtype]
    u = np.array([0.3, -2.0, 1e6, -1e9 if dtype == "f64" else -2e5, np.inf, np.nan, 1e20, 0.5], real)
    kept = np.empty((2, 9, 2), real)
    loop(np.zeros((2, 2), real), [(u, 8, 1)], [kept], 1, 0, 8, 8)
    with np.errstate(invalid="ignore"):
        expected = np.stack([np.sin(u.astype(float)), np.cos(u.astype(float))], -1)
    expected[6] = np.nan  # no angle any more
    np.testing.assert_allclose(kept[0, 1:], expected, rtol=4 * float(np.finfo(real).eps), atol=0)


def test_a_state_must_be_followed_by_one_of_its_size():
    with pytest.raises(ValueError, match="a state of 2 numbers is followed by one of 3"):
        to_loop(SWING, Lanes("f64", 4), Feedback(2, (2,), frozenset()))
    with pytest.raises(ValueError, match=r"a state of 3 numbers has no parts of \(2, 2\)"):
        to_loop(SWING, Lanes("f64", 4), Feedback(3, (2, 2), frozenset()))


def test_long_code_passes_on_what_was_there_before(monkeypatch: pytest.MonkeyPatch):
    """A part that becomes what another part was, in code that is cut in segments: places are read before written."""
    monkeypatch.setattr(LoopPrinter, "longest", 100)

    def shifting(x: Any, y: Any, z: Any) -> Any:
        new = x[0]
        for k in range(300):
            new = new * 0.5 + float(k)
        return Vector([new, x[0], y[0]])

    state = np.full((6, 3), MARK)
    state[:5] = np.arange(15.0).reshape(5, 3)
    before, kept = state[:5].copy(), [np.zeros((6, 2, 1)) for _ in range(3)]
    Loop(record(shifting, x=(1,), y=(1,), z=(1,)), Feedback(3, (1, 1, 1), frozenset()))(state, [], kept, 1, 0, 1, 1)
    np.testing.assert_array_equal(state[:5, 1:], before[:, :2])
