"""The helical joint: a screw in its nut (RBDA table 4.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from knuckle.joints.axis import Z_AXIS, Axis, Unit, finite, frame, opposite, structural, turn, unit, unwound
from knuckle.joints.base import ConstantSubspace
from knuckle.scalar import constant
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import ZERO3, dot, scale


@dataclass(frozen=True)
class Helical(ConstantSubspace):
    """Turns about an axis and advances along it by `pitch` metres per radian. q is the angle, over any turns."""

    axis: Unit = Z_AXIS
    pitch: float = 0.0
    _q = ("rad",)
    _v = ("rad",)
    _symmetrical = True

    def __init__(self, axis: Axis = Z_AXIS, pitch: float = 0.0) -> None:
        object.__setattr__(self, "axis", unit(axis))
        object.__setattr__(self, "pitch", finite(pitch, "pitch"))

    def transform(self, q: Vector) -> Transform:
        a, h = structural(self.axis), constant(self.pitch)
        return Transform(rotation.about(a, q[0]), scale(h * q[0], a))

    def subspace(self, q: Vector) -> Subspace:
        a = structural(self.axis)
        return Subspace(Motion, [Motion(a, scale(constant(self.pitch), a))])

    def constraints(self, q: Vector) -> Subspace:
        x, y, a = frame(self.axis)
        crosswise = [Force(x, ZERO3), Force(y, ZERO3), Force(ZERO3, x), Force(ZERO3, y)]
        return Subspace(Force, [*crosswise, Force(scale(-constant(self.pitch), a), a)])

    def actuation(self, q: Vector) -> Subspace:
        return Subspace(Force, [Force(structural(self.axis), ZERO3)])

    def locate(self, X: Transform) -> Vector:
        """The angle that E shows, in the turn that the distance along the axis shows."""
        a = structural(self.axis)
        angle = turn(a, X.E)
        return Vector([unwound(angle, dot(a, X.r) / self.pitch) if self.pitch else angle])

    def reversed(self) -> Self:
        return replace(self, axis=opposite(self.axis))
