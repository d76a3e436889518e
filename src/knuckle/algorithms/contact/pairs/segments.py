"""Segments in space, by their middles, directions and half lengths."""

from __future__ import annotations

from typing import Any

from knuckle.scalar import less, maximum, select
from knuckle.spatial.three import Vec3, add, dot, scale, sub

PARALLEL = 1e-12
"""The squared sine of the angle below which two directions count as parallel."""


def nearest_of_lines(p: Vec3, a: Vec3, h: Any, q: Vec3, b: Vec3, k: Any) -> tuple[Vec3, Vec3]:
    """The nearest points of two segments with these middles, directions and half lengths that are not parallel."""
    d = sub(p, q)
    c, e, f = dot(a, b), dot(a, d), dot(b, d)
    wide = maximum(1 - c * c, PARALLEL)
    x = clamped((c * f - e) / wide, h)
    y = clamped(c * x + f, k)
    x = clamped(c * y - e, h)
    return add(p, scale(x, a)), add(q, scale(y, b))


def clamped(x: Any, h: Any) -> Any:
    """The nearest number from −h to h."""
    return select(less(x, -h), -h, select(less(h, x), h, x))
