"""Balls, capsules and boxes on a height field: points of them over the surface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knuckle.algorithms.contact.plane_gaps import Places, TouchPoint, lower_face
from knuckle.model.parts import Box, Capsule, HeightField, Sphere
from knuckle.scalar import less, select
from knuckle.spatial import Transform, repeated
from knuckle.spatial.three import Vec3, add, matvec, scale, sub, tmatvec

from .terrain_surface import TerrainSurface

PER_CELL = 2
"""Places along a capsule, between its ends, for each cell that is as long."""
MOST = 32
"""The most places along a length."""


def sphere_on_terrain(sphere: Sphere, X: Transform, field: HeightField, Y: Transform) -> Places:
    return [ball_on_surface(TerrainSurface.of(field), X.r, sphere.radius, Y, 1e3 * sphere.radius)]


def capsule_on_terrain(capsule: Capsule, X: Transform, field: HeightField, Y: Transform) -> Places:
    """Both ends, and the lowest of some places between them."""
    surface, r, half = TerrainSurface.of(field), capsule.radius, scale(capsule.length / 2, X.E[2])
    between = deepest_of_line(surface, Y, X.r, half, places_along(capsule.length, field))
    return [ball_on_surface(surface, add(X.r, scale(t, half)), r, Y, 1e3 * r) for t in (-1.0, between, 1.0)]


def box_on_terrain(box: Box, X: Transform, field: HeightField, Y: Transform) -> Places:
    """The corners of the face that looks down most, and the place of that face which is deepest in the terrain."""
    surface = TerrainSurface.of(field)
    centre, side, other = lower_face(box, X, Y.E[2])
    s, t = deepest_of_square(surface, Y, centre, side, other, places_along(max(box.size), field))
    ways = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0), (s, t)]
    points = [add(centre, add(scale(s, side), scale(t, other))) for s, t in ways]
    return [ball_on_surface(surface, point, 0.0, Y, 1e3 * max(box.size)) for point in points]


def places_along(length: float, field: HeightField) -> int:
    """How many places along a length are looked at: more than one for each cell, and not too many."""
    return min(MOST, max(1, -int(-PER_CELL * length // min(field.spacing)) - 1))


def deepest_of_line(surface: TerrainSurface, Y: Transform, middle: Vec3, half: Vec3, count: int) -> Any:
    """Where of `count` places between −1 and 1 along a line is the deepest."""
    c, u = matvec(Y.E, sub(middle, Y.r)), matvec(Y.E, half)
    step = 2 / (count + 1)

    def next_place(left: Any, t: Any, lowest: Any, best: Any) -> tuple[Any, ...]:
        height = surface.clearance(add(c, scale(t, u)))
        is_lower = less(height, lowest)
        return left - 1, t + step, select(is_lower, height, lowest), select(is_lower, t, best)

    start = surface.clearance(add(c, scale(step - 1, u)))
    *_, best = repeated(next_place, (count - 0.5, step - 1, start, step - 1), count)
    return best


def deepest_of_square(
    surface: TerrainSurface, Y: Transform, middle: Vec3, side: Vec3, other: Vec3, count: int,
    within: Callable[[Any, Any], tuple[Any, Any]] = lambda s, t: (s, t),
) -> tuple[Any, Any]:  # fmt: skip
    """Which of count² places, between −1 and 1 along two sides, is the deepest; each is moved to one `within` first."""
    c, a, b = matvec(Y.E, sub(middle, Y.r)), matvec(Y.E, side), matvec(Y.E, other)
    step = 2 / (count + 1)

    def next_place(left: Any, s: Any, t: Any, lowest: Any, x: Any, y: Any) -> tuple[Any, ...]:
        u, v = within(s, t)
        height = surface.clearance(add(c, add(scale(u, a), scale(v, b))))
        is_lower, is_last = less(height, lowest), less(1 - 1.5 * step, s)
        best = select(is_lower, height, lowest), select(is_lower, s, x), select(is_lower, t, y)
        return left - 1, select(is_last, step - 1, s + step), select(is_last, t + step, t), *best

    start = surface.clearance(c)
    *_, s, t = repeated(next_place, (count * count - 0.5, step - 1, step - 1, start, 0.0, 0.0), count * count)
    return s, t


def ball_on_surface(surface: TerrainSurface, centre: Vec3, r: Any, Y: Transform, beyond: Any) -> TouchPoint:
    """A ball at the place of the surface that is nearest to its centre; nothing is beyond the rim."""
    c = matvec(Y.E, sub(centre, Y.r))
    height, n = surface.gap(c)
    height = select(less(0.5, surface.is_over(c[0], c[1])), height, beyond)
    n = tmatvec(Y.E, n)
    return TouchPoint(height - r, sub(centre, scale((r + height) / 2, n)), n)
