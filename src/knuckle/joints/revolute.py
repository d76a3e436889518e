"""The revolute joint (RBDA table 4.1), and the continuous one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ZERO, arctan2
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import ZERO3, dot, unskew

from .axis import Z_AXIS, structural, unit
from .base import ConstantSubspace


@dataclass(frozen=True)
class Revolute(ConstantSubspace):
    """Turns about an axis through both origins. q is the angle."""

    axis: tuple[float, float, float] = Z_AXIS
    _q = ("rad",)
    _v = ("rad",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit(self.axis))

    def transform(self, q: Vector) -> Transform:
        return Transform(rotation.about(structural(self.axis), q[0]), ZERO3)

    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion, [Motion(structural(self.axis), ZERO3)])

    def constraints(self, q: Vector) -> Subspace:
        x, y = rotation.perpendicular(structural(self.axis))
        basis = Force.basis()
        return Subspace(Force, [Force(x, ZERO3), Force(y, ZERO3), *basis[3:]])

    def actuation(self, q: Vector) -> Subspace:
        return Subspace(Force, [Force(structural(self.axis), ZERO3)])

    def locate(self, X: Transform) -> Vector:
        """The angle that minimises the turn left over: tan q = −2 a·unskew(E) / (tr E − a·Ea)."""
        a = structural(self.axis)
        Ea = sum((a[i] * dot(X.E[i], a) for i in range(3)), ZERO)
        return Vector([arctan2(-2 * dot(a, unskew(X.E)), X.E[0][0] + X.E[1][1] + X.E[2][2] - Ea)])

    def reversed(self) -> Any:
        x, y, z = self.axis
        return type(self)((-x, -y, -z))


@dataclass(frozen=True)
class Continuous(Revolute):
    """A revolute joint without limits: q and q + 2π are the same place, and `difference` takes the short way."""

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        from knuckle.scalar import cos, sin

        d = q1[0] - q0[0]
        return Vector([arctan2(sin(d), cos(d))])
