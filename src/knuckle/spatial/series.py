"""Functions of an angle by its square that stay exact through zero, for every kind of scalar."""

from __future__ import annotations

import math
from typing import Any

from knuckle.scalar import ONE, cos, less, select, sin, sqrt

_TERMS = 16
_NEAR = 0.25


def _series(x: Any, first: int) -> Any:
    """Σ (−x)ᵏ / (2k + first)! as nested products, so that every number fits the precision of x."""
    total: Any = 1
    for k in reversed(range(_TERMS)):
        total = 1 - x * total / ((2 * k + first + 1) * (2 * k + first + 2))
    return total / math.factorial(first)


def _beyond(x: Any) -> tuple[Any, Any]:
    """Whether x is near zero, and its square root kept away from it."""
    near = less(x, _NEAR)
    return near, sqrt(select(near, ONE, x))


def sinc(x: Any) -> Any:
    """sin θ / θ for x = θ²."""
    near, t = _beyond(x)
    return select(near, _series(x, 1), sin(t) / t)


def cosc(x: Any) -> Any:
    """(1 − cos θ) / θ² for x = θ²."""
    near, t = _beyond(x)
    return select(near, _series(x, 2), (1 - cos(t)) / (t * t))


def sincc(x: Any) -> Any:
    """(θ − sin θ) / θ³ for x = θ²."""
    near, t = _beyond(x)
    return select(near, _series(x, 3), (t - sin(t)) / (t * t * t))


def coscc(x: Any) -> Any:
    """(½ − (1 − cos θ)/θ²) / θ² for x = θ²."""
    near, t = _beyond(x)
    return select(near, _series(x, 4), (0.5 - (1 - cos(t)) / (t * t)) / (t * t))


def sinccc(x: Any) -> Any:
    """(1/6 − (θ − sin θ)/θ³) / θ² for x = θ²."""
    near, t = _beyond(x)
    return select(near, _series(x, 5), ((x * 0 + 1) / 6 - (t - sin(t)) / (t * t * t)) / (t * t))


def half_angle_sine(x: Any) -> tuple[Any, Any]:
    """sin(θ/2)/θ and cos(θ/2) for x = θ²."""
    near, t = _beyond(x / 4)
    return select(near, _series(x / 4, 1), sin(t) / t) / 2, select(near, _series(x / 4, 0), cos(t))


def log_factor(x: Any) -> Any:
    """(1 − (θ/2) cot(θ/2)) / θ² for x = θ² < (2π)², from the inverse of the exponential's Jacobian."""
    return (sincc(x) / 2 - coscc(x)) / cosc(x)
