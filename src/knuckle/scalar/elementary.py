"""The functions of a scalar, for every kind."""

from __future__ import annotations

from typing import Any

from .kinds import kind_of
from .structural import ONE, ZERO, _Structural

_NUMBERS = frozenset((int, float))
"""Types that Python compares by itself: the shortest way, for the numbers that occur most."""


def _plain(x: Any) -> Any:
    return x.value if isinstance(x, _Structural) else x


def _applied(name: str, *args: Any) -> Any:
    return kind_of(*args).functions[name](*map(_plain, args))


def sin(x: Any) -> Any:
    """Sine."""
    return ZERO if x is ZERO else _applied("sin", x)


def cos(x: Any) -> Any:
    """Cosine."""
    return ONE if x is ZERO else _applied("cos", x)


def sqrt(x: Any) -> Any:
    """Square root."""
    return x if isinstance(x, _Structural) else _applied("sqrt", x)


def arctan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y)."""
    return _applied("arctan2", y, x)


def exp(x: Any) -> Any:
    """The exponential."""
    return ONE if x is ZERO else _applied("exp", x)


def log(x: Any) -> Any:
    """The natural logarithm."""
    return ZERO if x is ONE else _applied("log", x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return ZERO if x is ZERO else _applied("tanh", x)


def sinh(x: Any) -> Any:
    """The hyperbolic sine."""
    return ZERO if x is ZERO else _applied("sinh", x)


def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""
    return ONE if x is ZERO else _applied("cosh", x)


def floor(x: Any) -> Any:
    """The largest whole number that is not above x; of a complex number that of its real part."""
    return x if isinstance(x, _Structural) else _applied("floor", x)


def less(x: Any, y: Any) -> Any:
    """Whether x < y: a condition for `select`. Complex numbers compare by their real parts."""
    if type(x) in _NUMBERS and type(y) in _NUMBERS:
        return x < y
    return kind_of(x, y).less(_plain(x), _plain(y))


def select(condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds, else `y`: the only branch an algorithm may take on a value."""
    if x is y:
        return x
    if type(condition) is bool and type(x) in _NUMBERS and type(y) in _NUMBERS:
        return x if condition else y
    return kind_of(condition, x, y).select(condition, _plain(x), _plain(y))


def minimum(x: Any, y: Any) -> Any:
    """The smaller of two; NaN if either is."""
    own = kind_of(x, y).minimum
    if own is not None:
        return own(_plain(x), _plain(y))
    return select(less(x, y), x, select(less(y, x), y, _either(x, y)))


def maximum(x: Any, y: Any) -> Any:
    """The larger of two; NaN if either is."""
    own = kind_of(x, y).maximum
    if own is not None:
        return own(_plain(x), _plain(y))
    return select(less(y, x), x, select(less(x, y), y, _either(x, y)))


def _either(x: Any, y: Any) -> Any:
    """Both, where they are equal; NaN where they do not compare. Duals get the mean of the two slopes."""
    return x if x is y else (x + y) / 2


def absolute(x: Any) -> Any:
    """The magnitude of a real number; analytic in x for complex steps."""
    if isinstance(x, _Structural):
        return x
    own = kind_of(x).absolute
    return select(less(x, 0), -x, x) if own is None else own(x)


def sign(x: Any) -> Any:
    """−1, 0 or 1; NaN of NaN, which is neither below nor above anything."""
    return ZERO if x is ZERO else select(less(x, 0), -1, select(less(0, x), 1, select(less(-1, x), 0, x)))


def value_of(x: Any) -> Any:
    """The plain number that stands for `x` in comparisons."""
    return kind_of(x).value(_plain(x))
