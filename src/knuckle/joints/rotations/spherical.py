"""The spherical joint by Euler parameters (RBDA table 4.1, 4.5), and what every ball joint shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.joints.base import ConstantSubspace, Joint
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector, lie, rotation
from knuckle.spatial.three import ZERO3, matvec, neg


def random_quaternion(rng: Any) -> tuple[Any, ...]:
    """A unit quaternion, uniform over all rotations."""
    p = [rng.standard_normal() for _ in range(4)]
    norm = sum(x * x for x in p) ** 0.5
    return tuple(float(x / norm) for x in p)


class Ball(Joint):
    """A joint that holds the origins together, whatever its coordinates: T does not change though S may."""

    _symmetrical = True

    def constraints(self, q: Vector) -> Subspace:
        return Subspace(Force, Force.basis()[3:])

    def loop(self, X: Transform) -> tuple[Vector, Subspace]:
        """Table 8.1, last entry: its products of entries of X are Er."""
        return Vector(matvec(X.E, X.r)), self.constraints(Vector())


@dataclass(frozen=True)
class Spherical(Ball, ConstantSubspace):
    """A ball joint. q = (w, x, y, z), unit Euler parameters; v is the angular velocity in successor coordinates."""

    _q = ("1", "1", "1", "1")
    _v = ("rad", "rad", "rad")

    def transform(self, q: Vector) -> Transform:
        return Transform(rotation.from_quaternion(q.items), ZERO3)

    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion, Motion.basis()[:3])

    def rate(self, q: Vector, v: Vector) -> Vector:
        return Vector(rotation.quaternion_rate(q.items, v.items))

    def velocity(self, q: Vector, rate: Vector) -> Vector:
        return Vector(rotation.quaternion_velocity(q.items, rate.items))

    def neutral(self) -> Vector:
        return Vector([1.0, 0.0, 0.0, 0.0])

    def random(self, rng: Any) -> Vector:
        return Vector(random_quaternion(rng))

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        return Vector(rotation.normalized(rotation.multiply(q.items, rotation.quaternion_exp(dv.items))))

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        p = rotation.multiply(rotation.conjugate(q0.items), q1.items)
        return Vector(rotation.quaternion_log(rotation.normalized(p)))

    def difference_rate(self, u: Vector, v: Vector) -> Vector:
        return Vector(lie.left_jacobian_inverse(neg(u.items), v.items))

    def displacement_velocity(self, u: Vector, rate: Vector) -> Vector:
        return Vector(lie.left_jacobian(neg(u.items), rate.items))

    def velocity_force(self, u: Vector, f: Vector) -> Vector:
        return Vector(lie.left_jacobian_inverse(u.items, f.items))

    def displacement_force(self, u: Vector, f: Vector) -> Vector:
        return Vector(lie.left_jacobian(u.items, f.items))

    @property
    def has_charts(self) -> bool:
        return False

    def normalized(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        return Vector(rotation.normalized(q.items)), v

    def actuation(self, q: Vector) -> Subspace:
        return Subspace(Force, Force.basis()[:3])

    def locate(self, X: Transform) -> Vector:
        return Vector(rotation.to_quaternion(X.E))
