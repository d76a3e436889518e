"""Roots of functions within a step."""

from __future__ import annotations

import math
from collections.abc import Callable


def root(g: Callable[[float], float], a: float, b: float, ga: float, gb: float) -> float:
    """The place between a and b where g changes its sign, to the last digits (Chandrupatla, 1997).

    Inverse quadratic interpolation where three points lie on something like a parabola, bisection elsewhere. Of the two
    neighbours that enclose the root, the one with the smaller |g| is the result.
    """
    if ga == 0 or gb == 0:
        return a if ga == 0 else b
    c, gc, x = a, ga, 0.5
    for _ in range(200):
        m = a + x * (b - a)
        gm = g(m)
        if (gm > 0) == (ga > 0) and gm != 0:
            c, gc = a, ga
        else:
            c, b, gc, gb = b, a, gb, ga
        a, ga = m, gm
        best, value = (a, ga) if abs(ga) < abs(gb) else (b, gb)
        width = abs(b - a)
        smallest = 2 * math.ulp(max(abs(best), width)) / width if width else 1.0
        if value == 0 or smallest > 0.5:
            return best
        xi, phi = (a - b) / (c - b), (ga - gb) / (gc - gb)
        if phi**2 < xi and (1 - phi) ** 2 < 1 - xi:
            x = ga / (gb - ga) * gc / (gb - gc) + (c - a) / (b - a) * ga / (gc - ga) * gb / (gc - gb)
        else:
            x = 0.5
        x = min(1 - smallest, max(smallest, x))
    return a if abs(ga) < abs(gb) else b


def reopening(g: Callable[[float], float]) -> tuple[float, float, float]:
    """θ where g, which is not positive at 0 and at 1, is positive, 2θ where it no longer is, and g(θ).

    The first value is 0 where no such place is found.
    """
    theta = 0.5
    while theta > 1e-12:
        value = g(theta)
        if value > 0:
            return theta, 2 * theta, value
        theta /= 2
    return 0.0, 1.0, 0.0
