"""Axes of joints: unit vectors of plain numbers, exact on coordinate axes, and turns about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from knuckle.scalar import ZERO, arctan2, constant, cos, sin
from knuckle.spatial import rotation
from knuckle.spatial.three import Mat3, Vec3, dot, matvec, unskew

Axis: TypeAlias = str | Sequence[float]
Unit: TypeAlias = tuple[float, float, float]

X_AXIS, Y_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_ROUNDING = 4.5e-16
"""What is left of a length of one when its three parts are rounded: two units of the last place."""
_NAMES = {"x": X_AXIS, "y": Y_AXIS, "z": Z_AXIS}


def unit(axis: Axis) -> Unit:
    """`axis` ("x", "y", "z" or three numbers) with length one; one that has it but for rounding stays as it is."""
    numbers = _NAMES.get(axis, axis) if isinstance(axis, str) else axis
    try:
        x, y, z = (float(a) for a in numbers)
    except (TypeError, ValueError):
        raise ValueError(f'an axis is "x", "y", "z" or three numbers, not {axis!r}') from None
    length = math.hypot(x, y, z)
    if not (math.isfinite(length) and length > 0):
        raise ValueError(f"an axis needs a finite length above zero, not {axis!r}")
    if abs(length - 1) <= _ROUNDING:
        length = 1.0
    return x / length + 0.0, y / length + 0.0, z / length + 0.0


def opposite(axis: Unit) -> Unit:
    """The axis pointing the other way."""
    x, y, z = axis
    return -x, -y, -z


def finite(value: float, name: str) -> float:
    """`value` as a finite float; `name` is the parameter it is given for."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is a number, not {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is a finite number, not {value!r}")
    return number


def structural(axis: Unit) -> Vec3:
    """The axis with its zeros and ones made structural."""
    x, y, z = axis
    return constant(x), constant(y), constant(z)


@lru_cache(maxsize=4096)
def frame(axis: Unit) -> tuple[Vec3, Vec3, Vec3]:
    """(x, y, axis): right-handed, for a coordinate axis a cyclic order of the coordinate axes, so (x, y, z) for z."""
    x, y = rotation.perpendicular(axis)
    return structural(x), structural(y), structural(axis)


def turn(axis: Vec3, E: Mat3) -> Any:
    """The angle about `axis` that leaves the least of E over: tan q = −2 a·unskew(E) / (tr E − a·Ea)."""
    trace = sum((E[i][i] for i in range(3)), ZERO)
    return arctan2(-2 * dot(axis, unskew(E)), trace - dot(axis, matvec(E, axis)))


def wrapped(angle: Any) -> Any:
    """The same angle within ±π."""
    return arctan2(sin(angle), cos(angle))


def unwound(angle: Any, guess: Any) -> Any:
    """`angle` plus as many whole turns as bring it nearest to `guess`."""
    return guess + wrapped(angle - guess)
