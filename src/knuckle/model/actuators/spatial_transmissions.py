"""Transmissions of more than one direction: at a ball joint, at a free joint, and between two frames (as MuJoCo's)."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

from knuckle.model.parts import ROOT
from knuckle.public_names import public_in
from knuckle.scalar import ZERO, constant
from knuckle.spatial import Force, Vector, rotation
from knuckle.spatial.three import dot, matmul, matvec, neg, sub, transpose

from .plain_transmissions import AlongLine, AtFrame, AtJoints, Names, Pushes, TransmissionState, must_be_finite

Three: TypeAlias = tuple[float, float, float]


@public_in("actuators")
@dataclass(frozen=True)
class AtBallJoint:
    """A torque at a ball joint: l is the rotation vector of the joint along `gear`.

    Args:
        joint: the name of a spherical joint.
        gear: the torque of a unit force of the actuator.
        in_parent: whether `gear` is along the axes of the joint on its parent; else along those of the child.
    """

    joint: str
    gear: Three
    in_parent: bool = False

    is_on_bodies: ClassVar[bool] = False

    def __post_init__(self) -> None:
        must_be_finite("gear", self.gear)

    @property
    def period(self) -> float:
        """How much longer l is after a whole turn: a servo takes the shorter way."""
        return 2 * math.pi * math.hypot(*self.gear)

    def reach(self, at: TransmissionState) -> tuple[Any, Any]:
        """l and l̇."""
        i = at.model.joint_index(self.joint)
        phi = rotation.quaternion_log(rotation.normalized(at.q[i].items))
        return dot(phi, _constants(self.gear)), dot(self._axis(at, i), at.v[i].items)

    def _axis(self, at: TransmissionState, i: int) -> Any:
        """The gear along the axes of the child."""
        gear = _constants(self.gear)
        return matvec(rotation.from_quaternion(at.q[i].items), gear) if self.in_parent else gear

    def at_joints(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is at the joint."""
        i = at.model.joint_index(self.joint)
        yield i, Vector(x * f for x in self._axis(at, i))

    def on_bodies(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is on bodies: nothing besides that at the joint."""
        return ()

    def stays(self, joints: Container[str], frames: Container[str], elements: Container[str]) -> bool:
        """Whether what it acts on is there."""
        return self.joint in joints

    def renamed(self, joint: Names, frame: Names, element: Names) -> AtBallJoint:
        """The same with other names."""
        return replace(self, joint=joint(self.joint))

    @property
    def said(self) -> str:
        """Where it acts, in words."""
        return f"{_said(self.gear)} at {self.joint}"


@public_in("actuators")
@dataclass(frozen=True)
class AtFreeJoint:
    """A force and a moment at the origin of a body on a free joint; l is 0.

    Args:
        joint: the name of a free joint.
        moment: that of a unit force of the actuator, along the axes of the body.
        force: the same for the force, along the axes of the joint on its parent.
        in_parent: whether the moment, too, is along the axes of the joint on its parent.
    """

    joint: str
    moment: Three = (0.0, 0.0, 0.0)
    force: Three = (0.0, 0.0, 0.0)
    in_parent: bool = False

    is_on_bodies: ClassVar[bool] = False
    period: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        must_be_finite("moment", self.moment)
        must_be_finite("force", self.force)

    def _wrench(self, at: TransmissionState, i: int) -> list[Any]:
        """Moment and force along the axes of the body."""
        E = rotation.from_quaternion(at.q[i].items[:4])
        moment = _constants(self.moment)
        return [*(matvec(E, moment) if self.in_parent else moment), *matvec(E, _constants(self.force))]

    def reach(self, at: TransmissionState) -> tuple[Any, Any]:
        """l and l̇."""
        i = at.model.joint_index(self.joint)
        return ZERO, sum((x * y for x, y in zip(self._wrench(at, i), at.v[i], strict=True)), ZERO)

    def at_joints(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is at the joint."""
        i = at.model.joint_index(self.joint)
        yield i, Vector(x * f for x in self._wrench(at, i))

    def on_bodies(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is on bodies: nothing besides that at the joint."""
        return ()

    def stays(self, joints: Container[str], frames: Container[str], elements: Container[str]) -> bool:
        """Whether what it acts on is there."""
        return self.joint in joints

    def renamed(self, joint: Names, frame: Names, element: Names) -> AtFreeJoint:
        """The same with other names."""
        return replace(self, joint=joint(self.joint))

    @property
    def said(self) -> str:
        """Where it acts, in words."""
        return f"at {self.joint}"


@public_in("actuators")
@dataclass(frozen=True)
class BetweenFrames:
    """Between two frames: l is where one is, and how it is turned, as the other sees it, along `force` and `moment`.

    It pushes one frame, and the other the opposite way, at their origins. The joints that carry both feel nothing of
    it. Where the reference turns on joints of its own, that is not quite ∂l/∂q: it is what MuJoCo's site transmission
    with a reference site does, which leaves out the turning of the axes there.

    Args:
        frame: the name of a body or frame.
        reference: the name of the other one, along whose axes are:
        moment: that of a unit force of the actuator.
        force: the same for the force.
    """

    frame: str
    reference: str
    moment: Three = (0.0, 0.0, 0.0)
    force: Three = (0.0, 0.0, 0.0)

    is_on_bodies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        must_be_finite("moment", self.moment)
        must_be_finite("force", self.force)

    @property
    def period(self) -> float:
        """How much longer l is after a whole turn, if it is an angle alone: a servo takes the shorter way."""
        return 0.0 if any(self.force) else 2 * math.pi * math.hypot(*self.moment)

    def reach(self, at: TransmissionState) -> tuple[Any, Any]:
        """l and l̇."""
        X, R = (frame.X @ at.X0[frame.body] for frame in map(at.model.frame, (self.frame, self.reference)))
        there, turned = matvec(R.E, sub(X.r, R.r)), rotation.log(matmul(X.E, transpose(R.E)))
        length = dot(there, _constants(self.force)) + dot(turned, _constants(self.moment))
        return length, sum((push.dot(at.V[i]) for i, push in self.on_bodies(at, 1.0) if i != ROOT), ZERO)

    def at_joints(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is at joints: nothing besides that on bodies."""
        return ()

    def on_bodies(self, at: TransmissionState, f: Any) -> Pushes:
        """What a force f is on the two bodies, and what keeps it from the body that carries both."""
        frame, reference = at.model.frame(self.frame), at.model.frame(self.reference)
        E = matmul((frame.X @ at.X0[frame.body]).E, transpose((reference.X @ at.X0[reference.body]).E))
        moment, force = (tuple(x * f for x in _constants(part)) for part in (self.moment, self.force))
        own = frame.X.T @ Force(matvec(E, moment), matvec(E, force))
        other = reference.X.T @ Force(neg(moment), neg(force))
        common = _carrier(at, frame.body, reference.body)
        yield frame.body, own
        yield reference.body, other
        if common != ROOT:
            both = at.X0[frame.body].T @ own + at.X0[reference.body].T @ other
            yield common, -(at.X0[common] @ both)

    def stays(self, joints: Container[str], frames: Container[str], elements: Container[str]) -> bool:
        """Whether what it acts on is there."""
        return self.frame in frames and self.reference in frames

    def renamed(self, joint: Names, frame: Names, element: Names) -> BetweenFrames:
        """The same with other names."""
        return replace(self, frame=frame(self.frame), reference=frame(self.reference))

    @property
    def said(self) -> str:
        """Where it acts, in words."""
        return f"at {self.frame}, from {self.reference}"


Transmission: TypeAlias = AtJoints | AtBallJoint | AtFreeJoint | AtFrame | BetweenFrames | AlongLine

TRANSMISSIONS = AtJoints, AtBallJoint, AtFreeJoint, AtFrame, BetweenFrames, AlongLine
"""All kinds of transmissions."""


def _carrier(at: TransmissionState, i: int, j: int) -> int:
    """The outermost body that carries two bodies, or is one of them."""
    mine = set[int]() if i == ROOT else set(at.model.ancestors(i))
    theirs = () if j == ROOT else at.model.ancestors(j)
    return max((k for k in theirs if k in mine), default=ROOT)


def _constants(values: Three) -> Any:
    return tuple(map(constant, values))


def _said(values: Three) -> str:
    return f"({', '.join(f'{x:g}' for x in values)})"
