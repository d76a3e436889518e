"""Numbers of thirty digits for many states at once: the sum of two doubles, each an array with a number for each state.

Sums, products, quotients and roots are made of IEEE additions and multiplications whose errors are known exactly
(Dekker, Knuth), so their relative errors are below 2⁻¹⁰⁰; NumPy computes them for all states at once, ten times as fast
as numbers of fifty digits. Sines and other functions go through fifty digits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.scalar.kinds import Kind
from knuckle.scalar.operations import FUNCTIONS
from knuckle.scalar.structural import MadeOfScalars, _Structural

from .many_digits import ManyDigits, digits_of, function_of, precision

SPLITTER = 2.0**27 + 1
WORKING_DIGITS = 45
"""Of functions that are not made of sums and products."""


class TwoDoubles:
    """high + low, where low is at most half a rounding of high. Compares number by number."""

    __array_ufunc__ = None
    __slots__ = ("_halves", "high", "low")

    def __init__(self, high: Any, low: Any) -> None:
        self.high = high
        self.low = low
        self._halves: Any = None

    @staticmethod
    def scalar_kind() -> Kind:
        """How two doubles compute what operators do not say."""
        return _kind()

    def __repr__(self) -> str:
        return f"TwoDoubles({self.high!r}, {self.low!r})"

    @property
    def halves(self) -> Any:
        """`high` as the sum of two numbers of 26 bits."""
        if self._halves is None:
            scaled = SPLITTER * self.high
            first = scaled - (scaled - self.high)
            self._halves = first, self.high - first
        return self._halves

    def __add__(self, other: Any) -> Any:
        return _binary(self, other, _sum)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _binary(self, other, lambda x, y: _sum(x, -y))

    def __rsub__(self, other: Any) -> Any:
        return _binary(self, other, lambda x, y: _sum(y, -x))

    def __mul__(self, other: Any) -> Any:
        return _binary(self, other, _product)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _binary(self, other, _quotient)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary(self, other, lambda x, y: _quotient(y, x))

    def __pow__(self, n: int) -> Any:
        result: Any = self
        for _ in range(n - 1):
            result = result * self
        return result

    def __neg__(self) -> TwoDoubles:
        return TwoDoubles(-self.high, -self.low)

    def __abs__(self) -> TwoDoubles:
        return _select(self.high < 0, -self, self)

    def __lt__(self, other: Any) -> Any:
        return (self - two_doubles_of(other)).high < 0

    def __le__(self, other: Any) -> Any:
        return (self - two_doubles_of(other)).high <= 0

    def __gt__(self, other: Any) -> Any:
        return (self - two_doubles_of(other)).high > 0

    def __ge__(self, other: Any) -> Any:
        return (self - two_doubles_of(other)).high >= 0

    def __eq__(self, other: object) -> Any:
        return (self - two_doubles_of(other)).high == 0

    def __hash__(self) -> int:
        return id(self)

    def __float__(self) -> float:
        return float(self.high)

    def __bool__(self) -> bool:
        return bool(self.high != 0)


def _binary(x: TwoDoubles, y: Any, operation: Callable[[TwoDoubles, TwoDoubles], TwoDoubles]) -> Any:
    if type(y) is TwoDoubles:
        return operation(x, y)
    if isinstance(y, (MadeOfScalars, _Structural)) or hasattr(y, "rows") or hasattr(y, "items"):
        return NotImplemented
    return operation(x, two_doubles_of(y))


def _with_error(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b and what is lost of it (Knuth)."""
    s = a + b
    part = s - a
    return s, (a - (s - part)) + (b - part)


def _normal(high: Any, low: Any) -> TwoDoubles:
    """Two doubles of a large and a small part (Dekker)."""
    s = high + low
    return TwoDoubles(s, low - (s - high))


def _sum(x: TwoDoubles, y: TwoDoubles) -> TwoDoubles:
    """Relative error 3 · 2⁻¹⁰⁶, also where the parts cancel."""
    s, e = _with_error(x.high, y.high)
    t, f = _with_error(x.low, y.low)
    high = _normal(s, e + t)
    return _normal(high.high, high.low + f)


def _product(x: TwoDoubles, y: TwoDoubles) -> TwoDoubles:
    """Relative error 7 · 2⁻¹⁰⁶."""
    p = x.high * y.high
    (a, b), (c, d) = x.halves, y.halves
    e = ((a * c - p) + a * d + b * c) + b * d
    return _normal(p, e + (x.high * y.low + x.low * y.high))


def _quotient(x: TwoDoubles, y: TwoDoubles) -> TwoDoubles:
    """Long division: three digits, each a double."""
    first = TwoDoubles(x.high / y.high, 0.0 * y.high)
    rest = x - first * y
    second = TwoDoubles(rest.high / y.high, 0.0 * y.high)
    third = (rest - second * y).high / y.high
    return _normal(*_with_error(first.high, second.high)) + TwoDoubles(third, 0.0 * third)


def _root(x: TwoDoubles) -> TwoDoubles:
    """Newton's step from the root of doubles."""
    near = np.sqrt(x.high)
    r, twice = TwoDoubles(near, 0.0 * near), np.where(near == 0, 1.0, 2.0 * near)
    return r + (x - r * r) / TwoDoubles(twice, 0.0 * twice)


def _select(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(condition, np.ndarray):
        x, y = two_doubles_of(x), two_doubles_of(y)
        return TwoDoubles(np.where(condition, x.high, y.high), np.where(condition, x.low, y.low))
    return x if condition else y


@cache
def _kind() -> Kind:
    def applied(name: str) -> Callable[..., Any]:
        def function(*args: Any) -> TwoDoubles:
            with precision(WORKING_DIGITS):
                return two_doubles_of(function_of(name)(*(many_digits_of(two_doubles_of(x)) for x in args)))

        return function

    functions = {f.name: applied(f.name) for f in FUNCTIONS} | {"sqrt": lambda x: _root(two_doubles_of(x))}
    return Kind("two doubles", 5, functions, lambda a, b: two_doubles_of(a) < b, _select, lambda x: x)


def many_digits_of(x: TwoDoubles) -> ManyDigits:
    """The same number in many digits, of which the precision must be that of two doubles at least."""
    return digits_of(x.high) + digits_of(x.low)


def two_doubles_of(x: Any) -> TwoDoubles:
    """A number of any kind, or an array of them, as two doubles: doubles exactly, many digits to thirty-two."""
    if type(x) is TwoDoubles:
        return x
    if isinstance(x, _Structural):
        return TwoDoubles(float(x.value), 0.0)
    lanes = x.lanes if type(x) is ManyDigits else x
    if isinstance(lanes, np.ndarray):
        high: NDArray[Any] = lanes.astype(float)
        return TwoDoubles(high, (lanes - high).astype(float))
    high_one = float(lanes)
    return TwoDoubles(high_one, float(lanes - high_one) if type(lanes) is not float else 0.0)
