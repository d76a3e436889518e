"""Roots of functions within a step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

GOLDEN = (math.sqrt(5) - 1) / 2
NARROW = 1e-9
"""Where the search for a minimum ends, as a part of the step."""


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


def may_dip(g0: Any, d0: Any, g1: Any, d1: Any, least: Any = 0.0) -> NDArray[np.bool_]:
    """Whether a function from g0 to g1, with slopes d0 and d1 over a step, may fall below `least` between them.

    A convex function does only if its tangents meet below that. Elementwise for arrays.
    """
    turns = (d0 < 0) & (d1 > 0)
    theta = (g0 - g1 + d1) / np.where(turns, d1 - d0, 1.0)
    return turns & (g0 + d0 * theta < least)


def dip(g: Callable[[float], float], least: float = 0.0) -> float | None:
    """A place between 0 and 1 where g, which has one minimum there, is not above `least`; None, if there is none."""
    a, b = 0.0, 1.0
    x, y = 1 - GOLDEN, GOLDEN
    gx, gy = g(x), g(y)
    while b - a > NARROW:
        if min(gx, gy) <= least:
            return x if gx <= gy else y
        if gx < gy:
            b, y, gy = y, x, gx
            x = b - GOLDEN * (b - a)
            gx = g(x)
        else:
            a, x, gx = x, y, gy
            y = a + GOLDEN * (b - a)
            gy = g(y)
    return None
