"""How far shapes are apart, and where they touch: points, normals and gaps over scalars of any kind.

Each pair of shapes has a fixed number of places. A shape is placed by the transform from base to shape coordinates: its
axes are the rows of E, its origin is r.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knuckle.model.parts import Box, Capsule, Sphere
from knuckle.scalar import absolute, less, maximum, minimum, select, sqrt
from knuckle.spatial import Transform
from knuckle.spatial.three import Vec3, add, dot, matvec, scale, sub, tmatvec

from .plane_gaps import Places, TouchPoint, chosen


def balls(first: Vec3, radius: Any, second: Vec3, other: Any) -> TouchPoint:
    """Two balls; one that is centred in the other is pushed upwards."""
    d = sub(first, second)
    squared = dot(d, d)
    is_centred = less(squared, 1e-24)
    length = sqrt(select(is_centred, 1.0, squared))
    normal = chosen(is_centred, (0.0, 0.0, 1.0), scale(1 / length, d))
    gap = select(is_centred, 0.0, length) - radius - other
    return TouchPoint(gap, add(second, scale(other + gap / 2, normal)), normal)


def sphere_on_sphere(first: Sphere, X: Transform, second: Sphere, Y: Transform) -> Places:
    return [balls(X.r, first.radius, Y.r, second.radius)]


def sphere_on_capsule(sphere: Sphere, X: Transform, capsule: Capsule, Y: Transform) -> Places:
    half = capsule.length / 2
    along = maximum(-half, minimum(half, dot(Y.E[2], sub(X.r, Y.r))))
    return [balls(X.r, sphere.radius, add(Y.r, scale(along, Y.E[2])), capsule.radius)]


def sphere_on_box(sphere: Sphere, X: Transform, box: Box, Y: Transform) -> Places:
    """The nearest point of the box; from within, the way out through the nearest face."""
    c = matvec(Y.E, sub(X.r, Y.r))
    half = [size / 2 for size in box.size]
    a, b, d = (maximum(-h, minimum(h, x)) for x, h in zip(c, half, strict=True))
    away = sub(c, (a, b, d))
    squared = dot(away, away)
    is_within = less(squared, 1e-24)
    length = sqrt(select(is_within, 1.0, squared))
    depths = [h - absolute(x) for x, h in zip(c, half, strict=True)]
    not_x, not_y = less(minimum(depths[1], depths[2]), depths[0]), less(depths[2], depths[1])
    signs = [select(less(x, 0), -1.0, 1.0) for x in c]
    out = chosen(not_x, chosen(not_y, (0.0, 0.0, signs[2]), (0.0, signs[1], 0.0)), (signs[0], 0.0, 0.0))
    depth = minimum(depths[0], minimum(depths[1], depths[2]))
    normal = tmatvec(Y.E, chosen(is_within, out, scale(1 / length, away)))
    gap = select(is_within, -depth, length) - sphere.radius
    return [TouchPoint(gap, sub(X.r, scale(sphere.radius + gap / 2, normal)), normal)]


def axes_at(normal: Vec3) -> Sequence[Vec3]:
    """The normal and two directions across it (Duff et al. 2017): right-handed, and smooth but for n = −z."""
    x, y, z = normal
    s = select(less(z, 0), -1.0, 1.0)
    a = -1 / (s + z)
    b = x * y * a
    return normal, (1 + s * x * x * a, s * b, -s * x), (b, s + y * y * a, -y)
