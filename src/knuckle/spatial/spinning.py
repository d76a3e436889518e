"""Bodies that turn without a moment: I ω̇ = −ω × I ω, in steps that keep their energy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knuckle.scalar import ZERO, absolute, maximum

from .pieces import repeated
from .three import ZERO3, Sym3, Vec3, add, cross, dot, neg, scale, sub

ROUNDS = 8
"""Steps of Newton's method at most; two or three, where a body turns by less than a quarter of a turn in dt."""
ENOUGH = 1e-8
"""A step, relative to ω, after which there is no other: the next one would be of rounding."""


def spun(I: Sym3, w: Vec3, dt: Any) -> tuple[Vec3, Vec3]:
    """(ω', ω̇): the angular velocity after dt, in axes of the body, and its rate.

    The implicit midpoint, I (ω' − ω) = −dt m × I m with m = (ω + ω')/2, keeps the energy ω·Iω and the length of the
    angular momentum, both of which explicit steps make larger.
    """
    if _is_ball(I):
        return w, ZERO3
    columns = [I.apply(unit) for unit in UNITS]
    rate = neg(_divided(columns, cross(w, I.apply(w))))
    size: Any = ZERO
    for x in w:
        size = maximum(size, absolute(x))

    def newton(_: Any, *m: Any) -> tuple[Any, ...]:
        """m less J⁻¹ f, for f = I (m − ω) + dt/2 m × I m."""
        spin = I.apply(m)
        f = add(I.apply(sub(m, w)), scale(dt / 2, cross(m, spin)))
        slopes = [
            add(column, scale(dt / 2, add(cross(m, column), cross(unit, spin))))
            for unit, column in zip(UNITS, columns, strict=True)
        ]
        step = _divided(slopes, f)
        most: Any = ZERO
        for x in step:
            most = maximum(most, absolute(x))
        return most - ENOUGH * size, *sub(m, step)

    _, *middle = repeated(newton, (size, *w), ROUNDS)
    return sub(scale(2.0, (middle[0], middle[1], middle[2])), w), rate


UNITS: tuple[Vec3, ...] = ((1.0, ZERO, ZERO), (ZERO, 1.0, ZERO), (ZERO, ZERO, 1.0))


def _divided(columns: Sequence[Vec3], f: Vec3) -> Vec3:
    """A⁻¹ f for a matrix of three columns."""
    a, b, c = columns
    bc = cross(b, c)
    return scale(1 / dot(a, bc), (dot(bc, f), dot(cross(c, a), f), dot(cross(a, b), f)))


def _is_ball(I: Sym3) -> bool:
    """Whether the inertia is the same about every axis, by numbers that are known."""
    (xx, xy, yy, xz, yz, zz) = I
    numbers = all(isinstance(x, float) for x in (xx, yy, zz))
    return numbers and xx == yy == zz and all(x is ZERO or x == 0.0 for x in (xy, xz, yz))
