"""Joints around a joint: what they leave as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.joints.base import Joint
from knuckle.spatial import Vector


@dataclass(frozen=True)
class Wrapped(Joint):
    """A joint whose variables are those of the joint inside: only what it does with them is another matter."""

    joint: Joint

    @property
    def q_units(self) -> tuple[str, ...]:
        return self.joint.q_units

    @property
    def v_units(self) -> tuple[str, ...]:
        return self.joint.v_units

    @property
    def symmetrical(self) -> bool:
        return self.joint.symmetrical

    def rate(self, q: Vector, v: Vector) -> Vector:
        return self.joint.rate(q, v)

    def velocity(self, q: Vector, rate: Vector) -> Vector | None:
        return self.joint.velocity(q, rate)

    def neutral(self) -> Vector:
        return self.joint.neutral()

    def random(self, rng: Any) -> Vector:
        return self.joint.random(rng)

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        return self.joint.integrate(q, dv)

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        return self.joint.difference(q0, q1)

    def difference_rate(self, u: Vector, v: Vector) -> Vector:
        return self.joint.difference_rate(u, v)

    def displacement_velocity(self, u: Vector, rate: Vector) -> Vector:
        return self.joint.displacement_velocity(u, rate)

    def velocity_force(self, u: Vector, f: Vector) -> Vector:
        return self.joint.velocity_force(u, f)

    def displacement_force(self, u: Vector, f: Vector) -> Vector:
        return self.joint.displacement_force(u, f)

    def spring_force(self, rest: Vector, q: Vector, stiffness: Vector) -> Vector:
        return self.joint.spring_force(rest, q, stiffness)

    @property
    def has_charts(self) -> bool:
        return self.joint.has_charts

    def normalized(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        return self.joint.normalized(q, v)

    def alongside(self, q0: Vector, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        return self.joint.alongside(q0, q, v)

    def _spread(self, fractions: Sequence[float]) -> Vector:
        return self.joint._spread(fractions)
