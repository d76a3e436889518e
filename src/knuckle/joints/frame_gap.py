"""How far two frames are from being joined (RBDA table 8.1), for any axis.

The table's entries of X = [E 0; −E r× E] for an axis z are components of Ez and of m = −E r× z; with the frame
(x, y, a) of another axis in place of (x, y, z) the same components serve.
"""

from __future__ import annotations

from typing import Any

from knuckle.spatial import Transform
from knuckle.spatial.three import Vec3, cross, dot, matvec


def tilt(X: Transform, x: Vec3, y: Vec3, a: Vec3) -> tuple[Any, Any]:
    """The turn of the axis about x and y: X₂₃ and −X₁₃ for z."""
    Ea = matvec(X.E, a)
    return dot(y, Ea), -dot(x, Ea)


def offset(X: Transform, x: Vec3, y: Vec3, a: Vec3) -> tuple[Any, Any]:
    """The distance of the axis from its place along x and y: X₅₃ and −X₄₃ for z."""
    m = matvec(X.E, cross(a, X.r))
    return dot(y, m), -dot(x, m)


def slip(X: Transform, x: Vec3, y: Vec3, a: Vec3) -> Any:
    """The distance along the axis: X₄₁X₂₁ + X₄₂X₂₂ for z, which is a·Er less the product of two errors."""
    return dot(a, matvec(X.E, X.r)) + offset(X, x, y, a)[1] * tilt(X, x, y, a)[0]
