"""Right angles without the rounding that sines and cosines leave."""

from __future__ import annotations

from typing import Any

from knuckle.spatial import Transform

_ROUNDING = 1e-15


def snap(x: Any) -> Any:
    """An entry of a rotation or axis, exact where it is −1, 0 or 1 but for rounding."""
    nearest = round(float(x))
    return nearest if abs(x - nearest) <= _ROUNDING else x


def placed(E: Any, r: Any) -> Transform:
    """The transform to a frame with origin r and axes E, right angles made exact and zeros structural."""
    return Transform.of(tuple(tuple(map(snap, row)) for row in E), r)
