"""Springs, dampers and rotors of a joint as a force element: for joints that close loops, and have none themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from knuckle.joints import Joint
from knuckle.public_names import public_in
from knuckle.scalar import ZERO, constant
from knuckle.spatial import Force, Matrix, Motion, Transform, Vector

from .base import ForceElement


@public_in("elements")
@dataclass(frozen=True)
class JointSpring(ForceElement):
    """What springs and dampers of a joint do between its two frames (notes 2.68-2.72), by its active forces T_a.

    `stiffness`, `rest`, `damping` and `rotor_inertia` have an entry for each velocity variable of the joint. Its
    position is that of `Joint.locate`, so that an angle is known within half a turn of zero only. A rotor has the
    kinetic energy ½ I q̇² of the joint's variable.
    """

    name: str
    predecessor: str
    successor: str
    joint: Joint
    stiffness: tuple[float, ...] = ()
    rest: tuple[float, ...] = ()
    damping: tuple[float, ...] = ()
    rotor_inertia: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for what in ("stiffness", "rest", "damping", "rotor_inertia"):
            numbers = tuple(getattr(self, what)) or (0.0,) * self.joint.nv
            if len(numbers) != self.joint.nv:
                raise ValueError(
                    f"{what} of the spring {self.name!r} needs {self.joint.nv} numbers, one for each velocity variable "
                    f"of its joint, not {numbers}"
                )
            object.__setattr__(self, what, numbers)

    @property
    def frames(self) -> tuple[str, ...]:
        return self.predecessor, self.successor

    def forces(self, X: Sequence[Transform], V: Sequence[Motion]) -> list[Force]:
        apart = X[1] @ X[0].inverse()
        q = self.joint.locate(apart)
        T_a = self.joint.actuation(q)
        sigma = self.joint.motion(q, Vector.zero(self.joint.nv)).v
        tau = Vector(map(constant, self.damping)) * (T_a.T @ (V[1] - apart @ V[0] - sigma))
        if self._is_sprung:
            tau = tau + self.joint.spring_force(self._at_rest, q, Vector(map(constant, self.stiffness)))
        pull = T_a @ tau
        return [apart.T @ pull, -pull]

    @property
    def armature(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What all rotors have together: zero where there are none."""
        return sum(self.rotor_inertia)

    def inertias(self, X: Sequence[Transform]) -> list[tuple[Any, list[Force]]]:
        """The rotors, and the forces of 1 N m, or 1 N, against the motion of the joint."""
        apart = X[1] @ X[0].inverse()
        T_a = self.joint.actuation(self.joint.locate(apart))
        units = Matrix.identity(self.joint.nv).rows
        pulls = ((constant(a), T_a @ Vector(unit)) for a, unit in zip(self.rotor_inertia, units, strict=True))
        return [(a, [apart.T @ pull, -pull]) for a, pull in pulls if a is not ZERO]

    def energy(self, X: Sequence[Transform]) -> Any:
        """½ k d² of the displacement d from the position of rest."""
        if not self._is_sprung:
            return ZERO
        d = self.joint.difference(self._at_rest, self.joint.locate(X[1] @ X[0].inverse()))
        return sum((constant(k) * x * x for k, x in zip(self.stiffness, d, strict=True)), ZERO) / 2

    def renamed(self, name: str, frame: Callable[[str], str]) -> JointSpring:
        return replace(self, name=name, predecessor=frame(self.predecessor), successor=frame(self.successor))

    @property
    def _is_sprung(self) -> bool:
        return any(constant(k) is not ZERO for k in self.stiffness)

    @property
    def _at_rest(self) -> Vector:
        return self.joint.integrate(self.joint.neutral(), Vector(self.rest))
