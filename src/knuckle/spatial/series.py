"""Functions of an angle by its square that stay exact through zero, for every kind of scalar.

Near zero each is its power series, beyond it the closed form. Where the two meet neither cancels, so that both are good
to a few units in the last place, and the series are long enough for 45 digits.
"""

from __future__ import annotations

import math
from typing import Any

from knuckle.scalar import ONE, cos, less, select, sin, sqrt

_DIGITS = 45
_NEAR = 0.25
"""Where the series ends for sin θ / θ, whose closed form is good everywhere but at zero."""
_FAR = 4
"""Where it ends for (θ − sin θ)/θ³ and its like: at θ = 2 the difference has lost half of θ."""
_FARTHER = 9


def _terms(bound: float) -> int:
    """How many terms leave less than one part in 10⁴⁵ for every x below the bound."""
    return next(n for n in range(100) if bound**n / math.factorial(2 * n) < 10.0**-_DIGITS)


_TERMS = {bound: _terms(bound) for bound in (_NEAR, _FAR, _FARTHER)}


def _series(x: Any, first: int, bound: float) -> Any:
    """Σ (−x)ᵏ / (2k + first)! as nested products, so that every number fits the precision of x."""
    total: Any = 1
    for k in reversed(range(_TERMS[bound])):
        total = 1 - x * total / ((2 * k + first + 1) * (2 * k + first + 2))
    return total / math.factorial(first)


def _beyond(x: Any, bound: float) -> tuple[Any, Any]:
    """Whether x is below the bound, and its square root kept away from zero."""
    near = less(x, bound)
    return near, sqrt(select(near, ONE, x))


def sinc(x: Any) -> Any:
    """sin θ / θ for x = θ²."""
    near, t = _beyond(x, _NEAR)
    return select(near, _series(x, 1, _NEAR), sin(t) / t)


def cosc(x: Any) -> Any:
    """(1 − cos θ) / θ² for x = θ², as ½ (sin ½θ / ½θ)², which does not cancel."""
    s = sinc(x / 4)
    return s * s / 2


def sincc(x: Any) -> Any:
    """(θ − sin θ) / θ³ for x = θ²."""
    near, t = _beyond(x, _FAR)
    return select(near, _series(x, 3, _FAR), (t - sin(t)) / (t * t * t))


def coscc(x: Any) -> Any:
    """(½ − (1 − cos θ)/θ²) / θ² for x = θ²."""
    near, t = _beyond(x, _FARTHER)
    s = 2 * sin(t / 2) / t
    return select(near, _series(x, 4, _FARTHER), (1 - s * s) / (2 * t * t))


def sinccc(x: Any) -> Any:
    """(1/6 − (θ − sin θ)/θ³) / θ² for x = θ²."""
    near, t = _beyond(x, _FARTHER)
    return select(near, _series(x, 5, _FARTHER), (1 - 6 * (t - sin(t)) / (t * t * t)) / (6 * t * t))


def half_angle_sine(x: Any) -> tuple[Any, Any]:
    """sin(θ/2)/θ and cos(θ/2) for x = θ²."""
    near, t = _beyond(x / 4, _NEAR)
    return select(near, _series(x / 4, 1, _NEAR), sin(t) / t) / 2, select(near, _series(x / 4, 0, _NEAR), cos(t))


def log_factor(x: Any) -> Any:
    """(1 − (θ/2) cot(θ/2)) / θ² for x = θ² < (2π)², from the inverse of the exponential's Jacobian."""
    return (sincc(x) / 2 - coscc(x)) / cosc(x)
