"""Inertias as lists of numbers: ten for each body, (m, h, I), in which the equation of motion is linear (RBDA 9.7)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from knuckle.scalar import ONE, ZERO
from knuckle.spatial import SPATIAL, Algebra, Inertia, PlanarInertia, Sym3

NAMES = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
PLANAR_NAMES = ("m", "hx", "hy", "Izz")


def parameter_names(algebra: Algebra) -> tuple[str, ...]:
    """What the numbers of one body are called: mass, first moments, second moments about the body's origin."""
    return NAMES if algebra is SPATIAL else PLANAR_NAMES


def to_parameters(I: Any) -> tuple[Any, ...]:
    """The numbers of an inertia."""
    return (I.mass, I.hx, I.hy, I.I) if isinstance(I, PlanarInertia) else (I.mass, *I.h, *I.I)


def from_parameters(numbers: Sequence[Any]) -> Any:
    """The inertia of some numbers."""
    if len(numbers) == len(PLANAR_NAMES):
        return PlanarInertia(*numbers)
    m, x, y, z, *second = numbers
    return Inertia(m, (x, y, z), Sym3(*second))


@cache
def unit_inertias(algebra: Algebra) -> tuple[Any, ...]:
    """Inertias with one parameter that is one and no other: a basis of them all."""
    n = len(parameter_names(algebra))
    return tuple(from_parameters([ONE if i == k else ZERO for i in range(n)]) for k in range(n))
