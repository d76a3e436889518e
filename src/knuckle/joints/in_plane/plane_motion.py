"""Motions of a plane: turns and steady motions on SE(2)."""

from __future__ import annotations

from typing import Any, TypeAlias

from knuckle.scalar import Dual, cos, sin
from knuckle.spatial.series import cosc, sinc

Point: TypeAlias = tuple[Any, Any]


def turned(angle: Any, p: Point) -> Point:
    """p turned by an angle."""
    c, s = cos(angle), sin(angle)
    return c * p[0] - s * p[1], s * p[0] + c * p[1]


def travelled(angle: Any, v: Point) -> Point:
    """Where a frame gets to that moves with velocity v in its own coordinates while it turns by an angle."""
    s, c = sinc(angle * angle), angle * cosc(angle * angle)
    return s * v[0] - c * v[1], c * v[0] + s * v[1]


def steady_velocity(angle: Any, p: Point) -> Point:
    """The velocity that travels to p while turning by an angle within ±π: the inverse of `travelled`."""
    x = angle * angle
    s, c, n = sinc(x), angle * cosc(x), 2 * cosc(x)
    return (s * p[0] + c * p[1]) / n, (s * p[1] - c * p[0]) / n


def steady_velocity_rate(angle: Any, a: Point, w: Any, v: Point) -> Point:
    """The rate of the steady velocity a, at the end of a turn by an angle, of a frame that moves with w and v there."""
    p, dp = travelled(angle, a), turned(angle, v)
    x, y = steady_velocity(Dual(angle, w), (Dual(p[0], dp[0]), Dual(p[1], dp[1])))
    return x.derivative, y.derivative
