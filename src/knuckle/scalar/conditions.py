"""Conditions over scalars of any kind: what comparisons give and `select` takes."""

from __future__ import annotations

import operator
from typing import Any

from .elementary import select
from .kinds import kind_of


def is_condition(x: Any) -> bool:
    """Whether `x` is what a comparison gives, rather than a number."""
    return type(x).__name__ in ("bool", "bool_") or getattr(x, "is_condition", False) or hasattr(x, "is_Boolean")


def condition_of(x: Any) -> Any:
    """A number as the condition that it is not zero."""
    return x if is_condition(x) else not_equal(x, 0)


def equal(x: Any, y: Any) -> Any:
    """Whether x = y."""
    return kind_of(x, y).equal(x, y)


def not_equal(x: Any, y: Any) -> Any:
    """Whether x ≠ y."""
    return x != y if kind_of(x, y).equal is operator.eq else ~equal(x, y)


def both(x: Any, y: Any) -> Any:
    """Whether both hold."""
    if isinstance(x, bool):
        return y if x else False
    return (x if y else False) if isinstance(y, bool) else x & y


def either(x: Any, y: Any) -> Any:
    """Whether one of them holds."""
    if isinstance(x, bool):
        return True if x else y
    return (True if y else x) if isinstance(y, bool) else x | y


def neither(x: Any) -> Any:
    """Whether it does not hold."""
    return not x if isinstance(x, bool) else ~x


def one_of_two(x: Any, y: Any) -> Any:
    """Whether one of them holds, and the other does not."""
    return either(both(x, neither(y)), both(neither(x), y))


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds, or the number is not zero, else `y`."""
    condition = condition_of(condition)
    if type(condition).__name__ in ("bool", "bool_"):
        return x if condition else y
    return select(condition, number_of(x), number_of(y))


def number_of(x: Any) -> Any:
    """1 or 0 for a condition; a number as it is."""
    return x + 0 if is_condition(x) else x
