"""Axial screw transforms (RBDA A.4): a turn about and a step along one coordinate axis.

A general transform is three of them, a Denavit-Hartenberg step two. Their zeros are structural, so that applying one
costs what the book's special formulae cost, in the same code as any other transform.
"""

from __future__ import annotations

from typing import Any

from knuckle.scalar import ZERO, constant

from .rotation import rx, ry, rz
from .transform import Transform


def screw_x(angle: Any, distance: Any) -> Transform:
    """scrx(θ, d) = rotx(θ) xlt(d 0 0)."""
    return Transform(rx(angle), (constant(distance), ZERO, ZERO))


def screw_y(angle: Any, distance: Any) -> Transform:
    """scry(θ, d) = roty(θ) xlt(0 d 0)."""
    return Transform(ry(angle), (ZERO, constant(distance), ZERO))


def screw_z(angle: Any, distance: Any) -> Transform:
    """scrz(θ, d) = rotz(θ) xlt(0 0 d)."""
    return Transform(rz(angle), (ZERO, ZERO, constant(distance)))
