"""Numbers of many digits, for many states at once: a scalar whose value is an array of mpmath's or gmpy2's numbers.

The text of a function runs once for all states, so that the digits are what costs time. gmpy2, where it is installed,
computes the numbers ten times as fast as mpmath and gives the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from knuckle.extras import need
from knuckle.scalar.kinds import Kind
from knuckle.scalar.operations import FUNCTIONS
from knuckle.scalar.structural import MadeOfScalars, _Structural

BITS_PER_DIGIT = 3.3219280948873626
GUARD = 4
"""Digits beyond those asked for, as mpmath keeps them too."""


class ManyDigits:
    """A number of many digits, or one for each state of a batch. Compares number by number."""

    __array_ufunc__ = None
    __slots__ = ("lanes",)

    def __init__(self, lanes: Any) -> None:
        self.lanes = lanes

    @staticmethod
    def scalar_kind() -> Kind:
        """How numbers of many digits compute what operators do not say."""
        return _kind()

    def __repr__(self) -> str:
        return f"ManyDigits({self.lanes!r})"

    def __add__(self, other: Any) -> Any:
        return _binary(self, other, lambda x, y: x + y)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _binary(self, other, lambda x, y: x - y)

    def __rsub__(self, other: Any) -> Any:
        return _binary(self, other, lambda x, y: y - x)

    def __mul__(self, other: Any) -> Any:
        return _binary(self, other, lambda x, y: x * y)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _binary(self, other, lambda x, y: x / y)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary(self, other, lambda x, y: y / x)

    def __pow__(self, n: int) -> ManyDigits:
        return ManyDigits(self.lanes**n)

    def __neg__(self) -> ManyDigits:
        return ManyDigits(-self.lanes)

    def __abs__(self) -> ManyDigits:
        return ManyDigits(abs(self.lanes))

    def __lt__(self, other: Any) -> Any:
        return self.lanes < _plain(other)

    def __le__(self, other: Any) -> Any:
        return self.lanes <= _plain(other)

    def __gt__(self, other: Any) -> Any:
        return self.lanes > _plain(other)

    def __ge__(self, other: Any) -> Any:
        return self.lanes >= _plain(other)

    def __eq__(self, other: object) -> Any:
        return self.lanes == _plain(other)

    def __hash__(self) -> int:
        return id(self)

    def __float__(self) -> float:
        return float(self.lanes)

    def __bool__(self) -> bool:
        return bool(self.lanes != 0)


def _plain(x: Any) -> Any:
    return x.lanes if type(x) is ManyDigits else x.value if isinstance(x, _Structural) else x


def _binary(x: ManyDigits, y: Any, operation: Callable[[Any, Any], Any]) -> Any:
    if type(y) is ManyDigits:
        return ManyDigits(operation(x.lanes, y.lanes))
    if isinstance(y, (MadeOfScalars, _Structural)) or hasattr(y, "rows") or hasattr(y, "items"):
        return NotImplemented
    return ManyDigits(operation(x.lanes, y))


def _package() -> tuple[Any, bool]:
    """gmpy2, or else mpmath; and whether it is gmpy2."""
    try:
        return import_module("gmpy2"), True
    except ImportError:
        return need("mpmath", "many digits need", "accuracy"), False


@cache
def _kind() -> Kind:
    package, _ = _package()

    def applied(name: str, arity: int) -> Callable[..., Any]:
        each = np.frompyfunc(getattr(package, name), arity, 1)
        return lambda *args: ManyDigits(each(*(_number(_plain(x)) for x in args)))

    functions = {f.name: applied(f.library, f.arity) for f in FUNCTIONS}
    return Kind("many digits", 5, functions, lambda a, b: _plain(a) < _plain(b), _select, _plain)


def _select(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(condition, np.ndarray):
        return ManyDigits(np.where(condition.astype(bool), _plain(x), _plain(y)))
    return x if condition else y


def _number(x: Any) -> Any:
    """A plain number as one of many digits; numbers of many digits as they are."""
    package, is_fast = _package()
    return (package.mpfr if is_fast else package.mpf)(x) if isinstance(x, (int, float)) else x


def digits_of(values: Any) -> Any:
    """A number, or an array of them, as exact numbers of many digits."""
    package, is_fast = _package()
    make = package.mpfr if is_fast else package.mpf
    if isinstance(values, ManyDigits):
        return values
    if isinstance(values, np.ndarray):
        return ManyDigits(np.frompyfunc(lambda x: make(float(x)), 1, 1)(values))
    return ManyDigits(make(values))


def function_of(name: str) -> Callable[..., ManyDigits]:
    """A function of numbers of many digits, by its name among the operations on scalars."""
    return _kind().functions[name]


@contextmanager
def precision(digits: int) -> Iterator[None]:
    """Numbers of many digits have this many, and a few more, inside."""
    package, is_fast = _package()
    if is_fast:
        with package.context(package.get_context(), precision=round((digits + GUARD) * BITS_PER_DIGIT)):
            yield
    else:
        with package.workdps(digits + GUARD):
            yield
