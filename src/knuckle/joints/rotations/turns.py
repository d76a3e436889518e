"""Turns about several axes through one point, one after the other: what Euler angles and the universal joint share."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from knuckle.joints.axis import Unit
from knuckle.joints.base import Joint, JointMotion
from knuckle.joints.basic.revolute import Revolute
from knuckle.joints.composed.composite import Composite
from knuckle.spatial import Subspace, Transform, Vector
from knuckle.spatial.three import Vec3, cross, dot


class Turns(Joint):
    """Revolute joints in a row with a common origin: E = E_n … E_2 E_1, and v = q̇."""

    axes: tuple[Unit, ...]

    @cached_property
    def chain(self) -> Composite:
        """The same joint as a composite."""
        return Composite(tuple(map(Revolute, self.axes)))

    def transform(self, q: Vector) -> Transform:
        return self.chain.transform(q)

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        return self.chain.motion(q, v)

    def subspace(self, q: Vector) -> Subspace:
        """The axes, each turned by the joints after it (RBDA 4.8)."""
        return self.chain.subspace(q)

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        return self.chain.subspace_rate(q, v)


def swing(a: Vec3, u: Vec3, w: Vec3) -> tuple[Any, Any]:
    """Sine and cosine, up to a common factor, of the angle about `a` that brings u nearest to w."""
    u, w = cross(a, u), cross(a, w)
    return dot(a, cross(u, w)), dot(u, w)
