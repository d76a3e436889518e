"""Dual numbers against complex steps and against SymPy's derivatives."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import casadi as ca
import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from knuckle.scalar import ONE, ZERO, Dual, absolute, arctan2, cos, derivative, less, maximum, select, sin, sqrt
from knuckle.spatial import Motion, Vector

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "polynomial": lambda x: 3 * x * x * x - x / 2 + 7,
    "rational": lambda x: (2 - x) / (1 + x * x) + 1 / x,
    "right hand sides": lambda x: 2 - x + 3 / x - (x - 1) + ONE / x - ONE * x + (ONE - x) - ZERO,
    "trigonometric": lambda x: sin(x) * cos(2 * x) - sin(cos(x)),
    "root": lambda x: sqrt(1 + x * x) / sqrt(x),
    "angle": lambda x: arctan2(sin(x) * 2, cos(x) - x),
    "angle over constants": lambda x: arctan2(4 * x, 3) - 3 * arctan2(1, 4 * x),
    "chosen": lambda x: select(less(x, 1), sin(x), x * x) + select(less(1, x), x, 3 * x),
    "magnitude": lambda x: absolute(x - 2) * maximum(x, Fraction(1, 2)),
}
X = 0.6875


def complex_step(f: Callable[[Any], Any], x: float) -> float:
    return f(x + 1e-30j).imag / 1e-30


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slope_is_that_of_the_complex_step(name: str):
    f = FUNCTIONS[name]
    y, slope = derivative(f, X)
    assert y == pytest.approx(f(X), rel=1e-15)
    assert slope == pytest.approx(complex_step(f, X), rel=1e-14)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_nested_duals_are_higher_derivatives(name: str, order: int):
    """Duals of duals of duals against SymPy at forty digits."""
    f, x = FUNCTIONS[name], sp.Symbol("x", real=True)
    at = sp.Rational(X)
    expression = sp.piecewise_fold(f(x))
    with mp.workdps(40):
        expected = mp.mpf(sp.diff(expression, x, order).subs(x, at).evalf(40))
        nested: Callable[[Any], Any] = f
        for _ in range(order):
            nested = (lambda g: lambda z: derivative(g, z)[1])(nested)
        assert abs(nested(mp.mpf(X)) - expected) <= mp.mpf(10) ** -37 * max(1, abs(expected))


def test_directional_derivatives():
    """A dual carries the derivative along its direction: ∇f·d."""
    x, y, dx, dy = 0.7, -0.4, 0.3, 0.9
    f = sin(Dual(x, dx) * Dual(y, dy)) / Dual(y, dy)
    slope = math.cos(x * y) * (dx * y + x * dy) / y - math.sin(x * y) / y**2 * dy
    assert f.derivative == pytest.approx(slope, rel=1e-14)


def test_a_constant_has_no_slope():
    assert Dual(3.0).derivative is ZERO
    assert derivative(lambda x: 5.0, X) == (5.0, ZERO)
    assert sin(Dual(X)).derivative is ZERO
    assert sqrt(Dual(X)).derivative is ZERO
    assert (Dual(X) * Dual(2.0) + 1).derivative is ZERO
    assert (Dual(X) / 3).derivative is ZERO
    assert (3 / Dual(X)).derivative is ZERO
    assert arctan2(Dual(X), 2.0).derivative is ZERO
    assert sqrt(Dual(0.0)).derivative is ZERO


@pytest.mark.parametrize(
    "value",
    [np.array([0.5, 0.75]), np.float32(0.5), mp.mpf("0.5"), Fraction(1, 2), sp.Rational(1, 2), ca.SX(0.5), ca.MX(0.5)],
    ids=["lanes", "float32", "mpmath", "fraction", "sympy", "SX", "MX"],
)
def test_parts_of_every_kind(value: Any):
    """On both sides of every operator, and without leaving the kind of the parts."""
    one = value / value
    x = Dual(value, one)
    pairs = [
        (x * value, value * value, value),
        (value * x, value * value, value),
        (x + value, value + value, one),
        (value + x, value + value, one),
        (x - value, value - value, one),
        (value - x, value - value, -one),
        (x / value, value / value, one / value),
        (value / x, value / value, -one / value),
        (x * x - 3 * x, value * value - 3 * value, 2 * value - 3),
    ]
    for y, expected, slope in pairs:
        assert isinstance(y, Dual)
        for part, right in ((y.value, expected), (y.derivative, slope)):
            found = ca.evalf(part) if isinstance(part, (ca.SX, ca.MX)) else part
            wanted = ca.evalf(right) if isinstance(right, (ca.SX, ca.MX)) else right
            assert np.all(np.abs(np.asarray(found - wanted, dtype=float)) <= 2e-7)
            assert type(part) in (type(right), np.ndarray, np.float32) or isinstance(part, sp.Basic)


def test_fractions_stay_exact():
    y, slope = derivative(lambda x: (x * x - x / 2) / (1 + x), Fraction(1, 3))
    assert (y, slope) == (Fraction(-1, 24), Fraction(5, 32))
    assert type(y) is type(slope) is Fraction
    assert derivative(lambda x: x / 3, Fraction(1, 2)) == (Fraction(1, 6), Fraction(1, 3))


@pytest.mark.parametrize("seed", [1, ONE])
def test_a_ratio_of_integers_is_as_exact_as_the_value(seed: Any):
    with mp.workdps(40):
        assert (Dual(mp.mpf(2), seed) / 3).derivative == mp.mpf(1) / 3
    assert (Dual(sp.Symbol("x"), seed) / 3).derivative == sp.Rational(1, 3)
    assert (Dual(np.float32(2), seed) / 3).derivative.dtype == np.float32


def test_float32_stays_float32():
    y, slope = derivative(lambda x: sqrt(sin(x) * x + 1) / (2 - cos(x)), np.array([0.25, 0.5], np.float32))
    assert y.dtype == slope.dtype == np.float32


def test_lanes_choose_one_by_one():
    x = np.array([-2.0, 3.0])
    _, slope = derivative(absolute, x)
    assert np.asarray(slope).tolist() == [-1.0, 1.0]


def test_slope_between_equals_is_the_mean():
    """At a corner neither slope is right; their mean is what a symmetric difference gives."""
    _, slope = derivative(lambda x: maximum(x, 2 * x - 1), 1.0)
    assert slope == 1.5


def test_composites_scale_by_duals():
    s = Dual(2.0, 1.0)
    for scaled in (s * Motion.of((1, 2, 3, 4, 5, 6)), Motion.of((1, 2, 3, 4, 5, 6)) * s):
        assert isinstance(scaled, Motion)
        assert [float(x.value) for x in scaled.components] == [2, 4, 6, 8, 10, 12]
    assert isinstance(s * Vector([1.0, 2.0]), Vector)
    for wrong in (lambda: s + Vector([1.0]), lambda: s - Motion.zero(), lambda: s / Vector([1.0])):
        with pytest.raises(TypeError):
            wrong()


def test_says_what_it_is():
    assert repr(Dual(1.5, 2)) == "Dual(1.5, 2)"
