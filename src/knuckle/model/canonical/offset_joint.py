"""A joint whose angle counts from elsewhere: for models that are made to be compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.joints import Joint
from knuckle.joints.base import JointMotion
from knuckle.joints.composed.wrapped import Wrapped
from knuckle.spatial import Subspace, Transform, Vector


@dataclass(frozen=True)
class Offset(Wrapped):
    """A joint with v = q̇ that stands at q where its twin stands at q + `offset`; q and v are the outer ones.

    It takes a constant turn about the joint's axis out of X_tree: one addition in place of a product of matrices.
    """

    offset: tuple[float, ...]

    def _inner(self, q: Vector) -> Vector:
        return q + Vector(self.offset)

    def transform(self, q: Vector) -> Transform:
        return self.joint.transform(self._inner(q))

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        return self.joint.motion(self._inner(q), v)

    def subspace(self, q: Vector) -> Subspace:
        return self.joint.subspace(self._inner(q))

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        return self.joint.subspace_rate(self._inner(q), v)

    def constraints(self, q: Vector) -> Subspace:
        return self.joint.constraints(self._inner(q))

    def actuation(self, q: Vector) -> Subspace:
        return self.joint.actuation(self._inner(q))

    def locate(self, X: Transform) -> Vector:
        return self.joint.locate(X) - Vector(self.offset)

    def loop(self, X: Transform) -> tuple[Vector, Subspace]:
        return self.joint.loop(X)

    def at_time(self, t: Any) -> Joint:
        return Offset(self.joint.at_time(t), self.offset)
