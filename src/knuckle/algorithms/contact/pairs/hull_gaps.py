"""Convex hulls on a half-space and on terrain: up to four of their lowest corners, far from each other.

The corners are a table, which loops go through: the text is as long for a thousand of them as for ten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knuckle.algorithms.contact.plane_gaps import Places, TouchPoint, chosen
from knuckle.model.parts import HeightField, Mesh
from knuckle.scalar import Grid, absolute, less, maximum, select, sqrt
from knuckle.spatial import Transform, repeated
from knuckle.spatial.three import Vec3, add, cross, dot, matvec, scale, sub, tmatvec

from .terrain_gaps import ball_on_surface
from .terrain_surface import TerrainSurface

STEEP = 100.0
"""How many times farther than another a corner must be to count as much as one that is lower by that."""
FAR = 1e-6
"""The distance of corners, relative to the size, below which one of them is enough."""


Score = Callable[[Vec3], Any]


def hull_on_plane(mesh: Mesh, X: Transform, plane: Transform) -> Places:
    """Four of the lowest corners; a place that is not needed has a gap that is larger than the hull."""
    n = plane.E[2]
    start = dot(n, sub(X.r, plane.r))
    up = matvec(X.E, n)
    found: Places = []
    least: Any = None
    for p, is_needed in lowest_corners(mesh, up):
        height = start + dot(up, p)
        least = height if least is None else least
        gap = select(less(0.5, is_needed), height, least + _size(mesh))
        found.append(TouchPoint(gap, sub(add(X.r, tmatvec(X.E, p)), scale(height / 2, n)), n))
    return found


def hull_on_terrain(mesh: Mesh, X: Transform, field: HeightField, Y: Transform) -> Places:
    """Four of the lowest corners, and the one that is deepest in the terrain."""
    surface, size, up = TerrainSurface.of(field), _size(mesh), matvec(X.E, Y.E[2])

    def placed(p: Vec3) -> Vec3:
        return add(X.r, tmatvec(X.E, p))

    _, deepest = _best(mesh, lambda p: -surface.clearance(matvec(Y.E, sub(placed(p), Y.r))))
    found: Places = []
    for p, is_needed in [*lowest_corners(mesh, up), (deepest, 1.0)]:
        place = ball_on_surface(surface, placed(p), 0.0, Y, 1e3 * size)
        found.append(place._replace(gap=select(less(0.5, is_needed), place.gap, place.gap + 10 * size)))
    return found


def lowest_corners(mesh: Mesh, up: Vec3) -> list[tuple[Vec3, Any]]:
    """The lowest corner, the farthest from it, the farthest from the line of both, and from that triangle.

    Corners that are higher count as nearer. With each comes 1, or 0 where it is near those before it.
    """
    size = _size(mesh)
    lowest, first = _best(mesh, lambda p: -dot(up, p))

    def counts(p: Vec3, length: Any) -> Any:
        """A distance, less what the corner is higher than the lowest one."""
        return length - STEEP * (dot(up, p) + lowest)

    def along(p: Vec3) -> Vec3:
        """The part of a way along the plane."""
        return sub(p, scale(dot(up, p), up))

    def beyond(q: Vec3, r: Vec3) -> Score:
        """How far corners are to the right of the line from q to r."""
        across = cross(along(sub(r, q)), up)
        unit = scale(1 / maximum(_length(across), FAR * size), across)
        return lambda p: dot(unit, sub(p, q))

    far, second = _best(mesh, lambda p: counts(p, _length(along(sub(p, first)))))
    side = beyond(first, second)
    wide, third = _best(mesh, lambda p: counts(p, absolute(side(p))))
    is_left = less(side(third), 0)
    a, b = chosen(is_left, second, third), chosen(is_left, third, second)
    sides = [beyond(q, r) for q, r in ((first, a), (a, b), (b, first))]
    more, fourth = _best(mesh, lambda p: counts(p, maximum(sides[0](p), maximum(sides[1](p), sides[2](p)))))
    others = ((second, far), (third, wide), (fourth, more))
    return [(first, 1.0), *((p, select(less(FAR * size, score), 1.0, 0.0)) for p, score in others)]


def _best(mesh: Mesh, score: Score) -> tuple[Any, Vec3]:
    """The highest score of a corner, and that corner."""
    corners, count = Grid(tuple(x for corner in mesh.hull for x in corner), 3, 1, 3), len(mesh.hull)

    def next_corner(left: Any, most: Any, x: Any, y: Any, z: Any) -> tuple[Any, ...]:
        _, _, (a, b, c) = corners.window(count - left - 0.25, 0.0)
        s = score((a, b, c))
        is_more = less(most, s)
        return left - 1, select(is_more, s, most), *chosen(is_more, (a, b, c), (x, y, z))

    first = mesh.hull[0]
    _, most, *corner = repeated(next_corner, (count - 0.5, score(first), *first), count)
    return most, (corner[0], corner[1], corner[2])


def _size(mesh: Mesh) -> float:
    return 2 * max(dot(corner, corner) for corner in mesh.hull) ** 0.5


def _length(x: Vec3) -> Any:
    return sqrt(maximum(dot(x, x), 1e-300))
