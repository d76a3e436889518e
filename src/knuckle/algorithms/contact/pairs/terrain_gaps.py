"""Balls and capsules on a height field."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.contact.plane_gaps import Places, TouchPoint
from knuckle.model.parts import Capsule, HeightField, Sphere
from knuckle.scalar import less, select
from knuckle.spatial import Transform, repeated
from knuckle.spatial.three import Vec3, add, matvec, scale, sub, tmatvec

from .terrain_surface import TerrainSurface

PER_CELL = 2
"""Places along a capsule, between its ends, for each cell that is as long."""
BEYOND = 1e3
"""The gap over the rim, where nothing is, in radii."""


def sphere_on_terrain(sphere: Sphere, X: Transform, field: HeightField, Y: Transform) -> Places:
    return [_ball(TerrainSurface.of(field), X.r, sphere.radius, Y)]


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
    return [_ball(surface, add(X.r, scale(t, axis)), r, Y) for t in (-half, between, half)]


def _ball(surface: TerrainSurface, centre: Vec3, r: Any, Y: Transform) -> TouchPoint:
    """A ball at the place of the surface that is nearest to its centre; nothing is beyond the rim."""
    c = matvec(Y.E, sub(centre, Y.r))
    height, n = surface.gap(c)
    height = select(less(0.5, surface.is_over(c[0], c[1])), height, BEYOND * r)
    n = tmatvec(Y.E, n)
    return TouchPoint(height - r, sub(centre, scale((r + height) / 2, n)), n)
