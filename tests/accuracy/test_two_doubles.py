"""Numbers of two doubles: thirty digits, for many states at once."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import knuckle as kn
from knuckle.accuracy.exact_model import exact, in_two_doubles
from knuckle.accuracy.many_digits import precision
from knuckle.accuracy.reference_run import run, run_in_two_doubles
from knuckle.accuracy.two_doubles import TwoDoubles, two_doubles_of
from knuckle.joints import Revolute
from knuckle.model import Model, solid_box
from knuckle.scalar import arctan2, cos, select, sin, sqrt

DIGITS = 2.0**-100


def numbers(seed: int) -> TwoDoubles:
    """Of all sizes, with low parts that are not nothing."""
    rng = np.random.default_rng(seed)
    high = rng.standard_normal(200) * 10.0 ** rng.integers(-8, 8, 200)
    return TwoDoubles(high, high * 2.0**-54 * rng.uniform(-1, 1, 200))


def many(x: TwoDoubles, k: int) -> mp.mpf:
    return mp.mpf(float(x.high[k])) + mp.mpf(float(x.low[k]))


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (lambda x, y: x + y, lambda x, y: x + y),
        (lambda x, y: x - y, lambda x, y: x - y),
        (lambda x, y: x * (1 + y) - x, lambda x, y: x * (1 + y) - x),
        (lambda x, y: x * y, lambda x, y: x * y),
        (lambda x, y: x / y, lambda x, y: x / y),
        (lambda x, y: 3 / y - 0.1 * x, lambda x, y: 3 / y - mp.mpf(0.1) * x),
        (lambda x, y: sqrt(abs(x)), lambda x, y: mp.sqrt(abs(x))),
        (lambda x, y: sin(x) + 2 * cos(y), lambda x, y: mp.sin(x) + 2 * mp.cos(y)),
        (arctan2, mp.atan2),
    ],
)
def test_operations_have_thirty_digits(found, wanted) -> None:
    """Against sixty digits; differences in parts of what they are made of."""
    x, y = numbers(1), numbers(2)
    result = found(x, y)
    with mp.workdps(60):
        for k in range(200):
            a, b = many(x, k), many(y, k)
            size = max(abs(a), abs(b), abs(a * b), abs(wanted(a, b)), 1)
            assert abs(many(result, k) - wanted(a, b)) < DIGITS * size


def test_a_sum_that_cancels_keeps_its_digits() -> None:
    """Relative to what is left, which is the low parts."""
    x = numbers(3)
    y = TwoDoubles(-x.high, x.low / 3)
    with mp.workdps(60):
        for k in range(200):
            left = many(x, k) + many(y, k)
            assert abs(many(x + y, k) - left) <= DIGITS * abs(left)


def test_comparisons_see_the_low_part() -> None:
    one = TwoDoubles(np.ones(3), np.array([-1e-20, 0.0, 1e-20]))
    assert (one < 1).tolist() == [True, False, False]
    assert (one >= 1).tolist() == [False, True, True]
    assert select(one < 1, 2.0, one).high.tolist() == [2.0, 1.0, 1.0]
    assert (abs(-one) == one).all()
    assert sqrt(two_doubles_of(np.zeros(2))).high.tolist() == [0.0, 0.0]


def test_functions_agree_with_fifty_digits() -> None:
    model = slanted()
    q, v, a = np.random.default_rng(0).standard_normal((3, 4, 2))
    with precision(50):
        right = exact(model)
        two = in_two_doubles(right)
        for function, arrays in ((kn.inverse_dynamics, [q, v, a]), (kn.forward_dynamics, [q, v, a])):
            fifty, (high, low) = run(function, right, arrays), run_in_two_doubles(function, two, arrays)
            assert np.abs(((fifty - high) - low).astype(float)).max() < 1e-28 * np.abs(high).max()
            assert np.abs((fifty - high).astype(float)).max() > 1e-20  # doubles alone do not


def slanted() -> Model:
    """Rotations and axes of which no entry is a zero."""
    b = kn.Builder("slanted")
    b.body("a", joint=Revolute((0.6, 0.5, 0.4)), at={"rpy": (0.3, 0.2, 0.1)}, inertia=solid_box(2.0, (0.1, 0.2, 0.3)))
    b.body("b", "a", Revolute("z"), {"xyz": (0.1, 0.4, 0.2), "rpy": (1, 2, 3)}, mass=1.0, com=(0.1, 0.2, 0.3))
    return b.build()
