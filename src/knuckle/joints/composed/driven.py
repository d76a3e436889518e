"""Joints that move by a law of time: rheonomic constraints (RBDA 3.4, 3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from knuckle.errors import ModelError
from knuckle.joints.base import Joint, JointMotion
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector

from .time_laws import Law


class Unfree(Joint):
    """A joint without freedoms: S is empty, and all forces are constraint forces."""

    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion)

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        return Subspace(Motion)

    def constraints(self, q: Vector) -> Subspace:
        return Subspace(Force, Force.basis())

    def actuation(self, q: Vector) -> Subspace:
        return Subspace(Force)

    def locate(self, X: Transform) -> Vector:
        return Vector()


@dataclass(frozen=True)
class Prescribed(Unfree):
    """A joint held at a given position, velocity and acceleration: v_J is all σ, and c_J is σ̊ = S a + c_J."""

    joint: Joint
    q: tuple[Any, ...]
    v: tuple[Any, ...]
    a: tuple[Any, ...]

    def __post_init__(self) -> None:
        sizes = {"q": self.joint.nq, "v": self.joint.nv, "a": self.joint.nv}
        for name, size in sizes.items():
            values = tuple(getattr(self, name))
            if len(values) != size:
                kind = type(self.joint).__name__
                raise ModelError(f"{name} of a prescribed {kind} joint has {size} entries, not {len(values)}")
            object.__setattr__(self, name, values)

    def transform(self, q: Vector) -> Transform:
        return self.joint.transform(Vector(self.q))

    def motion(self, q: Vector, v: Vector) -> JointMotion:
        X, S, vJ, cJ = self.joint.motion(Vector(self.q), Vector(self.v))
        return JointMotion(X, Subspace(Motion), vJ, S @ Vector(self.a) + cJ)


@dataclass(frozen=True)
class Driven(Unfree):
    """A joint whose variables follow `law`, a function of time that gives (q, v, v̇): no freedom is left.

    What moves by a law exists at a time only: `at(t)` gives the joint there. Laws that are frozen dataclasses, such as
    `Polynomial`, `Sinusoid` and `Together`, keep the joint comparable and picklable; any other function serves too.
    """

    joint: Joint
    law: Law

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise TypeError(f"joint is the joint that the law drives, not {self.joint!r}")
        if not callable(self.law):
            raise TypeError(f"law gives (q, v, v̇) at a time, which {self.law!r} cannot")

    def at_time(self, t: Any) -> Prescribed:
        q, v, a = self.law(t)
        return Prescribed(self.joint.at_time(t), tuple(q), tuple(v), tuple(a))

    def transform(self, q: Vector) -> NoReturn:
        kind = type(self.joint).__name__
        raise ModelError(f"a driven {kind} joint has a place only at a time: use model.at_time(t), or joint.at_time(t)")

    def motion(self, q: Vector, v: Vector) -> NoReturn:
        self.transform(q)
