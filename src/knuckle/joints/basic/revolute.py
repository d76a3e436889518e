"""The revolute joint (RBDA table 4.1), and the continuous one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from knuckle.joints import frame_gap
from knuckle.joints.axis import Z_AXIS, Axis, Unit, frame, opposite, structural, turn, unit, wrapped
from knuckle.joints.base import ConstantSubspace
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import ZERO3


@dataclass(frozen=True)
class Revolute(ConstantSubspace):
    """Turns about an axis through both origins. q is the angle."""

    axis: Unit = Z_AXIS
    _q = ("rad",)
    _v = ("rad",)
    _symmetrical = True

    def __init__(self, axis: Axis = Z_AXIS) -> None:
        object.__setattr__(self, "axis", unit(axis))

    def transform(self, q: Vector) -> Transform:
        return Transform(rotation.about(structural(self.axis), q[0]), ZERO3)

    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion, [Motion(structural(self.axis), ZERO3)])

    def constraints(self, q: Vector) -> Subspace:
        x, y, a = frame(self.axis)
        return Subspace(Force, [Force(x, ZERO3), Force(y, ZERO3), *(Force(ZERO3, u) for u in (x, y, a))])

    def actuation(self, q: Vector) -> Subspace:
        return Subspace(Force, [Force(structural(self.axis), ZERO3)])

    def locate(self, X: Transform) -> Vector:
        return Vector([turn(structural(self.axis), X.E)])

    def loop(self, X: Transform) -> tuple[Vector, Subspace]:
        """Table 8.1, second column, for any axis."""
        f = frame(self.axis)
        delta = Vector([*frame_gap.tilt(X, *f), *frame_gap.offset(X, *f), frame_gap.slip(X, *f)])
        return delta, self.constraints(Vector())

    def reversed(self) -> Self:
        return replace(self, axis=opposite(self.axis))


class Continuous(Revolute):
    """A revolute joint without limits: q and q + 2π are the same place, and `difference` takes the short way."""

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        return Vector([wrapped(q1[0] - q0[0])])
