"""The axis of a capsule and a box: the nearest place outside it, and the shortest way out of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from knuckle.scalar import absolute, less, maximum, minimum, select, sqrt
from knuckle.spatial.three import IDENTITY3, Vec3, cross, dot, scale, sub

from .box_axes import SLIGHT, sign_of, total
from .segments import PARALLEL, clamped, nearest_of_lines

CORE = 1e-9
"""The distance, relative to the size, below which a segment counts as touching a box."""
ALONG = 1e-12
"""The sine of the angle below which a segment counts as parallel to a face."""


class AxisPlace(NamedTuple):
    """A place of a segment: how far along it is, its height over the box, and the normal, in box coordinates."""

    t: Any
    height: Any
    x: Any
    y: Any
    z: Any

    @property
    def normal(self) -> Vec3:
        return self.x, self.y, self.z


def nearest_on_axis(c: Vec3, u: Vec3, length: Any, half: Vec3, size: Any) -> tuple[AxisPlace, Any]:
    """Where a segment c + t u, |t| ≤ length, is nearest to a box |x| ≤ half, and whether it is outside.

    The slope of the squared distance grows with t, and is linear between the places where the segment crosses the
    planes of faces. Where it is zero from one place to another, the place is in the middle.
    """

    def beyond(t: Any) -> Vec3:
        x, y, z = (x + t * d - clamped(x + t * d, h) for x, d, h in zip(c, u, half, strict=True))
        return x, y, z

    places = [-length, length]
    for x, d, h in zip(c, u, half, strict=True):
        is_along = less(absolute(d), ALONG)
        divisor = select(is_along, 1.0, d)
        places += [select(is_along, -length, clamped((side - x) / divisor, length)) for side in (-h, h)]
    slopes = [dot(u, beyond(t)) for t in places]
    low, high = -length, length
    low_slope, high_slope = minimum(slopes[0], 0.0), maximum(slopes[1], 0.0)
    for t, slope in zip(places, slopes, strict=True):
        falls, rises = select(less(0, slope), low, t), select(less(slope, 0), high, t)
        is_later, is_earlier = less(low, falls), less(rises, high)
        low, low_slope = select(is_later, t, low), select(is_later, slope, low_slope)
        high, high_slope = select(is_earlier, t, high), select(is_earlier, slope, high_slope)
    rise = high_slope - low_slope
    is_flat = less(rise, 1e-300)
    t = select(is_flat, (low + high) / 2, low - low_slope * (high - low) / select(is_flat, 1.0, rise))
    away = beyond(t)
    squared = dot(away, away)
    is_apart = less(CORE * CORE * size * size, squared)
    height = sqrt(select(is_apart, squared, 1.0))
    return AxisPlace(t, height, *scale(1 / height, away)), is_apart


def way_out(c: Vec3, u: Vec3, length: Any, half: Vec3, size: Any) -> AxisPlace:
    """The least translation that takes a segment out of a box, through a face or over an edge."""
    best = None
    for k, (x, d, h) in enumerate(zip(c, u, half, strict=True)):
        side = sign_of(x)
        n = scale(side, IDENTITY3[k])
        place = AxisPlace(-side * sign_of(d) * length, absolute(x) - h - length * absolute(d), *n)
        best = place if best is None else _better(best, place, SLIGHT * size)
    assert best is not None
    for k, axis in enumerate(IDENTITY3):
        n = cross(u, axis)
        squared = dot(n, n)
        is_parallel = less(squared, PARALLEL)
        n = scale(sign_of(dot(c, n)) / sqrt(select(is_parallel, 1.0, squared)), n)
        height = select(is_parallel, -2 * size, dot(c, n) - total(half, n))
        a, b, d = (0.0 if i == k else sign_of(x) * h for i, (x, h) in enumerate(zip(n, half, strict=True)))
        point, _ = nearest_of_lines(c, u, length, (a, b, d), axis, half[k])
        best = _better(best, AxisPlace(dot(u, sub(point, c)), height, *n), SLIGHT * size)
    return best


def _better(a: AxisPlace, b: AxisPlace, slight: Any) -> AxisPlace:
    is_better = less(a.height + slight, b.height)
    return AxisPlace(*(select(is_better, y, x) for x, y in zip(a, b, strict=True)))
