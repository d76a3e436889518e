"""Joints for mechanisms that move in a plane (RBDA 2.16)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.joints.base import Joint, JointMotion, JointSlopes
from knuckle.joints.composed.wrapped import Wrapped
from knuckle.spatial import PlanarForce, Subspace, Vector, lie, project
from knuckle.spatial.algebra import embed


@dataclass(frozen=True)
class InPlane(Wrapped):
    """A joint that moves in the xy plane, in the planar algebra: everything it gives has three coordinates.

    q, v and the forces at the joint are those of the spatial joint. Whether that joint does keep to the plane is not
    looked at here; `to_planar` does, for a whole model.
    """

    def transform(self, q: Vector) -> Any:
        return project(self.joint.transform(q))

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        return JointMotion(*map(project, self.joint.motion(q, v)))

    def slopes(self, q: Vector, v: Vector, a: Vector) -> JointSlopes:
        S, *others = self.joint.slopes(q, v, a)
        return JointSlopes([*map(project, S)], *map(project, others))

    def subspace(self, q: Vector) -> Subspace:
        return project(self.joint.subspace(q))

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        return project(self.joint.subspace_rate(q, v))

    def constraints(self, q: Vector) -> Subspace:
        """The constraint forces within the plane; those that hold the joint in it have no planar part."""
        T = self.subspace(q).matrix.complement()
        return Subspace(PlanarForce, (PlanarForce.of(T.column(j)) for j in range(T.ncols)))

    def actuation(self, q: Vector) -> Subspace:
        return project(self.joint.actuation(q))

    def locate(self, X: Any) -> Vector:
        return self.joint.locate(embed(X))

    def loop(self, X: Any) -> tuple[Vector, Subspace]:
        q = self.locate(X)
        T = self.constraints(q)
        return T.T @ project(lie.displacement(embed(X @ self.transform(q).inverse()))), T

    def reversed(self) -> Joint:
        return InPlane(self.joint.reversed())

    def at_time(self, t: Any) -> Joint:
        return InPlane(self.joint.at_time(t))
