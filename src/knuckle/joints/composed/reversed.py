"""Polarity reversal (RBDA 4.4, table 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.joints.base import Joint, JointMotion
from knuckle.spatial import Subspace, Transform, Vector

from .wrapped import Wrapped


@dataclass(frozen=True)
class Reversed(Wrapped):
    """A joint with predecessor and successor exchanged; q and v keep their meaning.

    Table 4.2 with its missing star restored: T → −X*T, or TᵀS = 0 would not survive.
    """

    def transform(self, q: Vector) -> Transform:
        return self.joint.transform(q).inverse()

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        X, S, vJ, cJ = self.joint.motion(q, v)
        return JointMotion(X.inverse(), -(X.inv @ S), -(X.inv @ vJ), -(X.inv @ cJ))

    def subspace(self, q: Vector) -> Subspace:
        return -(self.joint.transform(q).inv @ self.joint.subspace(q))

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        """−d/dt(X⁻¹S) = −X⁻¹(S̊ + v_J × S): the book's c_J needs no second term because v_J × v_J = 0."""
        X, S, vJ, _ = self.joint.motion(q, v)
        return -(X.inv @ (self.joint.subspace_rate(q, v) + vJ.cross(S)))

    def constraints(self, q: Vector) -> Subspace:
        return -(self.joint.transform(q).inv @ self.joint.constraints(q))

    def actuation(self, q: Vector) -> Subspace:
        return -(self.joint.transform(q).inv @ self.joint.actuation(q))

    def locate(self, X: Transform) -> Vector:
        return self.joint.locate(X.inverse())

    def loop(self, X: Transform) -> tuple[Vector, Subspace]:
        """The joint's own δ, and its T as forces on the other body: T → −XT.

        With X⁻¹ = (1 − d×) X_J the frames seen from this side are X ≈ (1 + X_J⁻¹d ×) X_J⁻¹ apart, an error of −X_J⁻¹d;
        T and d change together, and their product stays.
        """
        delta, T = self.joint.loop(X.inverse())
        return delta, -(X @ T)

    def reversed(self) -> Joint:
        return self.joint

    def at_time(self, t: Any) -> Joint:
        return Reversed(self.joint.at_time(t))
