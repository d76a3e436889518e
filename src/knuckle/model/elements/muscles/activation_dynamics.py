"""How fast a muscle can be activated: it follows its excitation, faster up than down."""

from __future__ import annotations

from typing import Any

from knuckle.public_names import public_in
from knuckle.scalar import less, maximum, minimum, select

RISE, FALL = 0.01, 0.04
"""Seconds in which a muscle at rest is activated, and in which one that is active comes to rest."""


@public_in("elements")
def activation_rate(excitation: Any, activation: Any, rise: Any = RISE, fall: Any = FALL, smooth: float = 0.0) -> Any:
    """ȧ = (u − a) / T, with T = rise (½ + 3/2 a) on the way up and fall / (½ + 3/2 a) on the way down.

    It is the model of Thelen and of Millard, and MuJoCo's, whose `tausmooth` is `smooth`: the width in u − a over which
    one T goes over into the other. Numbers, arrays, and inside a kernel scalars or vectors of them.
    """
    if hasattr(excitation, "__len__") and not hasattr(excitation, "dtype"):
        pairs = zip(excitation, activation, strict=True)
        return type(excitation)(activation_rate(u, a, rise, fall, smooth) for u, a in pairs)
    slowed = 0.5 + 1.5 * activation
    up, down = rise * slowed, fall / slowed
    if smooth == 0:
        return (excitation - activation) / select(less(activation, excitation), up, down)
    x = (excitation - activation) / smooth + 0.5
    share = select(less(x, 0), 0.0, select(less(1, x), 1.0, x * x * x * (x * (6 * x - 15) + 10)))
    return (excitation - activation) / (down + (up - down) * share)


def within_bounds(x: Any) -> Any:
    """x, but 0 below zero and 1 above one."""
    return minimum(maximum(x, 0.0), 1.0)
