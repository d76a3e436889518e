"""The fixed joint: no freedom (RBDA 4.4)."""

from __future__ import annotations

from dataclasses import dataclass

from knuckle.joints.base import ConstantSubspace
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector


@dataclass(frozen=True)
class Fixed(ConstantSubspace):
    """Welds the successor to the predecessor. Its `loop` is table 8.1's first column."""

    _symmetrical = True

    def transform(self, q: Vector) -> Transform:
        return Transform.identity()

    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion)

    def constraints(self, q: Vector) -> Subspace:
        return Subspace(Force, Force.basis())

    def actuation(self, q: Vector) -> Subspace:
        return Subspace(Force)

    def locate(self, X: Transform) -> Vector:
        return Vector()

    def reversed(self) -> Fixed:
        return self
