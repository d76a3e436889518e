"""Shapes on a half-space: the places where they touch it first, over scalars of any kind."""

from __future__ import annotations

from typing import Any, NamedTuple

from knuckle.model.parts import Box, Capsule, Cylinder, Ellipsoid, Sphere
from knuckle.scalar import ZERO, absolute, less, maximum, select, sqrt
from knuckle.spatial import Transform
from knuckle.spatial.three import Vec3, add, cross, dot, matvec, scale, sub, tmatvec


class TouchPoint(NamedTuple):
    """Where two shapes are nearest, in base coordinates.

    `gap` is negative where they overlap, `point` lies half-way, and `normal` goes from the second shape to the first.
    """

    gap: Any
    point: Vec3
    normal: Vec3


Places = list[TouchPoint]


def chosen(condition: Any, a: Vec3, b: Vec3) -> Vec3:
    """One of two vectors."""
    x, y, z = (select(condition, s, t) for s, t in zip(a, b, strict=True))
    return x, y, z


def _above(plane: Transform, point: Vec3, radius: Any = ZERO) -> TouchPoint:
    """A ball and a half-space."""
    n = plane.E[2]
    height = dot(n, sub(point, plane.r))
    return TouchPoint(height - radius, sub(point, scale((height + radius) / 2, n)), n)


def sphere_on_plane(sphere: Sphere, X: Transform, plane: Transform) -> Places:
    return [_above(plane, X.r, sphere.radius)]


def _ends(capsule: Capsule, X: Transform) -> tuple[Vec3, Vec3]:
    half = scale(capsule.length / 2, X.E[2])
    return sub(X.r, half), add(X.r, half)


def capsule_on_plane(capsule: Capsule, X: Transform, plane: Transform) -> Places:
    return [_above(plane, end, capsule.radius) for end in _ends(capsule, X)]


def box_on_plane(box: Box, X: Transform, plane: Transform) -> Places:
    """The corners of the face that looks down most: the lowest corner is among them."""
    centre, side, other = lower_face(box, X, plane.E[2])
    return [_above(plane, add(centre, add(scale(a, side), scale(b, other)))) for a in (-1.0, 1.0) for b in (-1.0, 1.0)]


def lower_face(box: Box, X: Transform, n: Vec3) -> tuple[Vec3, Vec3, Vec3]:
    """The middle of the face of a box that looks against n most, and half its sides."""
    down = [dot(n, axis) for axis in X.E]
    half = [scale(size / 2, axis) for size, axis in zip(box.size, X.E, strict=True)]
    lower = [scale(select(less(d, 0), 1.0, -1.0), h) for d, h in zip(down, half, strict=True)]
    steep = [absolute(d) for d in down]
    not_x, not_y = less(steep[0], maximum(steep[1], steep[2])), less(steep[1], steep[2])
    face = chosen(not_x, chosen(not_y, lower[2], lower[1]), lower[0])
    side = chosen(not_x, half[0], half[1])
    other = chosen(not_x, chosen(not_y, half[1], half[2]), half[2])
    return add(X.r, face), side, other


def cylinder_on_plane(cylinder: Cylinder, X: Transform, plane: Transform) -> Places:
    """Three points of the lower rim, the lowest one first, and the lowest point of the upper rim."""
    rim, upper, _ = cylinder_rims(cylinder, X, plane.E[2])
    return [_above(plane, point) for point in (*rim, upper)]


def cylinder_rims(cylinder: Cylinder, X: Transform, n: Vec3) -> tuple[list[Vec3], Vec3, tuple[Vec3, Vec3, Vec3]]:
    """Three points of the rim that is lower along n, the lowest point of the other, and the middle of the lower end
    with the directions along it, the first of them the way down."""
    axis = X.E[2]
    rise = dot(n, axis)
    up = scale(select(less(rise, 0), -1.0, 1.0), axis)
    slope = sub(scale(rise, axis), n)
    length = sqrt(maximum(dot(slope, slope), 1e-24))
    is_flat = less(length, 1e-9)
    steepest = chosen(is_flat, X.E[0], scale(1 / length, slope))
    across = cross(axis, steepest)
    half, r = scale(cylinder.length / 2, up), cylinder.radius
    lower, upper = sub(X.r, half), add(X.r, half)
    ways = [(1.0, 0.0), (-0.5, 0.75**0.5), (-0.5, -(0.75**0.5))]
    rim = [add(lower, scale(r, add(scale(c, steepest), scale(s, across)))) for c, s in ways]
    return rim, add(upper, scale(r, steepest)), (lower, steepest, across)


def ellipsoid_on_plane(ellipsoid: Ellipsoid, X: Transform, plane: Transform) -> Places:
    """The point whose normal is that of the plane."""
    return [_above(plane, lowest_of_ellipsoid(ellipsoid, X, plane.E[2]))]


def lowest_of_ellipsoid(ellipsoid: Ellipsoid, X: Transform, n: Vec3) -> Vec3:
    """The point whose normal is −n."""
    m = matvec(X.E, n)
    a, b, c = (r * r * x for r, x in zip(ellipsoid.radii, m, strict=True))
    reach = sqrt(dot(m, (a, b, c)))
    return sub(X.r, scale(1 / reach, tmatvec(X.E, (a, b, c))))
