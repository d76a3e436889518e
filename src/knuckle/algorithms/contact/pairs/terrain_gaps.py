"""Balls, capsules and boxes on a height field: points of them over the surface."""

from __future__ import annotations

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
"""The most places along a side of a box."""


def sphere_on_terrain(sphere: Sphere, X: Transform, field: HeightField, Y: Transform) -> Places:
    return [ball_on_surface(TerrainSurface.of(field), X.r, sphere.radius, Y, 1e3 * sphere.radius)]


def capsule_on_terrain(capsule: Capsule, X: Transform, field: HeightField, Y: Transform) -> Places:
    """Both ends, and the lowest of some places between them."""
    surface, r, half, axis = TerrainSurface.of(field), capsule.radius, capsule.length / 2, X.E[2]
    c, u = matvec(Y.E, sub(X.r, Y.r)), matvec(Y.E, axis)
    count = max(1, -int(-PER_CELL * capsule.length // min(field.spacing)) - 1)
    first, step = capsule.length / (count + 1) - half, capsule.length / (count + 1)

    def next_place(left: Any, t: Any, lowest: Any, best: Any) -> tuple[Any, ...]:
        p = add(c, scale(t, u))
        height = surface.clearance(p)
        is_lower = less(height, lowest)
        return left - 1, t + step, select(is_lower, height, lowest), select(is_lower, t, best)

    height = surface.clearance(add(c, scale(first, u)))
    *_, between = repeated(next_place, (count - 0.5, first, height, first), count)
    return [ball_on_surface(surface, add(X.r, scale(t, axis)), r, Y, 1e3 * r) for t in (-half, between, half)]


def box_on_terrain(box: Box, X: Transform, field: HeightField, Y: Transform) -> Places:
    """The corners of the face that looks down most, and the place of that face which is deepest in the terrain."""
    surface = TerrainSurface.of(field)
    centre, side, other = lower_face(box, X, Y.E[2])
    c, a, b = matvec(Y.E, sub(centre, Y.r)), matvec(Y.E, side), matvec(Y.E, other)
    count = min(MOST, max(1, -int(-PER_CELL * max(box.size) // min(field.spacing)) - 1))
    step = 2 / (count + 1)

    def next_place(left: Any, s: Any, t: Any, lowest: Any, x: Any, y: Any) -> tuple[Any, ...]:
        height = surface.clearance(add(c, add(scale(s, a), scale(t, b))))
        is_lower, is_last = less(height, lowest), less(1 - 1.5 * step, s)
        best = select(is_lower, height, lowest), select(is_lower, s, x), select(is_lower, t, y)
        return left - 1, select(is_last, step - 1, s + step), select(is_last, t + step, t), *best

    start = surface.clearance(c)
    *_, s, t = repeated(next_place, (count * count - 0.5, step - 1, step - 1, start, 0.0, 0.0), count * count)
    ways = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0), (s, t)]
    points = [add(centre, add(scale(s, side), scale(t, other))) for s, t in ways]
    return [ball_on_surface(surface, point, 0.0, Y, 1e3 * max(box.size)) for point in points]


def ball_on_surface(surface: TerrainSurface, centre: Vec3, r: Any, Y: Transform, beyond: Any) -> TouchPoint:
    """A ball at the place of the surface that is nearest to its centre; nothing is beyond the rim."""
    c = matvec(Y.E, sub(centre, Y.r))
    height, n = surface.gap(c)
    height = select(less(0.5, surface.is_over(c[0], c[1])), height, beyond)
    n = tmatvec(Y.E, n)
    return TouchPoint(height - r, sub(centre, scale((r + height) / 2, n)), n)
