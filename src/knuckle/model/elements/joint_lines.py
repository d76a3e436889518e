"""Lines that are wound on joints: what MuJoCo calls fixed tendons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from knuckle.public_names import public_in
from knuckle.scalar import ZERO, constant
from knuckle.spatial import Force, Motion, Transform

from .base import ForceElement
from .lines import TensionLine
from .plain_numbers import must_be_a_number
from .tension_laws import TensionLaw


class JointState(NamedTuple):
    """The joint of one variable that carries a body: the names of body and parent, its axis there, and where it is."""

    body: str
    parent: str
    s: Motion
    q: Any


@public_in("elements")
@dataclass(frozen=True)
class Winding:
    """By how much a line grows per radian, or metre, of the joint that carries a body."""

    body: str
    coefficient: float

    def __post_init__(self) -> None:
        if not isinstance(self.body, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"a winding names the body that a joint carries, and this is no name: {self.body!r}")
        must_be_a_number(self.coefficient, f"coefficient of the winding on {self.body!r}")


@public_in("elements")
@dataclass(frozen=True)
class JointLine(TensionLine):
    """A line that is wound on joints of one variable each: its length is Σ cᵢ qᵢ. Its tension turns them back.

    `armature` is as that of a `Line`.
    """

    name: str
    windings: tuple[Winding, ...]
    law: TensionLaw
    armature: float = 0.0

    def __post_init__(self) -> None:
        self.check_law()
        object.__setattr__(self, "windings", tuple(self.windings))
        if not self.windings:
            raise ValueError(f"the line {self.name!r} is wound on one joint or more, and on none here")
        for winding in self.windings:
            if not isinstance(winding, Winding):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ValueError(f"windings of the line {self.name!r} are Winding(body, coefficient), not {winding!r}")

    @property
    def frames(self) -> tuple[str, ...]:
        return tuple(winding.body for winding in self.windings)

    @property
    def wound_on(self) -> tuple[str, ...]:
        return self.frames

    def on_joints(self, joints: Sequence[JointState]) -> ForceElement:
        return WoundLine(self.name, self.law, self.windings, tuple(joints), self.armature)

    def taut(self, X: Sequence[Transform]) -> tuple[Any, list[Force]]:
        raise TypeError(f"the line {self.name!r} is wound on joints: its length depends on these")

    def renamed(self, name: str, frame: Callable[[str], str]) -> JointLine:
        windings = tuple(replace(winding, body=frame(winding.body)) for winding in self.windings)
        return replace(self, name=name, windings=windings)


@dataclass(frozen=True)
class WoundLine(TensionLine):
    """A `JointLine` on joints of a mechanism in a state: a moment between each body and its parent."""

    name: str
    law: TensionLaw
    windings: tuple[Winding, ...]
    joints: tuple[JointState, ...]
    armature: float = 0.0

    @property
    def frames(self) -> tuple[str, ...]:
        return tuple(name for joint in self.joints for name in (joint.body, joint.parent))

    def taut(self, X: Sequence[Transform]) -> tuple[Any, list[Force]]:
        """A force f with f · s = 1 does work on its own joint alone."""
        length, pulls = ZERO, list[Force]()
        for k, (winding, joint) in enumerate(zip(self.windings, self.joints, strict=True)):
            c, s = constant(winding.coefficient), joint.s
            length = length + c * joint.q
            f = (c / _square(s)) * Force(s.angular, s.linear)
            between = X[2 * k] @ X[2 * k + 1].inverse()
            pulls += [-f, between.T @ f]
        return length, pulls

    def renamed(self, name: str, frame: Callable[[str], str]) -> WoundLine:
        raise TypeError("a line on joints of a mechanism in a state is not renamed")


def _square(s: Motion) -> Any:
    return Force(s.angular, s.linear).dot(s)
