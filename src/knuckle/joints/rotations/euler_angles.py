"""The spherical joint by three turns in a row: Euler angles in the broad sense (RBDA 4.5, notes 2.4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, hypot
from typing import Any

from knuckle.joints.axis import Axis, Unit, structural, turn, unit
from knuckle.scalar import ONE, ZERO, arctan2, less, select, sqrt
from knuckle.spatial import Force, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import ZERO3, cross, dot, matmul, scale, tmatvec, transpose

from .spherical import Ball
from .turns import Turns, swing

_SQUARE, _PARALLEL = 1e-14, 1e-9
_TINY = 1e-24


@dataclass(frozen=True)
class Euler(Ball, Turns):
    """A ball joint by turns about three axes, each carried along by the turns before it; v = q̇.

    `axes` is a word such as "zxz" or "zyx", or three axes. Where the third axis comes to lie along the first (for
    "zxz" at a second angle of 0 or 180°, for "zyx" at ±90°) S loses a rank: `motion` stays finite, but `actuation`
    divides by a volume that is zero there, and no dynamics with this joint holds at that place. All rotations are
    within reach if the second axis is square to both others.
    """

    axes: tuple[Unit, Unit, Unit]
    _q = ("rad", "rad", "rad")
    _v = ("rad", "rad", "rad")

    def __init__(self, axes: str | Sequence[Axis]) -> None:
        try:
            first, second, third = map(unit, axes)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f'axes is a word of three letters like "zxz", or three axes, not {axes!r}: {error}'
            ) from None
        object.__setattr__(self, "axes", (first, second, third))
        for a, b in ((first, second), (second, third)):
            if hypot(*cross(a, b)) < _PARALLEL:
                raise ValueError(f"neighbouring axes of {axes!r} are parallel: the three turns give only two freedoms")

    @property
    def symmetrical(self) -> bool:
        return self._square

    @property
    def _square(self) -> bool:
        """Whether the second axis is square to both others."""
        first, second, third = self.axes
        return max(abs(dot(first, second)), abs(dot(second, third))) < _SQUARE

    def actuation(self, q: Vector) -> Subspace:
        """S⁻ᵀ: the basis reciprocal to the three axes."""
        a, b, c = (column.angular for column in self.subspace(q))
        volume = dot(a, cross(b, c))
        reciprocal = (scale(1 / volume, side) for side in (cross(b, c), cross(c, a), cross(a, b)))
        return Subspace(Force, (Force(side, ZERO3) for side in reciprocal))

    def locate(self, X: Transform) -> Vector:
        """The angles of X; the first is zero where the outer axes are in line. X out of reach gives the border.

        The outer axes meet at a·A₂c = a·Eᵀc = γ + R cos(q₂ − φ), with γ, R and φ from how the three axes lie.
        """
        a, b, c = map(structural, self.axes)
        first, second, third = self.axes
        gamma = dot(first, second) * dot(second, third)
        along, aside = dot(first, third) - gamma, dot(first, cross(second, third))
        u = tmatvec(X.E, c)
        across = cross(a, u)
        n2 = dot(across, across)
        cosine = dot(a, u) if self._square else (dot(a, u) - gamma) / hypot(along, aside)
        opening = _root(n2 if self._square else 1 - cosine * cosine)
        phi = atan2(aside, along)
        q2 = phi + arctan2(opening if phi <= 0 else -opening, cosine)
        E2 = rotation.about(b, q2)
        y, x = swing(a, tmatvec(E2, c), u)
        in_line = less(n2, _TINY)
        q1 = arctan2(select(in_line, ZERO, y), select(in_line, ONE, x))
        E21 = matmul(E2, rotation.about(a, q1))
        return Vector([q1, q2, turn(c, matmul(X.E, transpose(E21)))])


def _root(x: Any) -> Any:
    """√x, and zero for what rounding or an X out of reach leaves at or below zero."""
    low = less(x, _TINY)
    return select(low, ZERO, sqrt(select(low, ONE, x)))
