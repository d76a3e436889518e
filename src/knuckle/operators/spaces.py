"""What spatial operators map: one motion or force per body, one number per joint variable, one vector per point.

The paper stacks all of them into ℝ⁶ⁿ and ℝᴺ. Here a vector knows which of two dual spaces it is in, so that a product
that has no meaning, such as `H @ phi.T`, is an error where it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from knuckle.model import Frame, Model
from knuckle.spatial import Vector


@dataclass(frozen=True)
class Space:
    """One space; `other` is the name of its dual, with which its vectors pair to a power."""

    name: str
    other: str
    each: Literal["body", "joint", "point"] | int

    @property
    def dual(self) -> Space:
        """The space of what vectors of this one pair with."""
        return SPACES.get(self.other, self)

    def sizes(self, model: Model, points: Sequence[Frame]) -> list[int]:
        """How many numbers each part of a vector has."""
        if isinstance(self.each, int):
            return [self.each]
        if self.each == "joint":
            return [joint.type.nv for joint in model.joints]
        return [model.algebra.dimension] * (model.nb if self.each == "body" else len(points))

    def parts(self, model: Model, points: Sequence[Frame], x: Sequence[Any]) -> list[Any]:
        """A flat vector as its parts: motions, forces or small vectors."""
        make = {"motion": model.algebra.Motion.of, "force": model.algebra.Force.of, "vector": Vector}[self._kind]
        parts: list[Any] = []
        start = 0
        for n in self.sizes(model, points):
            parts.append(make(x[start : start + n]))
            start += n
        return parts

    def flat(self, parts: Iterable[Any]) -> Vector:
        """The parts, one after the other."""
        return Vector(x for part in parts for x in (part if self._kind == "vector" else part.components))

    @property
    def _kind(self) -> str:
        if self.each == "joint" or isinstance(self.each, int):
            return "vector"
        return "motion" if self in (MOTION, TWIST) else "force"


MOTION = Space("the motions of the bodies", "FORCE", "body")
FORCE = Space("the forces on the bodies", "MOTION", "body")
RATE = Space("the rates of the joint variables", "EFFORT", "joint")
EFFORT = Space("the forces at the joints", "RATE", "joint")
WHITE = Space("the innovations in units of their size", "WHITE", "joint")
TWIST = Space("the motions of the points", "WRENCH", "point")
WRENCH = Space("the forces at the points", "TWIST", "point")


def numbers(count: int) -> Space:
    """Plain numbers, which pair with plain numbers: one per closure constraint."""
    return Space(f"{count} numbers", "", count)


SPACES = {
    "MOTION": MOTION, "FORCE": FORCE, "RATE": RATE, "EFFORT": EFFORT, "WHITE": WHITE, "TWIST": TWIST, "WRENCH": WRENCH,
}  # fmt: skip
