"""The spherical joint by exponential coordinates (notes 2.4.8)."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

from knuckle.joints.axis import unwound, wrapped
from knuckle.scalar import ONE, less, select, sqrt
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector, lie, rotation
from knuckle.spatial.series import cosc, coscc, sincc, sinccc
from knuckle.spatial.three import IDENTITY3, ZERO3, Vec3, add, cross, dot, neg, scale, sub

from .spherical import Ball, random_quaternion

_TINY = 1e-24


@dataclass(frozen=True)
class ExponentialSpherical(Ball):
    """A ball joint. q is the rotation vector from the predecessor to the successor, and v = q̇.

    S is singular where |q| is 2π, 4π, …: `normalized` turns a longer q back to the same place within |q| ≤ π.
    """

    _q = ("rad", "rad", "rad")
    _v = ("rad", "rad", "rad")

    def transform(self, q: Vector) -> Transform:
        return Transform(rotation.exp(q.items), ZERO3)

    def subspace(self, q: Vector) -> Subspace:
        """The right Jacobian of the exponential, 1 − C q× + D q×q× with C = cosc and D = sincc of |q|²."""
        return _turns(lie.left_jacobian(neg(q.items), e) for e in IDENTITY3)

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        """d/dt of the right Jacobian; C' = coscc − sincc/2 and D' = (3 sinccc − coscc)/2 are exact through zero."""
        phi, dphi = q.items, v.items
        n, dn = dot(phi, phi), 2 * dot(phi, dphi)
        C, dC = cosc(n), dn * (coscc(n) - sincc(n) / 2)
        D, dD = sincc(n), dn * (3 * sinccc(n) - coscc(n)) / 2

        def column(e: Vec3) -> Vec3:
            once, once_rate = cross(phi, e), cross(dphi, e)
            twice_rate = add(cross(dphi, once), cross(phi, once_rate))
            odd = add(scale(dC, once), scale(C, once_rate))
            return sub(add(scale(dD, cross(phi, once)), scale(D, twice_rate)), odd)

        return _turns(map(column, IDENTITY3))

    def random(self, rng: Any) -> Vector:
        """Uniform over all rotations."""
        return Vector(rotation.quaternion_log(random_quaternion(rng)))  # type: ignore[arg-type]

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        """q1 − q0 with that of the vectors q1 (1 + 2πk/|q1|), which are one rotation, that is nearest to q0."""
        return Vector(self._nearest(q0, q1)) - q0

    def spring_force(self, rest: Vector, q: Vector, stiffness: Vector) -> Vector:
        """S(q)ᵀ S(q')⁻ᵀ k d for the vector q' = rest + d that is q's rotation: S(q') q̇' = S(q) q̇."""
        near = self._nearest(rest, q)
        f = stiffness * (Vector(near) - rest)
        there = lie.left_jacobian(q.items, lie.left_jacobian_inverse(near, f.items))
        return Vector(select(_is_beyond(rest, q), a, b) for a, b in zip(there, f, strict=True))

    def _nearest(self, q0: Vector, q1: Vector) -> Vec3:
        """The rotation vector of q1's rotation, along q1, that is nearest to q0."""
        length, along = _length(q1), _along(q0, q1)
        other = scale(unwound(length, along) / length, q1.items)
        x, y, z = (select(_is_beyond(q0, q1), a, b) for a, b in zip(other, q1.items, strict=True))
        return x, y, z

    def normalized(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        """q (1 − 2πk/|q|) where |q| > π, and the v that keeps v_J: S⁻¹ S_prev v."""
        phi = q.items
        n = dot(phi, phi)
        long = less(pi * pi, n)
        length = sqrt(select(long, n, ONE))
        back = scale(wrapped(length) / length, phi)
        w = lie.left_jacobian_inverse(neg(back), lie.left_jacobian(neg(phi), v.items))
        return (
            Vector(select(long, a, b) for a, b in zip(back, phi, strict=True)),
            Vector(select(long, a, b) for a, b in zip(w, v.items, strict=True)),
        )

    def actuation(self, q: Vector) -> Subspace:
        """S⁻ᵀ: the inverse of the left Jacobian."""
        return Subspace(Force, (Force(lie.left_jacobian_inverse(q.items, e), ZERO3) for e in IDENTITY3))

    def locate(self, X: Transform) -> Vector:
        return Vector(rotation.log(X.E))


def _length(q: Vector) -> Any:
    """|q|, and one instead of zero."""
    n = dot(q.items, q.items)
    return sqrt(select(less(_TINY, n), n, ONE))


def _along(q0: Vector, q1: Vector) -> Any:
    """q0 along q1."""
    return dot(q0.items, q1.items) / _length(q1)


def _is_beyond(q0: Vector, q1: Vector) -> Any:
    """Whether another vector of the same rotation as q1 is nearer to q0."""
    apart = _length(q1) - _along(q0, q1)
    return less(pi * pi, apart * apart)


def _turns(columns: Any) -> Subspace:
    return Subspace(Motion, (Motion(column, ZERO3) for column in columns))
