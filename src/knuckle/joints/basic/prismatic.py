"""The prismatic joint (RBDA table 4.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from knuckle.joints import frame_gap
from knuckle.joints.axis import Z_AXIS, Axis, Unit, frame, opposite, structural, unit
from knuckle.joints.base import ConstantSubspace
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector, lie
from knuckle.spatial.three import IDENTITY3, ZERO3, dot, scale


@dataclass(frozen=True)
class Prismatic(ConstantSubspace):
    """Slides along an axis. q is the distance."""

    axis: Unit = Z_AXIS
    _q = ("m",)
    _v = ("m",)
    _symmetrical = True

    def __init__(self, axis: Axis = Z_AXIS) -> None:
        object.__setattr__(self, "axis", unit(axis))

    def transform(self, q: Vector) -> Transform:
        return Transform(IDENTITY3, scale(q[0], structural(self.axis)))

    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion, [Motion(ZERO3, structural(self.axis))])

    def constraints(self, q: Vector) -> Subspace:
        x, y, _ = frame(self.axis)
        return Subspace(Force, [*Force.basis()[:3], Force(ZERO3, x), Force(ZERO3, y)])

    def actuation(self, q: Vector) -> Subspace:
        return Subspace(Force, [Force(ZERO3, structural(self.axis))])

    def locate(self, X: Transform) -> Vector:
        return Vector([dot(structural(self.axis), X.r)])

    def loop(self, X: Transform) -> tuple[Vector, Subspace]:
        """Table 8.1, third column, for any axis."""
        delta = Vector([*lie.displacement(X).angular, *frame_gap.offset(X, *frame(self.axis))])
        return delta, self.constraints(Vector())

    def reversed(self) -> Self:
        return replace(self, axis=opposite(self.axis))
