"""The cylindrical joint (RBDA table 4.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from knuckle.joints import frame_gap
from knuckle.joints.axis import Z_AXIS, Axis, Unit, frame, opposite, structural, turn, unit
from knuckle.joints.base import ConstantSubspace
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import ZERO3, dot, scale


@dataclass(frozen=True)
class Cylindrical(ConstantSubspace):
    """Turns about an axis and slides along it. q is (angle, distance)."""

    axis: Unit = Z_AXIS
    _q = ("rad", "m")
    _v = ("rad", "m")
    _symmetrical = True

    def __init__(self, axis: Axis = Z_AXIS) -> None:
        object.__setattr__(self, "axis", unit(axis))

    def transform(self, q: Vector) -> Transform:
        a = structural(self.axis)
        return Transform(rotation.about(a, q[0]), scale(q[1], a))

    def subspace(self, q: Vector) -> Subspace:
        a = structural(self.axis)
        return Subspace(Motion, [Motion(a, ZERO3), Motion(ZERO3, a)])

    def constraints(self, q: Vector) -> Subspace:
        x, y, _ = frame(self.axis)
        return Subspace(Force, [Force(x, ZERO3), Force(y, ZERO3), Force(ZERO3, x), Force(ZERO3, y)])

    def actuation(self, q: Vector) -> Subspace:
        a = structural(self.axis)
        return Subspace(Force, [Force(a, ZERO3), Force(ZERO3, a)])

    def locate(self, X: Transform) -> Vector:
        a = structural(self.axis)
        return Vector([turn(a, X.E), dot(a, X.r)])

    def loop(self, X: Transform) -> tuple[Vector, Subspace]:
        """Table 8.1, fourth column and example 8.1, for any axis."""
        f = frame(self.axis)
        return Vector([*frame_gap.tilt(X, *f), *frame_gap.offset(X, *f)]), self.constraints(Vector())

    def reversed(self) -> Self:
        return replace(self, axis=opposite(self.axis))
