"""Functions of θ² through zero: forty digits, last places of a float, derivatives, continuity."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from knuckle.scalar import Dual, derivative
from knuckle.spatial import series

# name: (function, its power series' first factorial)
SUMS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "sinc": (series.sinc, 1),
    "cosc": (series.cosc, 2),
    "sincc": (series.sincc, 3),
    "coscc": (series.coscc, 4),
    "sinccc": (series.sinccc, 5),
}
SWITCHES = (0.25, 1.0, 4.0, 9.0)
CLOSE = [edge + sign * gap for edge in SWITCHES for gap in (1e-12, 1e-3) for sign in (-1, 1)]
POINTS = [0.0, 1e-40, 1e-18, 1e-9, 1e-4, 0.03, 0.1, *CLOSE, 0.6, 2.0, 6.5, 9.9, 12.0, 20.0, 39.0]
EPS = 2.0**-52


def exact(first: int, x: Any) -> Any:
    """Σ (−x)ᵏ / (2k + first)!, with digits to spare for the cancellation at x = 40."""
    with mp.workdps(120):
        x = mp.mpf(x)
        return sum(((-x) ** k / mp.factorial(2 * k + first) for k in range(80)), mp.mpf(0))


def exact_log_factor(x: Any) -> Any:
    with mp.workdps(120):
        t = mp.sqrt(mp.mpf(x))
        return (1 - t / 2 * mp.cot(t / 2)) / mp.mpf(x) if x else mp.mpf(1) / 12


@pytest.mark.parametrize("name", SUMS)
def test_forty_digits(name: str):
    """No cancellation anywhere: 39 digits of 40, of numbers no smaller than 1/120."""
    for x in POINTS:
        f, first = SUMS[name]
        assert abs(f(mp.mpf(x)) - exact(first, x)) <= mp.mpf(10) ** -39 * abs(exact(first, 0))


@pytest.mark.parametrize("x", POINTS)
def test_forty_digits_of_the_half_angle_and_the_logarithm(x: float):
    s, c = series.half_angle_sine(mp.mpf(x))
    assert abs(s - exact(1, mp.mpf(x) / 4) / 2) <= mp.mpf(10) ** -39
    assert abs(c - exact(0, mp.mpf(x) / 4)) <= mp.mpf(10) ** -39
    expected = exact_log_factor(x)
    slack = 1 if x < 30 else 100  # the factor grows without bound towards θ = 2π: x/(4π² − x) ≈ 80 at the last point
    assert abs(series.log_factor(mp.mpf(x)) - expected) <= mp.mpf(10) ** -38 * slack * expected


@pytest.mark.parametrize("name", SUMS)
def test_last_places_of_a_float(name: str):
    """Within a few units in the last place of the value at zero, from zero past π to 2π."""
    f, first = SUMS[name]
    for x in [*POINTS, *np.linspace(0.01, 39.4, 50)]:
        assert abs(f(float(x)) - exact(first, float(x))) <= 3 * EPS * exact(first, 0), x


@pytest.mark.parametrize("edge", SWITCHES)
@pytest.mark.parametrize("name", SUMS)
def test_continuous_where_series_and_closed_form_meet(name: str, edge: float):
    """The two sides of the switch, one float apart, are 1e-15 apart at most; and so are their slopes."""
    f, first = SUMS[name]
    below = math.nextafter(edge, 0.0)
    (y0, s0), (y1, s1) = derivative(f, below), derivative(f, edge)
    assert abs(y1 - y0) <= 1e-15 * abs(exact(first, 0))
    assert abs(s1 - s0) <= 1e-14 * abs(exact(first, 0))


@pytest.mark.parametrize("edge", SWITCHES)
def test_log_factor_and_half_angle_are_continuous(edge: float):
    edge = edge * 4 if edge == 0.25 else edge  # the half angle changes over at θ/2
    below = math.nextafter(edge, 0.0)
    assert abs(series.log_factor(below) - series.log_factor(edge)) <= 1e-15
    for a, b in zip(series.half_angle_sine(below), series.half_angle_sine(edge), strict=True):
        assert abs(a - b) <= 1e-15


@pytest.mark.parametrize("name", SUMS)
def test_derivatives_by_complex_step(name: str):
    """Analytic in x: also at zero and on either side of the switches."""
    for x in POINTS[:-1]:
        f, first = SUMS[name]
        with mp.workdps(120):
            X = mp.mpf(x)
            slope = -sum((k * (-X) ** (k - 1) / mp.factorial(2 * k + first) for k in range(1, 80)), mp.mpf(0))
        size = float(abs(exact(first, 0)))
        assert abs(f(x + 1e-30j).imag / 1e-30 - slope) <= 8 * EPS * size
        assert abs(derivative(f, x)[1] - slope) <= 8 * EPS * size


def test_second_derivative_through_zero():
    """Nested duals: sinc(θ²) = 1 − x/6 + x²/120, so the second derivative at zero is 1/60."""
    y = series.sinc(Dual(Dual(0.0, 1.0), Dual(1.0, 0.0)))
    assert y.derivative.derivative == pytest.approx(1 / 60, rel=1e-15)


@pytest.mark.parametrize("name", SUMS)
def test_lanes_keep_their_precision(name: str):
    f, first = SUMS[name]
    x = np.array([0.0, 0.2, 0.3, 3.9, 4.1, 8.0, 10.0], np.float32)
    y = f(x)
    assert y.dtype == np.float32
    expected = np.array([float(exact(first, float(a))) for a in x])
    assert np.abs(y - expected).max() <= 4 * 2.0**-23 * float(exact(first, 0))
    assert series.log_factor(x).dtype == np.float32
    assert all(part.dtype == np.float32 for part in series.half_angle_sine(x))


def test_fractions_take_the_series():
    """Below the switch nothing but arithmetic is met, and a fraction stays one."""
    x = Fraction(1, 10)
    for f, first in SUMS.values():
        y = f(x)
        assert isinstance(y, Fraction)
        assert abs(mp.mpf(y.numerator) / y.denominator - exact(first, mp.mpf(1) / 10)) < mp.mpf(10) ** -38
    assert isinstance(series.log_factor(x), Fraction)
    with pytest.raises(TypeError, match="fraction has no exact"):
        series.sinc(Fraction(1))
