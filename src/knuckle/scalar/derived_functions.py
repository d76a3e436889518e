"""Functions of scalars that are made of those in the table of operations: their derivatives follow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .elementary import absolute, arctan2, cos, exp, floor, less, log, maximum, minimum, select, sin, sqrt
from .kinds import kind_of
from .structural import ONE, _Structural


def tan(x: Any) -> Any:
    """Tangent."""
    return sin(x) / cos(x)


def arctan(x: Any) -> Any:
    """The angle between −π/2 and π/2 whose tangent is x."""
    return arctan2(x, 1)


def arcsin(x: Any) -> Any:
    """The angle between −π/2 and π/2 whose sine is x; NaN where |x| > 1."""
    return arctan2(x, sqrt((1 - x) * (1 + x)))


def arccos(x: Any) -> Any:
    """The angle between 0 and π whose cosine is x; NaN where |x| > 1."""
    return arctan2(sqrt((1 - x) * (1 + x)), x)


def log2(x: Any) -> Any:
    """The logarithm to base 2."""
    return log(x) / math.log(2.0)


def log10(x: Any) -> Any:
    """The logarithm to base 10."""
    return log(x) / math.log(10.0)


def square(x: Any) -> Any:
    """x²."""
    return x * x


def reciprocal(x: Any) -> Any:
    """1/x."""
    return 1 / x


def hypot(x: Any, y: Any) -> Any:
    """√(x² + y²)."""
    return sqrt(x * x + y * y)


def degrees(x: Any) -> Any:
    """An angle in degrees."""
    return x * (180.0 / math.pi)


def radians(x: Any) -> Any:
    """An angle in radians."""
    return x * (math.pi / 180.0)


def ceil(x: Any) -> Any:
    """The smallest whole number that is not below x."""
    return -floor(-x)


def trunc(x: Any) -> Any:
    """x without its fraction."""
    return select(less(x, 0), ceil(x), floor(x))


def rint(x: Any) -> Any:
    """The nearest whole number; of two that are as near, the even one."""
    below = floor(x)
    fraction, odd = x - below, below - 2 * floor(below / 2)
    return select(less(fraction, 0.5), below, select(less(0.5, fraction), below + 1, below + odd))


def floor_divide(x: Any, y: Any) -> Any:
    """The whole part of a quotient, rounded down."""
    return floor(x / y)


def remainder(x: Any, y: Any) -> Any:
    """What a quotient that is rounded down leaves: of the sign of y."""
    return x - y * floor(x / y)


def copysign(x: Any, y: Any) -> Any:
    """The magnitude of x with the sign of y; a zero has none."""
    return select(less(y, 0), -absolute(x), absolute(x))


def heaviside(x: Any, at_zero: Any) -> Any:
    """0 below zero, 1 above it."""
    return select(less(x, 0), 0, select(less(0, x), 1, at_zero))


def clip(x: Any, low: Any, high: Any) -> Any:
    """x between two bounds."""
    return minimum(maximum(x, low), high)


def power(x: Any, y: Any) -> Any:
    """x to the power of y: products for whole numbers y, roots for halves, else by logarithms.

    An exponent that is not known beforehand needs x ≥ 0, as one that is no whole number does: NaN elsewhere.
    """
    exponent = int(y) if isinstance(y, _Structural) else y
    if kind_of(exponent).rank > 2:  # no plain number
        return exp(exponent * log(x))
    if kind_of(x).rank <= 2 and not isinstance(x, _Structural):
        return _of_numbers(x, exponent)
    if exponent == int(exponent):
        return _whole_power(x, int(exponent))
    if 2 * exponent == int(2 * exponent):
        return _whole_power(x, math.floor(exponent)) * sqrt(x)
    return exp(exponent * log(x))


def _of_numbers(x: Any, y: Any) -> Any:
    try:
        result = x**y
    except (OverflowError, ZeroDivisionError):
        return math.inf
    return math.nan if isinstance(result, complex) else result


def _whole_power(x: Any, n: int) -> Any:
    """xⁿ by squares."""
    if n < 0:
        return 1 / _whole_power(x, -n)
    if n == 0:
        return ONE
    half = _whole_power(x, n // 2) if n > 1 else ONE
    return half * half * x if n % 2 else half * half


DERIVED: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        tan, arctan, arcsin, arccos, log2, log10, square, reciprocal, hypot, degrees, radians, ceil, trunc, rint,
        floor_divide, remainder, copysign, heaviside, power,
    )
}  # fmt: skip
"""Those that have the name and the arguments of a function of NumPy's."""
