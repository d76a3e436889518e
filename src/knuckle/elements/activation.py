"""How fast a muscle can be activated: it follows its excitation, faster up than down."""

from __future__ import annotations

from typing import Any

from knuckle.public_names import public_in
from knuckle.scalar import less, select

RISE, FALL = 0.01, 0.04
"""Seconds in which a muscle at rest is activated, and in which one that is active comes to rest."""


@public_in("elements")
def activation_rate(excitation: Any, activation: Any, rise: float = RISE, fall: float = FALL) -> Any:
    """ȧ = (u − a) / T, with T = rise (½ + 3/2 a) on the way up and fall / (½ + 3/2 a) on the way down.

    It is the model of Thelen and of Millard, and MuJoCo's where its `tausmooth` is zero. Numbers, arrays, and inside a
    kernel scalars or vectors of them.
    """
    if hasattr(excitation, "__len__") and not hasattr(excitation, "dtype"):
        return type(excitation)(activation_rate(u, a, rise, fall) for u, a in zip(excitation, activation, strict=True))
    slowed = 0.5 + 1.5 * activation
    return (excitation - activation) / select(less(activation, excitation), rise * slowed, fall / slowed)
