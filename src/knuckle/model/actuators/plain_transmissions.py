"""Where an actuator acts: at joints, at frames, or along a line.

A transmission has a length l and a rate l̇, which the law of an actuator may depend on, and turns its force f into
joint forces ∂l/∂q f.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from knuckle.model.parts import ROOT
from knuckle.public_names import public_in
from knuckle.scalar import ZERO, constant
from knuckle.spatial import Force, Vector

if TYPE_CHECKING:
    from knuckle.model.model import Model

Names: TypeAlias = Callable[[str], str]
Pushes: TypeAlias = Iterable[tuple[int, Any]]
"""Forces at joints, or on bodies in their coordinates, by number."""


@dataclass(frozen=True)
class TransmissionState:
    """A mechanism in a state: q and v of each joint; where they are needed, velocities of bodies, and its lines."""

    model: Model
    q: Any
    v: Any
    V: Mapping[int, Any]
    X0: Mapping[int, Any]
    """From base to body coordinates"""
    lines: Mapping[str, Any]
    """By name: an element, its frames, and where these are and how they move"""


@public_in("actuators")
@dataclass(frozen=True)
class AtJoints:
    """At joints of one variable: l = Σ gᵢ qᵢ. One joint with its gear ratio, or several, as a fixed tendon.

    Args:
        joints: names of joints.
        gears: gᵢ, one for each of them.
    """

    joints: tuple[str, ...]
    gears: tuple[float, ...]

    is_on_bodies: ClassVar[bool] = False
    period: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        for name in ("joints", "gears"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, (str, int, float)) else tuple(value))
        if not self.joints or len(self.joints) != len(self.gears):
            raise ValueError(f"an actuator at joints has a gear for each: {self.joints} and {self.gears}")
        must_be_finite("gears", self.gears)

    def reach(self, at: TransmissionState) -> tuple[Any, Any]:
        """l and l̇."""
        parts = [(at.model.joint_index(name), constant(g)) for name, g in zip(self.joints, self.gears, strict=True)]
        return sum((g * at.q[i][0] for i, g in parts), ZERO), sum((g * at.v[i][0] for i, g in parts), ZERO)

    def at_joints(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is at joints of one variable."""
        for name, gear in zip(self.joints, self.gears, strict=True):
            yield at.model.joint_index(name), Vector((constant(gear) * f,))

    def on_bodies(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is on bodies: nothing besides that at joints."""
        return ()

    def stays(self, joints: Container[str], frames: Container[str], elements: Container[str]) -> bool:
        """Whether what it acts on is there."""
        return all(name in joints for name in self.joints)

    def renamed(self, joint: Names, frame: Names, element: Names) -> AtJoints:
        """The same with other names."""
        return replace(self, joints=tuple(map(joint, self.joints)))

    @property
    def said(self) -> str:
        """Where it acts, in words."""
        parts = (
            name if gear == 1 else f"{gear:g} × {name}" for name, gear in zip(self.joints, self.gears, strict=True)
        )
        return " + ".join(parts)


@public_in("actuators")
@dataclass(frozen=True)
class AtFrame:
    """A force and a moment at a frame, such as that of a propeller; l is 0.

    Args:
        frame: the name of a body or frame.
        moment: that of a unit force of the actuator, about the frame's origin and along its axes.
        force: the same for the force.
    """

    frame: str
    moment: tuple[float, float, float] = (0.0, 0.0, 0.0)
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)

    is_on_bodies: ClassVar[bool] = True
    period: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        must_be_finite("moment", self.moment)
        must_be_finite("force", self.force)

    def reach(self, at: TransmissionState) -> tuple[Any, Any]:
        """l and l̇."""
        frame = at.model.frame(self.frame)
        if frame.body == ROOT:
            return ZERO, ZERO
        return ZERO, self._unit.dot(frame.X @ at.V[frame.body])

    @property
    def _unit(self) -> Force:
        return Force.of(tuple(map(constant, (*self.moment, *self.force))))

    def at_joints(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is at joints: nothing besides that on a body."""
        return ()

    def on_bodies(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is on a body."""
        frame = at.model.frame(self.frame)
        yield frame.body, frame.X.T @ Force.of(tuple(constant(c) * f for c in (*self.moment, *self.force)))

    def stays(self, joints: Container[str], frames: Container[str], elements: Container[str]) -> bool:
        """Whether what it acts on is there."""
        return self.frame in frames

    def renamed(self, joint: Names, frame: Names, element: Names) -> AtFrame:
        """The same with other names."""
        return replace(self, frame=frame(self.frame))

    @property
    def said(self) -> str:
        """Where it acts, in words."""
        return f"at {self.frame}"


@public_in("actuators")
@dataclass(frozen=True)
class AlongLine:
    """Along a line of the model's `elements`: l is `gear` times its length. A positive force makes it longer.

    Args:
        line: the name of the line.
        gear: the gear ratio.
    """

    line: str
    gear: float = 1.0

    is_on_bodies: ClassVar[bool] = True
    period: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        must_be_finite("gear", (self.gear,))

    def reach(self, at: TransmissionState) -> tuple[Any, Any]:
        """l and l̇."""
        line, gear = at.lines[self.line], constant(self.gear)
        return gear * line.element.length(line.X), gear * line.element.rate(line.X, line.V)

    def at_joints(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is at joints: nothing besides that on bodies."""
        return ()

    def on_bodies(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is on bodies: a tension of −gear f."""
        line = at.lines[self.line]
        pulls = line.element.pulled(line.X, -(constant(self.gear) * f))
        return ((frame.body, frame.X.T @ own) for frame, own in zip(line.frames, pulls, strict=True))

    def stays(self, joints: Container[str], frames: Container[str], elements: Container[str]) -> bool:
        """Whether what it acts on is there."""
        return self.line in elements

    def renamed(self, joint: Names, frame: Names, element: Names) -> AlongLine:
        """The same with other names."""
        return replace(self, line=element(self.line))

    @property
    def said(self) -> str:
        """Where it acts, in words."""
        return f"along {self.line}" if self.gear == 1 else f"{self.gear:g} × along {self.line}"


def is_limit(effort: float) -> bool:
    """Whether an effort of a joint limits anything: 0, as many files have it, does not."""
    return 0 < effort < math.inf


def must_be_finite(name: str, values: tuple[float, ...]) -> None:
    """An error for numbers of an actuator that are none."""
    if not all(map(math.isfinite, values)):
        raise ValueError(f"{name} of an actuator are finite numbers, not {values}")
