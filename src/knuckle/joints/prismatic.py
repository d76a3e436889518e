"""The prismatic joint (RBDA table 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.spatial import Force, Motion, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import IDENTITY3, ZERO3, dot, scale

from .axis import Z_AXIS, structural, unit
from .base import ConstantSubspace


@dataclass(frozen=True)
class Prismatic(ConstantSubspace):
    """Slides along an axis. q is the distance."""

    axis: tuple[float, float, float] = Z_AXIS
    _q = ("m",)
    _v = ("m",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit(self.axis))

    def transform(self, q: Vector) -> Transform:
        return Transform(IDENTITY3, scale(q[0], structural(self.axis)))

    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion, [Motion(ZERO3, structural(self.axis))])

    def constraints(self, q: Vector) -> Subspace:
        x, y = rotation.perpendicular(structural(self.axis))
        return Subspace(Force, [*Force.basis()[:3], Force(ZERO3, x), Force(ZERO3, y)])

    def actuation(self, q: Vector) -> Subspace:
        return Subspace(Force, [Force(ZERO3, structural(self.axis))])

    def locate(self, X: Transform) -> Vector:
        return Vector([dot(structural(self.axis), X.r)])

    def reversed(self) -> Any:
        x, y, z = self.axis
        return type(self)((-x, -y, -z))
