"""Axes of joints: unit vectors of plain numbers, exact on coordinate axes."""

from __future__ import annotations

import math
from typing import Any

from knuckle.scalar import constant
from knuckle.spatial.three import Vec3

X_AXIS, Y_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_NAMES = {"x": X_AXIS, "y": Y_AXIS, "z": Z_AXIS}


def unit(axis: Any) -> tuple[float, float, float]:
    """`axis` ("x", "y", "z" or three numbers) with length one."""
    numbers = _NAMES.get(axis, axis) if isinstance(axis, str) else axis
    try:
        x, y, z = (float(a) for a in numbers)
    except (TypeError, ValueError):
        raise ValueError(f'an axis is "x", "y", "z" or three numbers, not {axis!r}') from None
    length = math.hypot(x, y, z)
    if not (math.isfinite(length) and length > 0):
        raise ValueError(f"an axis needs a finite length above zero, not {axis!r}")
    return x / length + 0.0, y / length + 0.0, z / length + 0.0


def structural(axis: tuple[float, float, float]) -> Vec3:
    """The axis with its zeros and ones made structural."""
    x, y, z = axis
    return constant(x), constant(y), constant(z)
