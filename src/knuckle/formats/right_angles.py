"""Right angles without the rounding that sines and cosines leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knuckle.spatial import Transform

_ROUNDING = 1e-15


def snap(direction: Sequence[Any]) -> tuple[Any, ...]:
    """A unit vector, exact where an entry is 0 but for rounding, and ±1 where all others are.

    A cosine may be that near to one while the sine beside it is an angle that was meant.
    """
    entries = tuple(0 if abs(x) <= _ROUNDING else x for x in direction)
    if sum(x != 0 for x in entries) > 1:
        return entries
    return tuple(x if x == 0 else round(float(x)) for x in entries)


def placed(E: Any, r: Any) -> Transform:
    """The transform to a frame with origin r and axes E, right angles made exact and zeros structural."""
    return Transform.of(tuple(map(snap, E)), r)
