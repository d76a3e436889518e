"""Four corners of a polygon that keep its extent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from knuckle.algorithms.contact.plane_gaps import chosen
from knuckle.scalar import absolute, less, select
from knuckle.spatial.three import Vec3

from .box_axes import largest

NOWHERE = 1e30
"""The height of what is not there."""
FLAT = 1e-12
"""The sine of the angle, and the part of a face's area, below which directions and areas count as none."""


def spread(points: Sequence[Vec3], area: Any, level: Any) -> list[Vec3]:
    """Four of some corners (x, y, height), as they go round: the lowest, and others that add most to the area.

    Of several that are lowest up to `level`, noise shall not choose: it is the one with the least x + y. Where there
    are fewer, the height of those that are not needed is `NOWHERE`, as that of points that do not count.
    """

    def best(score: Callable[[Vec3], Any]) -> tuple[Any, Vec3]:
        most, which = score(points[0]), points[0]
        for p in points[1:]:
            s = score(p)
            is_more = less(most, s)
            most, which = select(is_more, s, most), chosen(is_more, p, which)
        return most, which

    def there(p: Vec3, s: Any) -> Any:
        return select(less(p[2], NOWHERE / 2), s, -NOWHERE)

    def used(p: Vec3, score: Any) -> Vec3:
        return p[0], p[1], select(less(FLAT * area, score), p[2], NOWHERE)

    lowest, _ = best(lambda p: -p[2])
    _, first = best(lambda p: select(less(p[2] + lowest, level), -p[0] - p[1], -NOWHERE))
    far, second = best(lambda p: there(p, _square(p, first)))
    wide, third = best(lambda p: there(p, absolute(turn(first, second, p))))
    is_left = less(0, turn(first, second, third))
    second, third = used(second, far), used(third, wide)
    a, b = chosen(is_left, second, third), chosen(is_left, third, second)

    def beyond(p: Vec3) -> list[Any]:
        """What a corner would add beyond each side of the triangle."""
        return [turn(q, p, r) for q, r in ((first, a), (a, b), (b, first))]

    more, fourth = best(lambda p: there(p, _most(beyond(p))))
    side, fourth = largest(beyond(fourth)), used(fourth, more)
    is_first, is_last = less(side, 0.5), less(1.5, side)
    middle = chosen(is_first, a, chosen(is_last, b, fourth))
    return [first, chosen(is_first, fourth, a), middle, chosen(is_last, fourth, b)]


def _most(x: Sequence[Any]) -> Any:
    y = select(less(x[0], x[1]), x[1], x[0])
    return select(less(y, x[2]), x[2], y)


def _square(p: Vec3, q: Vec3) -> Any:
    return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1])


def turn(p: Vec3, q: Vec3, r: Vec3) -> Any:
    """Twice the area of a triangle, positive where it turns left."""
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
