"""The universal joint: two turns about crossed axes (notes 2.4.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

from knuckle.joints.axis import X_AXIS, Y_AXIS, Axis, Unit, structural, turn, unit
from knuckle.scalar import arctan2, constant
from knuckle.spatial import Force, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import ZERO3, Vec3, cross, matmul, scale, tmatvec, transpose

from .turns import Turns, swing

_PARALLEL = 1e-9


@dataclass(frozen=True)
class Universal(Turns):
    """Turns about a first axis, fixed in the predecessor, then about a second, fixed in the successor; v = q̇.

    `axes` is a word such as "xy" or two axes that are not parallel. It has no singular position.
    """

    axes: tuple[Unit, Unit] = (X_AXIS, Y_AXIS)
    _q = ("rad", "rad")
    _v = ("rad", "rad")

    def __init__(self, axes: str | Sequence[Axis] = (X_AXIS, Y_AXIS)) -> None:
        try:
            first, second = map(unit, axes)
        except (TypeError, ValueError) as error:
            raise ValueError(f'axes is a word of two letters like "xy", or two axes, not {axes!r}: {error}') from None
        if hypot(*cross(first, second)) < _PARALLEL:
            raise ValueError(f"the axes {axes!r} are parallel: the two turns give only one freedom")
        object.__setattr__(self, "axes", (first, second))

    def constraints(self, q: Vector) -> Subspace:
        """A couple along the common perpendicular of the axes, and every force."""
        _, _, n = self._triple(q)
        return Subspace(Force, [Force(n, ZERO3), *Force.basis()[3:]])

    def actuation(self, q: Vector) -> Subspace:
        """Couples about one axis that do no work on the other."""
        a, b, n = self._triple(q)
        sine = constant(hypot(*cross(*self.axes)))
        return Subspace(Force, (Force(scale(1 / sine, side), ZERO3) for side in (cross(b, n), cross(n, a))))

    def _triple(self, q: Vector) -> tuple[Vec3, Vec3, Vec3]:
        """Both axes and their common perpendicular, of length one, in successor coordinates."""
        a, b = (column.angular for column in self.subspace(q))
        return a, b, scale(1 / constant(hypot(*cross(*self.axes))), cross(a, b))

    def locate(self, X: Transform) -> Vector:
        """The first angle from where the second axis points, the second from the turn left over."""
        a, b = map(structural, self.axes)
        q1 = arctan2(*swing(a, b, tmatvec(X.E, b)))
        return Vector([q1, turn(b, matmul(X.E, transpose(rotation.about(a, q1))))])
