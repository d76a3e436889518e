"""Convex hulls on a half-space: up to four of their lowest corners, far from each other.

The corners are a table, which loops go through: the text is as long for a thousand of them as for ten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knuckle.algorithms.contact.plane_gaps import Places, TouchPoint, chosen
from knuckle.model.parts import Mesh
from knuckle.scalar import Grid, absolute, less, maximum, select, sqrt
from knuckle.spatial import Transform, repeated
from knuckle.spatial.three import Vec3, add, cross, dot, matvec, scale, sub, tmatvec

STEEP = 100.0
"""How many times farther than another a corner must be to count as much as one that is lower by that."""
FAR = 1e-6
"""The distance of corners, relative to the size, below which one of them is enough."""


def hull_on_plane(mesh: Mesh, X: Transform, plane: Transform) -> Places:
    """The lowest corner, the farthest one from it, the farthest from the line of both, and from that triangle.

    Corners that are higher count as nearer. A place that is not needed has a gap that is larger than the hull.
    """
    corners = Grid(tuple(x for corner in mesh.hull for x in corner), 3, 1, 3)
    size = 2 * max(dot(corner, corner) for corner in mesh.hull) ** 0.5
    up, count = matvec(X.E, plane.E[2]), len(mesh.hull)
    start = dot(plane.E[2], sub(X.r, plane.r))

    def best(score: Callable[[Vec3], Any]) -> tuple[Any, Vec3]:
        """The corner with the highest score."""

        def next_corner(left: Any, most: Any, x: Any, y: Any, z: Any) -> tuple[Any, ...]:
            _, _, (a, b, c) = corners.window(count - left - 0.25, 0.0)
            s = score((a, b, c))
            is_more = less(most, s)
            return left - 1, select(is_more, s, most), *chosen(is_more, (a, b, c), (x, y, z))

        first = mesh.hull[0]
        _, most, *corner = repeated(next_corner, (count - 0.5, score(first), *first), count)
        return most, (corner[0], corner[1], corner[2])

    lowest, first = best(lambda p: -dot(up, p))

    def counts(p: Vec3, length: Any) -> Any:
        """A distance, less what the corner is higher than the lowest one."""
        return length - STEEP * (dot(up, p) + lowest)

    def along(p: Vec3) -> Vec3:
        """The part of a way along the plane."""
        return sub(p, scale(dot(up, p), up))

    def beyond(q: Vec3, r: Vec3) -> Callable[[Vec3], Any]:
        """How far corners are to the right of the line from q to r."""
        across = cross(along(sub(r, q)), up)
        unit = scale(1 / maximum(_length(across), FAR * size), across)
        return lambda p: dot(unit, sub(p, q))

    far, second = best(lambda p: counts(p, _length(along(sub(p, first)))))
    side = beyond(first, second)
    wide, third = best(lambda p: counts(p, absolute(side(p))))
    is_left = less(side(third), 0)
    a, b = chosen(is_left, second, third), chosen(is_left, third, second)
    sides = [beyond(q, r) for q, r in ((first, a), (a, b), (b, first))]
    more, fourth = best(lambda p: counts(p, maximum(sides[0](p), maximum(sides[1](p), sides[2](p)))))
    scores = (size, far, wide, more)
    found: Places = []
    for p, score in zip((first, second, third, fourth), scores, strict=True):
        height = start + dot(up, p)
        gap = select(less(FAR * size, score), height, start - lowest + size)
        found.append(TouchPoint(gap, sub(add(X.r, tmatvec(X.E, p)), scale(height / 2, plane.E[2])), plane.E[2]))
    return found


def _length(x: Vec3) -> Any:
    return sqrt(maximum(dot(x, x), 1e-300))
