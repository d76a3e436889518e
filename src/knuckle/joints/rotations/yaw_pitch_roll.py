"""The spherical joint by yaw, pitch and roll (RBDA 4.7-4.9)."""

from __future__ import annotations

from dataclasses import dataclass

from knuckle.scalar import ONE, ZERO, cos, sin
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import ZERO3

from .spherical import Ball


@dataclass(frozen=True)
class YawPitchRoll(Ball):
    """A ball joint. q = (yaw, pitch, roll): turns about z, then the new y, then the new x; v = q̇.

    At pitch ±90° yaw and roll turn about the same line: S loses a rank there. `motion` stays finite, but `actuation`
    divides by the cosine of the pitch, and no dynamics with this joint holds at that place.
    """

    _q = ("rad", "rad", "rad")
    _v = ("rad", "rad", "rad")

    def transform(self, q: Vector) -> Transform:
        """Eq. 4.7."""
        yaw, pitch, roll = q
        return Transform(rotation.from_rpy(roll, pitch, yaw), ZERO3)

    def subspace(self, q: Vector) -> Subspace:
        """Eq. 4.8."""
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        columns = (-s2, c2 * s3, c2 * c3), (ZERO, c3, -s3), (ONE, ZERO, ZERO)
        return Subspace(Motion, (Motion(column, ZERO3) for column in columns))

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        """S̊, whose product with q̇ is eq. 4.9."""
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        _, v2, v3 = v
        yaw = -c2 * v2, c2 * c3 * v3 - s2 * s3 * v2, -(s2 * c3 * v2) - c2 * s3 * v3
        pitch = ZERO, -s3 * v3, -c3 * v3
        return Subspace(Motion, (Motion(column, ZERO3) for column in (yaw, pitch, ZERO3)))

    def actuation(self, q: Vector) -> Subspace:
        """S⁻ᵀ."""
        s2, c2, s3, c3 = sin(q[1]), cos(q[1]), sin(q[2]), cos(q[2])
        columns = (ZERO, s3 / c2, c3 / c2), (ZERO, c3, -s3), (ONE, s2 * s3 / c2, s2 * c3 / c2)
        return Subspace(Force, (Force(column, ZERO3) for column in columns))

    def locate(self, X: Transform) -> Vector:
        """Pitch within ±90°; where it is ±90°, yaw is zero."""
        roll, pitch, yaw = rotation.to_rpy(X.E)
        return Vector([yaw, pitch, roll])
