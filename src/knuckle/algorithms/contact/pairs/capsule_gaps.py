"""Capsules on capsules and on boxes: the nearest points of their axes, and both ends of what lies on a face."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.contact.plane_gaps import Places, TouchPoint
from knuckle.algorithms.contact.shape_gaps import balls
from knuckle.model.parts import Box, Capsule
from knuckle.scalar import absolute, less, maximum, minimum, select
from knuckle.spatial import Transform
from knuckle.spatial.three import Vec3, add, dot, matvec, scale, sub, tmatvec

from .box_axes import largest, rotated, sign_of
from .face_manifold import INSIDE, within
from .segment_and_box import AxisPlace, nearest_on_axis, way_out
from .segments import PARALLEL

FACING = 1e-9
"""The part of a normal across a face's up to which it counts as the face's."""


def capsule_on_capsule(first: Capsule, X: Transform, second: Capsule, Y: Transform) -> Places:
    """The nearest points of the two axes; where these are parallel, in the middle of what they share."""
    p, s = X.E[2], Y.E[2]
    d, h, k = sub(X.r, Y.r), first.length / 2, second.length / 2
    b, e, f = dot(p, s), dot(p, d), dot(s, d)
    wide = 1 - b * b
    is_parallel = less(wide, PARALLEL)
    low, high = maximum(-h, minimum(b * (-k), b * k) - e), minimum(h, maximum(b * (-k), b * k) - e)
    middle = (low + high) / 2
    x = select(is_parallel, middle, (b * f - e) / select(is_parallel, 1.0, wide))
    x = maximum(-h, minimum(h, x))
    y = maximum(-k, minimum(k, b * x + f))
    x = maximum(-h, minimum(h, b * y - e))
    return [balls(add(X.r, scale(x, p)), first.radius, add(Y.r, scale(y, s)), second.radius)]


def capsule_on_box(capsule: Capsule, X: Transform, box: Box, Y: Transform) -> Places:
    """Two places: both ends of what lies over a face; at an edge, the nearest place and an end over the face beside it.

    An axis that is in the box goes out the shortest way. A place that is not needed has a gap that is larger than the
    shapes.
    """
    r, length = capsule.radius, capsule.length / 2
    c, u = matvec(Y.E, sub(X.r, Y.r)), matvec(Y.E, X.E[2])
    x, y, z = (side / 2 for side in box.size)
    half, size = (x, y, z), 2 * (x + y + z + length + r)
    outside, is_apart = nearest_on_axis(c, u, length, half, size)
    best = _either(is_apart, outside, way_out(c, u, length, half, size))

    k = largest([absolute(x) for x in best.normal])
    (nk, n1, n2), (hk, h1, h2), (ck, c1, c2), (uk, u1, u2) = (rotated(x, k) for x in (best.normal, half, c, u))
    low, high = -length, length
    for start, end in (within(c1, u1, h1), within(c2, u2, h2)):
        low, high = maximum(low, start), minimum(high, end)
    is_over = select(less(high + INSIDE * size, low), 0.0, 1.0)
    is_flat = less(0.5, select(less(FACING, absolute(n1) + absolute(n2)), 0.0, is_over))
    is_needed = less(0.5, select(is_apart, is_over, select(is_flat, 1.0, 0.0)))
    face = [select(less(absolute(k - i), 0.5), sign_of(nk), 0.0) for i in range(3)]

    def over_face(t: Any) -> AxisPlace:
        return AxisPlace(t, sign_of(nk) * (ck + t * uk) - hk, *face)

    far_end = select(less(absolute(best.t - low), absolute(best.t - high)), high, low)
    first = _either(is_flat, over_face(low), best)
    other = over_face(select(is_needed, select(is_flat, high, far_end), best.t))
    other = other._replace(height=select(is_needed, other.height, best.height + size))
    is_turned = less(other.t, first.t)
    both = _either(is_turned, other, first), _either(is_turned, first, other)
    return [_placed(place, c, u, r, Y) for place in both]


def _either(condition: Any, a: AxisPlace, b: AxisPlace) -> AxisPlace:
    return AxisPlace(*(select(condition, x, y) for x, y in zip(a, b, strict=True)))


def _placed(place: AxisPlace, c: Vec3, u: Vec3, r: Any, Y: Transform) -> TouchPoint:
    point = sub(add(c, scale(place.t, u)), scale((r + place.height) / 2, place.normal))
    return TouchPoint(place.height - r, add(Y.r, tmatvec(Y.E, point)), tmatvec(Y.E, place.normal))
