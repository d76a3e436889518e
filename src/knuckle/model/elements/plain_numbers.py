"""What is said of numbers that are none."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any, cast

from knuckle.scalar import kind_of

_NOTHING = object()


def must_be_a_number(x: Any, what: str, needed: str = "a finite number", shown: Any = _NOTHING) -> None:
    """A ValueError unless x is a finite number, or a scalar of another kind, which may be anything.

    Args:
        x: the value.
        what: what it is called in the error.
        needed: what it has to be.
        shown: what was found instead, if it is not x.
    """
    is_flag, is_plain = isinstance(x, bool), isinstance(x, Real)
    if is_plain and not is_flag and math.isfinite(x):
        return
    is_scalar = not is_plain
    if is_scalar:
        try:
            kind_of(x)
        except TypeError:
            is_scalar = False
    if not is_scalar:
        raise ValueError(f"{what} is {needed}, not {x if shown is _NOTHING else shown!r}")


def numbers_of(values: Any, count: int, what: str, needed: str) -> tuple[Any, ...]:
    """So many numbers, or a ValueError."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{what} is {needed}, not {values!r}")
    numbers = tuple(cast("Iterable[Any]", values))
    if len(numbers) != count:
        raise ValueError(f"{what} is {needed}, not {values!r}")
    for x in numbers:
        must_be_a_number(x, what, needed, values)
    return numbers
