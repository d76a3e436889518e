"""A joint whose angle counts from elsewhere: for models that are made to be compiled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from knuckle.joints import Joint
from knuckle.joints.axis import structural
from knuckle.joints.base import JointMotion
from knuckle.joints.composed.wrapped import Wrapped
from knuckle.scalar import cos, sin
from knuckle.spatial import Motion, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import ZERO3

SLIGHT = 2.0**-28
"""Angles whose cosine is one in doubles, to a sixteenth of a rounding."""


@dataclass(frozen=True)
class Offset(Wrapped):
    """A revolute joint that stands at q where its twin stands at q + `offset` + `quarters` of a turn.

    It takes a constant turn about the joint's axis out of X_tree: one addition in place of a product of matrices.
    """

    offset: float
    quarters: int = 0

    def _cosine_and_sine(self, q: Any) -> tuple[Any, Any]:
        return cos(q + self.offset), sin(q + self.offset)

    def transform(self, q: Vector) -> Transform:
        c, s = self._cosine_and_sine(q[0])
        for _ in range(self.quarters):
            c, s = -s, c
        return Transform(rotation.from_cosine_sine(structural(self.joint.axis), c, s), ZERO3)  # type: ignore[attr-defined]

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        S = self.subspace(q)
        return JointMotion(self.transform(q), S, S @ v, Motion.zero())

    def subspace(self, q: Vector) -> Subspace:
        return self.joint.subspace(q)

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        return self.joint.subspace_rate(q, v)

    def constraints(self, q: Vector) -> Subspace:
        return self.joint.constraints(q)

    def actuation(self, q: Vector) -> Subspace:
        return self.joint.actuation(q)

    def locate(self, X: Transform) -> Vector:
        return self.joint.locate(X) - Vector([self.offset + self.quarters * math.pi / 2])

    def loop(self, X: Transform) -> tuple[Vector, Subspace]:
        return self.joint.loop(X)

    def at_time(self, t: Any) -> Joint:
        return type(self)(self.joint.at_time(t), self.offset, self.quarters)


@dataclass(frozen=True)
class SlightOffset(Offset):
    """An offset so small that its square is nothing: angles that files state to a dozen digits.

    sin(q + δ) = sin q + δ cos q takes three operations more than q + δ, and does not round q.
    """

    def _cosine_and_sine(self, q: Any) -> tuple[Any, Any]:
        c, s, d = cos(q), sin(q), self.offset
        return c - d * s, s + d * c


def offset_by(joint: Joint, c: float, s: float) -> Joint:
    """A revolute joint that stands at q where it would stand farther on by the angle of this cosine and sine.

    Quarters of a turn are left in an angle that is added anyway: minus signs hide expressions that code has in common.
    """
    whole, quarters = math.atan2(s, c), 0
    while c < abs(s):
        quarters += 1
        c, s = s, -c
    rest = math.atan2(s, c)
    return SlightOffset(joint, rest, quarters) if abs(rest) < SLIGHT else Offset(joint, whole)
