"""Constants that are zero or ±1 but for rounding, made so: they cost nothing in compiled code.

And inertias moved without losing such constants: between coordinate axes not a digit changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from knuckle.scalar import ZERO, constant
from knuckle.spatial import Inertia, Sym3, Transform
from knuckle.spatial.three import Mat3, Vec3, add, congruence, cross_cross, matvec, scale, sub, transpose

ROUNDING = 1e-15
"""A few rounding errors: what products leave of an entry that is zero. Ten times that much are angles that files state
with a dozen digits: no zeros any more."""


def snapped(x: Any, size: float = 1.0) -> Any:
    """x, or a structural zero if it is none of `size` but for rounding."""
    return ZERO if abs(float(x)) <= ROUNDING * size else constant(x)


def snapped_direction(direction: Sequence[Any]) -> tuple[Any, ...]:
    """A unit vector with 0 exact, and ±1 where all others are 0: elsewhere it is the cosine of an angle that counts."""
    entries = tuple(map(snapped, direction))
    if sum(x is not ZERO for x in entries) > 1:
        return entries
    return tuple(x if x is ZERO else constant(math.copysign(1.0, x)) for x in entries)


def snapped_rotation(E: Mat3) -> Mat3:
    """A rotation with 0 and ±1 exact."""
    a, b, c = map(snapped_direction, E)
    return a, b, c  # pyright: ignore[reportReturnType]


def snapped_transform(X: Transform, size: float) -> Transform:
    """A transform with exact zeros and ones; its distances came from numbers of `size`."""
    x, y, z = (snapped(v, size) for v in X.r)
    return Transform(snapped_rotation(X.E), (x, y, z))


def snapped_inertia(I: Inertia, size: float) -> Inertia:
    """An inertia with exact zeros off the diagonal; it came from lengths of `size`.

    The diagonal stays: however small, a moment of inertia about a joint's axis is what the joint moves.
    """
    mass = abs(float(I.mass))
    first = mass * size + max(abs(float(x)) for x in I.h)
    second = mass * size * size + max(abs(float(x)) for x in I.I)
    x, y, z = (snapped(v, first) for v in I.h)
    xx, xy, yy, xz, yz, zz = I.I
    off = (snapped(v, second) for v in (xy, xz, yz))
    xy, xz, yz = off
    return Inertia(I.mass, (x, y, z), Sym3(constant(xx), xy, constant(yy), xz, yz, constant(zz)))


def turned(I: Inertia, E: Mat3) -> Inertia:
    """The inertia in turned axes, by plain products: a small moment does not come out as a difference of large ones."""
    return Inertia(I.mass, matvec(E, I.h), Sym3.of(congruence(E, I.I.matrix)))


def carried(I: Inertia, X: Transform) -> Inertia:
    """X* I X⁻¹ (RBDA table A.4), the turn by plain products."""
    y = sub(I.h, scale(I.mass, X.r))
    return turned(Inertia(I.mass, y, I.I.plus(cross_cross(X.r, I.h)).plus(cross_cross(y, X.r))), X.E)


def brought_back(I: Inertia, X: Transform) -> Inertia:
    """Xᵀ I X (RBDA table A.4), the turn by plain products."""
    J = turned(I, transpose(X.E))
    h = add(J.h, scale(I.mass, X.r))
    return Inertia(I.mass, h, J.I.minus(cross_cross(X.r, J.h)).minus(cross_cross(h, X.r)))


def trivial(numbers: Iterable[Any]) -> int:
    """How many of the numbers are 0 or ±1."""
    return sum(float(x) in (-1.0, 0.0, 1.0) for x in numbers)


def length(v: Vec3) -> float:
    """The length of a vector of plain numbers."""
    return math.hypot(*(float(x) for x in v))
