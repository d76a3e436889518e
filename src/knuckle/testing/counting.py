"""A scalar that counts: how many multiplications, additions, divisions and square roots a text executes.

Structural zeros and ones cost nothing, negations and copies neither: the book's way of counting (RBDA 10.3, A.4),
before any simplification.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ONE, ZERO, Kind
from knuckle.scalar.operations import FUNCTIONS, Operation


@dataclass
class Tally:
    """What was executed so far. `tally.scalar(x)` makes a number whose arithmetic is entered here."""

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    trig: int = 0

    def scalar(self, value: float) -> Counted:
        """`value` as a number that counts."""
        return Counted(value, self)

    @property
    def operations(self) -> tuple[int, int]:
        """(multiplications, additions), a division counted as a multiplication, as in RBDA table A.4."""
        return self.mul + self.div, self.add


class Counted:
    """A float that enters each operation it takes part in into its tally."""

    __slots__ = ("tally", "value")
    __array_ufunc__ = None

    def __init__(self, value: float, tally: Tally) -> None:
        self.value, self.tally = value, tally

    def __repr__(self) -> str:
        return f"Counted({self.value!r})"

    def __float__(self) -> float:
        return self.value

    def _make(self, value: float, operation: str) -> Counted:
        setattr(self.tally, operation, getattr(self.tally, operation) + 1)
        return Counted(value, self.tally)

    def __add__(self, other: Any) -> Any:
        if other is ZERO:
            return NotImplemented
        return self._make(self.value + float(other), "add")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if other is ZERO:
            return NotImplemented
        return self._make(self.value - float(other), "add")

    def __rsub__(self, other: Any) -> Any:
        return self._make(float(other) - self.value, "add")

    def __mul__(self, other: Any) -> Any:
        if other is ZERO or other is ONE:
            return NotImplemented
        return self._make(self.value * float(other), "mul")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if other is ONE:
            return NotImplemented
        return self._make(self.value / float(other), "div")

    def __rtruediv__(self, other: Any) -> Any:
        return self._make(float(other) / self.value, "div")

    def __neg__(self) -> Counted:
        return Counted(-self.value, self.tally)

    @staticmethod
    def scalar_kind() -> Kind:
        """The functions of a counting number; a comparison and a choice cost nothing."""
        return Kind(
            "counted", 5, {f.name: _counted(f) for f in FUNCTIONS},
            lambda a, b: float(a) < float(b), lambda condition, a, b: a if condition else b, float,
        )  # fmt: skip


def _counted(f: Operation) -> Callable[..., Any]:
    def apply(*args: Any) -> Any:
        tally = next(x.tally for x in args if isinstance(x, Counted))
        return Counted(0.0, tally)._make(f.value(*map(float, args)), f.counts_as)

    return apply
