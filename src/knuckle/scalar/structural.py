"""Zero and one that are known before anything is computed.

`ZERO * x` is `ZERO` and `ZERO + x` is `x` whatever scalar `x` is, so a coordinate axis, an empty product of inertia or
a missing force costs nothing, in arithmetic and in a recorded graph, and no algorithm needs a branch for it.
"""

from __future__ import annotations

from typing import Any


class StructuralDivisionError(ZeroDivisionError):
    """A division by what is zero in every state, whatever the numbers are."""


class MadeOfScalars:
    """Base of what is made of scalars and is none itself: a vector, a matrix, an inertia.

    A scalar times a composite is for the composite to compute; a composite times a composite is no scaling.
    """

    __slots__ = ()
    __array_ufunc__ = None  # NumPy leaves mixed arithmetic to the methods of the class


class _Structural:
    """A number known from the structure of the problem."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy leaves mixed arithmetic to the methods below,
    _op_priority = 1000.0  # and so does SymPy, which would make an Integer of it
    value: int

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return self.value

    def __complex__(self) -> complex:
        return complex(self.value)

    def _sympy_(self) -> Any:
        import sympy

        return sympy.Integer(self.value)

    def __eq__(self, other: object) -> Any:
        return self.value == (other.value if isinstance(other, _Structural) else other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __lt__(self, other: Any) -> Any:
        return self.value < other

    def __gt__(self, other: Any) -> Any:
        return self.value > other

    def __le__(self, other: Any) -> Any:
        return self.value <= other

    def __ge__(self, other: Any) -> Any:
        return self.value >= other

    def __abs__(self) -> Any:
        return self

    def __bool__(self) -> bool:
        return bool(self.value)

    def __copy__(self) -> _Structural:
        return self

    def __deepcopy__(self, memo: object) -> _Structural:
        return self


class _Zero(_Structural):
    __slots__ = ()
    value = 0

    def __repr__(self) -> str:
        return "ZERO"

    def __reduce__(self) -> str:
        return "ZERO"

    def __add__(self, other: Any) -> Any:
        return other

    __radd__ = __add__
    __rsub__ = __add__

    def __sub__(self, other: Any) -> Any:
        return -other

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, MadeOfScalars) else self

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if other is self:
            raise StructuralDivisionError("division of a structural zero by itself")
        return NotImplemented if isinstance(other, MadeOfScalars) else self

    def __rtruediv__(self, other: Any) -> Any:
        raise StructuralDivisionError("division by a structural zero")

    def __neg__(self) -> Any:
        return self


class _One(_Structural):
    __slots__ = ()
    value = 1

    def __repr__(self) -> str:
        return "ONE"

    def __reduce__(self) -> str:
        return "ONE"

    def __add__(self, other: Any) -> Any:
        return self if other is ZERO else 2 if other is self else 1 + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if other is ZERO else ZERO if other is self else 1 - other

    def __rsub__(self, other: Any) -> Any:
        return other - 1

    def __mul__(self, other: Any) -> Any:
        return other

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self if other is self else 1 / other

    def __rtruediv__(self, other: Any) -> Any:
        return other

    def __neg__(self) -> Any:
        return -1


ZERO: Any = _Zero()
ONE: Any = _One()


def constant(x: Any) -> Any:
    """`x` with a plain 0 or 1 made structural; other values, and values that are not plain numbers, unchanged.

    A float of NumPy's, which is a plain number too, becomes Python's: it shall not decide the precision of a result.
    A whole number becomes an int, which keeps fractions and symbols exact.
    """
    if isinstance(x, (int, float)):
        return ZERO if x == 0 else ONE if x == 1 else int(x) if abs(x) < 2**53 and x == int(x) else float(x)
    return x
