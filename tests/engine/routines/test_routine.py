"""Routines: what is compiled does what the Python does, and what cannot be compiled is named with its line."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest

from knuckle.engine.routines import Reals, Record, Wholes, routine
from knuckle.engine.routines.to_llvm import RoutineError

SCALE = 3.0


@dataclass(frozen=True)
class Table(Record):
    n: int
    x: Reals
    k: Wholes
    scale: float


@routine
def dot(x: Reals, y: Reals, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@routine
def mixture(t: Table, out: Reals) -> float:
    """Most of what routines can say."""
    n, x = t.n, t.x
    total = dot(x[1:], x, n - 1) * SCALE + t.scale
    for i in range(n - 1, 0, -2):
        out[i] = x[i] - x[i - 1] if x[i] > x[i - 1] and t.k[i % 3] >= 0 else -sqrt(abs(x[i]))
        out[i] *= 2.0
    i = 0
    while True:
        i += 1
        if i > 10:
            break
        if i % 2 == 0 or not (i < 7 or i > 7):
            continue
        total = max(total, float(i)) + min(x[0], 0.5) / (1 + i // 3)
    first, second = out[n - 1], -t.k[0]
    out[0] = first + second
    return total


@routine
def is_above(x: float, y: float) -> bool:
    return x > y


@pytest.mark.parametrize("seed", range(5))
def test_compiled_and_plain_are_the_same(seed: int):
    rng = np.random.default_rng(seed)
    table = Table(17, rng.normal(size=17), np.array([2, -1, 0]), 0.25)
    ours, plain = np.zeros(17), np.zeros(17)
    assert mixture(table, ours) == pytest.approx(mixture.python(table, plain), rel=1e-14)
    np.testing.assert_allclose(ours, plain, rtol=1e-14)
    assert np.abs(plain).max() > 0.1


def test_truth_values_come_back():
    assert is_above(2.0, 1.0) is True
    assert is_above(1.0, 2.0) is False


def test_a_bound_routine_reads_what_arrays_hold_now():
    x = np.ones(4)
    call = dot.bind(x, x, 4)
    assert call() == 4.0
    x[:] = 2.0
    assert call() == 16.0


@routine
def with_list(x: Reals) -> float:
    y = [x[0]]
    return y[0]


@routine
def of_two_kinds(x: Reals) -> float:
    y = 1
    y = 0.5
    return y * x[0]


@routine
def unknown(x: Reals) -> float:
    return float(np.sum(x))


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (with_list, r"routine with_list, line \d+ of .*: '\[x\[0\]\]' is nothing that a routine can compute"),
        (of_two_kinds, r"routine of_two_kinds, line \d+ .*: double where i64 is needed"),
        (unknown, r"routine unknown, line \d+"),
    ],
)
def test_what_cannot_be_compiled_is_named(wrong, match: str):
    with pytest.raises(RoutineError, match=match):
        wrong(np.ones(3))


def test_arrays_of_other_kinds_are_refused():
    with pytest.raises(TypeError, match="dot: x is an array of float64 with one axis"):
        dot(np.ones(3, np.float32), np.ones(3), 3)
    with pytest.raises(TypeError, match="dot takes 3 arguments, not 1"):
        dot(np.ones(3))
