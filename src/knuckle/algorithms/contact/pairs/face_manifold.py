"""A face of a box on a face of another: where the faces lie over each other, by four corners of that polygon."""

from __future__ import annotations

from typing import Any, NamedTuple

from knuckle.scalar import absolute, less, maximum, minimum, select
from knuckle.spatial.three import Vec3, add, dot, scale, sub

from .box_axes import PlacedBox, edge_of, largest, sign_of
from .polygon_corners import FLAT, NOWHERE, spread

LEVEL = 1e-9
"""How much lower, relative to a face's sides, a corner must be than others to count as lower."""
INSIDE = 1e-9
"""How far beyond a rim, relative to its length, still counts as within."""


class Overlay(NamedTuple):
    """The two faces: corners of what they share as (x, y, height over the first one), then the lowest corner at all.

    The corners go round, the lowest one first; of those that are not needed the height is `NOWHERE`. x and y are along
    the first face's axes.
    """

    corners: list[Vec3]
    lowest: Vec3
    frame: PlacedBox
    """The first box with the axis of the face first, which points to the other box."""

    def point(self, corner: Vec3) -> Vec3:
        """Half-way between the faces, in base coordinates."""
        x, y, z = corner
        (n, e, f), up = self.frame.E, self.frame.half[0] + z / 2
        return add(self.frame.r, add(scale(up, n), add(scale(x, e), scale(y, f))))


def overlay(box: PlacedBox, axis: Any, other: PlacedBox) -> Overlay:
    """The face of a box along an axis, towards the other box, and the face of that which looks at it most."""
    box = edge_of(box, axis)
    n = scale(sign_of(dot(box.E[0], sub(other.r, box.r))), box.E[0])
    box = PlacedBox(box.r, (n, box.E[1], box.E[2]), box.half)
    other = edge_of(other, largest([absolute(dot(n, e)) for e in other.E]))
    down = scale(-sign_of(dot(n, other.E[0])) * other.half[0], other.E[0])
    x, y, z = _in(box, sub(add(other.r, down), box.r))
    u, v = (_in(box, scale(other.half[k], other.E[k])) for k in (1, 2))
    c = x, y, z - box.half[0]
    lowest = sub(sub(c, scale(sign_of(u[2]), u)), scale(sign_of(v[2]), v))
    _, a, b = box.half
    return Overlay(spread(_corners(c, u, v, a, b), a * b, LEVEL * (a + b)), lowest, box)


def _in(box: PlacedBox, p: Vec3) -> Vec3:
    """Along the axes of the face, then along its normal."""
    return dot(box.E[1], p), dot(box.E[2], p), dot(box.E[0], p)


def _corners(c: Vec3, u: Vec3, v: Vec3, a: Any, b: Any) -> list[Vec3]:
    """All corners of what the parallelogram c ± u ± v and the rectangle |x| ≤ a, |y| ≤ b share."""
    points: list[Vec3] = []
    for middle, way in ((sub(c, v), u), (add(c, v), u), (sub(c, u), v), (add(c, u), v)):
        low, high = -1.0, 1.0
        for x, d, h in zip(middle, way, (a, b), strict=False):
            start, end = within(x, d, h)
            low, high = maximum(low, start), minimum(high, end)
        is_there = less(low, high + INSIDE)
        for t in (low, high):
            x, y, z = add(middle, scale(select(is_there, t, 0.0), way))
            points.append((x, y, select(is_there, z, NOWHERE)))
    area = u[0] * v[1] - u[1] * v[0]
    for x, y in ((-a, -b), (a, -b), (a, b), (-a, b)):
        dx, dy = x - c[0], y - c[1]
        s, t = (dx * v[1] - dy * v[0]) / area, (u[0] * dy - u[1] * dx) / area
        is_out = less(1 + INSIDE, maximum(absolute(s), absolute(t)))
        points.append((x, y, select(is_out, NOWHERE, c[2] + s * u[2] + t * v[2])))
    return points


def within(x: Any, d: Any, h: Any) -> tuple[Any, Any]:
    """From where to where |x + t d| is at most h; where that is nowhere, the first is the larger one."""
    is_along = less(absolute(d), FLAT * h)
    divisor = select(is_along, 1.0, d)
    beside = select(less((1 + INSIDE) * h, absolute(x)), -NOWHERE, NOWHERE)
    wide = select(is_along, beside, h / absolute(divisor))
    centre = select(is_along, 0.0, -x / divisor)
    return centre - wide, centre + wide
