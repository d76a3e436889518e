"""Dual numbers: exact directional derivatives of anything written over scalars.

`Dual(x, dx)` carries a value and its derivative; the parts may be scalars of any kind, also duals (then the
derivative of the derivative is carried along). A joint that only says where it is gets its motion subspace this way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import elementary
from .arrays.numpy_operand import NumPyOperand
from .derived_functions import power, remainder
from .inside_kernel import is_of_one_state
from .kinds import Kind
from .operations import FUNCTIONS, Operation
from .structural import ZERO, MadeOfScalars, _Structural

_OTHERS = (MadeOfScalars, _Structural)
"""What computes a mixed expression by itself."""


class Dual(NumPyOperand):
    """value + derivative·ε with ε² = 0. Duals compare by their values, as the numbers that they stand for would."""

    __slots__ = ("derivative", "value")

    def __init__(self, value: Any, derivative: Any = ZERO) -> None:
        self.value, self.derivative = value, derivative

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.derivative!r})"

    def __add__(self, other: Any) -> Any:
        if type(other) is not Dual:
            if isinstance(other, _OTHERS) or _is_vector(other):
                return NotImplemented
            other = Dual(other)
        return Dual(self.value + other.value, self.derivative + other.derivative)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.derivative)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, _OTHERS) or _is_vector(other) else self + (-_lift(other))

    def __rsub__(self, other: Any) -> Any:
        return _lift(other) + (-self)

    def __mul__(self, other: Any) -> Any:
        if type(other) is not Dual:
            if isinstance(other, _OTHERS) or _is_vector(other):
                return NotImplemented
            other = Dual(other)
        x, y = self.value, other.value
        return Dual(x * y, self.derivative * y + x * other.derivative)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, _OTHERS) or _is_vector(other):
            return NotImplemented
        o = _lift(other)
        quotient = self.value / o.value
        return Dual(quotient, _over(self.derivative - quotient * o.derivative, o.value, quotient))

    def __rtruediv__(self, other: Any) -> Any:
        return _lift(other) / self

    def __lt__(self, other: Any) -> Any:
        return NotImplemented if _is_vector(other) else self.value < _lift(other).value

    def __le__(self, other: Any) -> Any:
        return NotImplemented if _is_vector(other) else self.value <= _lift(other).value

    def __gt__(self, other: Any) -> Any:
        return NotImplemented if _is_vector(other) else self.value > _lift(other).value

    def __ge__(self, other: Any) -> Any:
        return NotImplemented if _is_vector(other) else self.value >= _lift(other).value

    def __eq__(self, other: object) -> Any:
        return NotImplemented if _is_vector(other) else self.value == _lift(other).value

    def __ne__(self, other: object) -> Any:
        return NotImplemented if _is_vector(other) else self.value != _lift(other).value

    def __hash__(self) -> int:
        return hash(self.value)

    def __abs__(self) -> Any:
        return elementary.absolute(self)

    def __pow__(self, n: Any) -> Any:
        return NotImplemented if _is_vector(n) else power(self, n)

    def __rpow__(self, x: Any) -> Any:
        return power(x, self)

    def __mod__(self, y: Any) -> Any:
        return NotImplemented if _is_vector(y) else remainder(self, y)

    @staticmethod
    def scalar_kind() -> Kind:
        return Kind("dual", 9, {f.name: _carried(f) for f in FUNCTIONS}, _less, _select, _value)


def _is_vector(x: Any) -> bool:
    """Whether `x` computes a mixed expression by itself: a vector, or in the text of a kernel an array of constants."""
    return getattr(x, "ndim", 0) > 0 and (isinstance(x, MadeOfScalars) or is_of_one_state())


def _lift(x: Any) -> Dual:
    return x if isinstance(x, Dual) else Dual(x)


def _over(a: Any, b: Any, like: Any) -> Any:
    """a / b, but a ratio of integers in the kind of `like`: a third of a unit slope is exact where numbers are."""
    if a is not ZERO and isinstance(a, (int, _Structural)) and isinstance(b, (int, _Structural)):
        unit: Any = like - like + 1
        return unit * int(a) / int(b)
    return a / b


def _value(x: Any) -> Any:
    return elementary.value_of(_lift(x).value)


def _carried(f: Operation) -> Callable[..., Dual]:
    """A function of the table, with its derivative."""
    of_values: Callable[..., Any] = getattr(elementary, f.name)

    def apply(*args: Any) -> Dual:
        duals = [_lift(x) for x in args]
        values = [x.value for x in duals]
        result = of_values(*values)
        return Dual(result, f.tangent(result, values, [x.derivative for x in duals]))

    return apply


def _less(x: Any, y: Any) -> Any:
    return elementary.less(_lift(x).value, _lift(y).value)


def _select(condition: Any, x: Any, y: Any) -> Dual:
    x, y = _lift(x), _lift(y)
    choose = elementary.select
    return Dual(choose(condition, x.value, y.value), choose(condition, x.derivative, y.derivative))


def derivative(f: Callable[[Any], Any], x: Any) -> tuple[Any, Any]:
    """`f(x)` and its derivative, for a function of one scalar."""
    y = _lift(f(Dual(x, 1)))
    return y.value, y.derivative


def parts(x: Any) -> tuple[Any, Any]:
    """The value and the derivative of a dual number; any other number does not change."""
    return (x.value, x.derivative) if isinstance(x, Dual) else (x, ZERO)
