"""The translational joint: three freedoms, no rotation (notes 2.4.4)."""

from __future__ import annotations

from dataclasses import dataclass

from knuckle.joints.base import ConstantSubspace
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector
from knuckle.spatial.three import IDENTITY3


@dataclass(frozen=True)
class Translational(ConstantSubspace):
    """Moves anywhere without turning. q is the position of the successor in the predecessor."""

    _q = ("m", "m", "m")
    _v = ("m", "m", "m")
    _symmetrical = True

    def transform(self, q: Vector) -> Transform:
        return Transform(IDENTITY3, q.items)

    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion, Motion.basis()[3:])

    def constraints(self, q: Vector) -> Subspace:
        return Subspace(Force, Force.basis()[:3])

    def actuation(self, q: Vector) -> Subspace:
        return Subspace(Force, Force.basis()[3:])

    def locate(self, X: Transform) -> Vector:
        return Vector(X.r)
