"""Joints in a row with nothing between them (notes 2.4.10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.joints.base import Joint, JointMotion
from knuckle.spatial import Motion, Subspace, Transform, Vector


@dataclass(frozen=True)
class Composite(Joint):
    """A chain of joints as one joint, from the predecessor outward: X = X_n … X_2 X_1.

    q and v are those of the parts in order. T, T_a and `locate` come from S, whose columns must be independent.
    """

    joints: tuple[Joint, ...]

    def __init__(self, joints: Iterable[Joint]) -> None:
        parts = tuple(joints)
        for part in parts:
            if not isinstance(part, Joint):
                raise TypeError(f"a composite joint is made of joints, not of {part!r}")
        object.__setattr__(self, "joints", parts)

    @property
    def q_units(self) -> tuple[str, ...]:
        return tuple(u for joint in self.joints for u in joint.q_units)

    @property
    def v_units(self) -> tuple[str, ...]:
        return tuple(u for joint in self.joints for u in joint.v_units)

    def _each(self, q: Vector, v: Vector) -> Iterator[tuple[Joint, Vector, Vector]]:
        i = j = 0
        for joint in self.joints:
            yield joint, q[i : i + joint.nq], v[j : j + joint.nv]
            i, j = i + joint.nq, j + joint.nv

    def _join(self, f: Callable[..., Vector], q: Vector, v: Vector) -> Vector:
        return Vector(x for joint, qk, vk in self._each(q, v) for x in f(joint, qk, vk))

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        X, S = Transform.identity(), Subspace(Motion)
        V = A = Motion.zero()
        for joint, qk, vk in self._each(q, v):
            XJ, SJ, vJ, cJ = joint.motion(qk, vk)
            X, S = XJ @ X, (XJ @ S).join(SJ)
            V = XJ @ V + vJ
            A = XJ @ A + cJ + V.cross(vJ)
        return JointMotion(X, S, V, A)

    def transform(self, q: Vector) -> Transform:
        X = Transform.identity()
        for joint, qk, _ in self._each(q, Vector.zero(self.nv)):
            X = joint.transform(qk) @ X
        return X

    def subspace(self, q: Vector) -> Subspace:
        S = Subspace(Motion)
        for joint, qk, _ in self._each(q, Vector.zero(self.nv)):
            S = (joint.transform(qk) @ S).join(joint.subspace(qk))
        return S

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        """Ring derivatives along the chain: columns carried over a moving joint lose v_J × S (notes 2.53-2.55)."""
        S = Sr = Subspace(Motion)
        for joint, qk, vk in self._each(q, v):
            XJ, SJ, vJ, _ = joint.motion(qk, vk)
            S = XJ @ S
            Sr = (XJ @ Sr - vJ.cross(S)).join(joint.subspace_rate(qk, vk))
            S = S.join(SJ)
        return Sr

    def rate(self, q: Vector, v: Vector) -> Vector:
        return self._join(lambda joint, qk, vk: joint.rate(qk, vk), q, v)

    def neutral(self) -> Vector:
        return Vector(x for joint in self.joints for x in joint.neutral())

    def random(self, rng: Any) -> Vector:
        return Vector(x for joint in self.joints for x in joint.random(rng))

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        return self._join(lambda joint, qk, vk: joint.integrate(qk, vk), q, dv)

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        zero = Vector.zero(self.nv)
        pairs = zip(self._each(q0, zero), self._each(q1, zero), strict=True)
        return Vector(x for (joint, a, _), (_, b, _) in pairs for x in joint.difference(a, b))

    def difference_rate(self, u: Vector, v: Vector) -> Vector:
        return self._by_velocity(lambda joint, uk, vk: joint.difference_rate(uk, vk), u, v)

    def displacement_velocity(self, u: Vector, rate: Vector) -> Vector:
        return self._by_velocity(lambda joint, uk, dk: joint.displacement_velocity(uk, dk), u, rate)

    def velocity_force(self, u: Vector, f: Vector) -> Vector:
        return self._by_velocity(lambda joint, uk, fk: joint.velocity_force(uk, fk), u, f)

    def displacement_force(self, u: Vector, f: Vector) -> Vector:
        return self._by_velocity(lambda joint, uk, fk: joint.displacement_force(uk, fk), u, f)

    def _by_velocity(self, f: Callable[..., Vector], u: Vector, v: Vector) -> Vector:
        parts, i = list[Any](), 0
        for joint in self.joints:
            parts += f(joint, u[i : i + joint.nv], v[i : i + joint.nv])
            i += joint.nv
        return Vector(parts)

    def spring_force(self, rest: Vector, q: Vector, stiffness: Vector) -> Vector:
        pairs = zip(self._each(rest, stiffness), self._each(q, stiffness), strict=True)
        return Vector(x for (joint, r, k), (_, qk, _) in pairs for x in joint.spring_force(r, qk, k))

    @property
    def has_charts(self) -> bool:
        return any(joint.has_charts for joint in self.joints)

    def normalized(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        return _states(joint.normalized(qk, vk) for joint, qk, vk in self._each(q, v))

    def alongside(self, q0: Vector, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        pairs = zip(self._each(q0, v), self._each(q, v), strict=True)
        return _states(joint.alongside(a, qk, vk) for (joint, a, _), (_, qk, vk) in pairs)

    def at_time(self, t: Any) -> Joint:
        return Composite(joint.at_time(t) for joint in self.joints)

    def _spread(self, fractions: Sequence[float]) -> Vector:
        parts = self._each(Vector.zero(self.nq), Vector(fractions))
        return Vector(x for joint, _, part in parts for x in joint._spread(part.items))


def _states(states: Iterable[tuple[Vector, Vector]]) -> tuple[Vector, Vector]:
    """The states of parts as one."""
    parts = list(states)
    return Vector(x for qk, _ in parts for x in qk), Vector(x for _, vk in parts for x in vk)
