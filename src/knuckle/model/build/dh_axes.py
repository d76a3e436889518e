"""Denavit-Hartenberg parameters of given joint axes (RBDA 4.3): where the frames go, degenerate cases included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from knuckle.errors import ModelError
from knuckle.joints import Cylindrical, Fixed, Helical, Joint, Prismatic, Revolute
from knuckle.model.model import Model
from knuckle.model.placement import Placement, to_transform, vector
from knuckle.spatial import IDENTITY, Transform
from knuckle.spatial.three import tmatvec

from .dh import DH, REVOLUTE, DHRow

Point: TypeAlias = tuple[float, float, float]

PARALLEL = 1e-8
"""Axes closer to parallel than this angle count as parallel. The common perpendicular of axes at an angle ε lies 1/ε
away and loses as many digits; taking them as parallel is wrong by ε: at √(machine precision) the two are alike."""
_MEETING = 1e-12
"""Axes closer than this, times the size of the mechanism, count as meeting."""


@dataclass(frozen=True)
class JointAxis:
    """A joint's axis in the base frame, with every joint at q = 0: a point on it, its direction, and the joint.

    Of the joint only its type (and pitch) counts. The point of a prismatic joint's axis does not: it has no place.
    """

    point: Point
    direction: Point
    type: Joint = REVOLUTE


@dataclass(frozen=True)
class _Line:
    point: Point
    direction: Point


@dataclass(frozen=True)
class _Perpendicular:
    """A common perpendicular: from `start` on one line to `end` on the next, along the unit vector x."""

    start: Point
    end: Point
    x: Point


def to_dh(axes: Sequence[JointAxis], tool: Placement = None, *, parallel: float = PARALLEL) -> DH:
    """The parameters of a chain with these axes (RBDA 4.3).

    x_i is the common perpendicular from axis i to axis i + 1, which makes every a_i ≥ 0. Where that leaves a choice:

    - axes that meet: of the two directions of x_i the one with 0 < α < π;
    - parallel axes: the perpendicular that meets x_(i−1), so d_i = 0;
    - coincident axes: x_i as x_(i−1), so d_i = θ_i = 0;
    - a prismatic axis: moved to meet the axis before it, where that makes d_(i−1) = 0, so a_i = 0;
    - the last axis, when there is no tool: x_n as x_(n−1).

    Axis 0 is the z axis of the base frame. `tool` places a tool in the base frame at q = 0; its z axis counts as
    axis n + 1. Axes within the angle `parallel` of each
    other's direction are taken to be parallel.
    """
    end = None if tool is None else to_transform(tool, "tool")
    lines, size = _checked(axes, end)
    foot, x = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)  # where x_(i−1) ends on axis i, and its direction
    rows: list[DHRow] = []
    link = (0.0, 0.0)
    kinds: list[Joint] = [Fixed(), *(_along_z(axis, k) for k, axis in enumerate(axes, start=1))]
    for i, kind in enumerate(kinds):
        line = lines[i]
        if i + 1 < len(lines):
            free = i < len(axes) and isinstance(axes[i].type, Prismatic)
            following = _Line(foot, lines[i + 1].direction) if free else lines[i + 1]
            lines[i + 1] = following
            between = _perpendicular(line, following, foot, x, parallel, _MEETING * size)
        else:
            following, between = line, _Perpendicular(foot, foot, x)
        d = _along(_minus(between.start, foot), line.direction)
        rows.append(DHRow(*link, d, _angle(x, between.x, line.direction), kind))
        link = (
            _along(_minus(between.end, between.start), between.x),
            _angle(line.direction, following.direction, between.x),
        )
        foot, x = between.end, between.x
    last = None
    if end is not None:
        origin, tool_x = _floats(end.r), _floats(end.E[0])
        d = _along(_minus(origin, foot), lines[-1].direction)
        last = DHRow(*link, d, _angle(x, tool_x, lines[-1].direction), Fixed())
    return DH(tuple(rows[1:]), rows[0], last)


def dh_of(model: Model, tool: str | None = None, *, parallel: float = PARALLEL) -> DH:
    """The parameters of a serial chain of revolute, prismatic, cylindrical and helical joints.

    `tool` names a frame on the last body. q keeps its meaning: `from_dh` of the result puts the tool where the model
    has it, for every q.
    """
    axes: list[JointAxis] = []
    X: list[Transform] = [IDENTITY]
    for i, joint in enumerate(model.joints):
        if joint.parent != i - 1:
            raise ModelError("DH parameters describe a chain: it is not on the body before it", element=joint.name)
        X.append(joint.X_tree @ X[-1])
        axis = getattr(joint.type, "axis", None)
        if axis is None or not isinstance(joint.type, _LOWER_PAIRS):
            kind = type(joint.type).__name__.lower()
            raise ModelError(f"a {kind} joint has no DH parameters: only {_PAIR_NAMES} joints do", element=joint.name)
        axes.append(JointAxis(_floats(X[-1].r), _floats(tmatvec(X[-1].E, axis)), joint.type))
    end = None
    if tool is not None:
        frame = model.frame(tool)
        if frame.body != model.nb - 1:
            raise ModelError("the tool has to be on the last body of the chain", element=tool)
        end = frame.X @ X[-1]
    return to_dh(axes, end, parallel=parallel)


_LOWER_PAIRS = (Revolute, Prismatic, Cylindrical, Helical)
_PAIR_NAMES = "revolute, prismatic, cylindrical and helical"


def _along_z(axis: JointAxis, number: int) -> Joint:
    if isinstance(axis.type, Helical):
        return Helical("z", axis.type.pitch)
    if not isinstance(axis.type, _LOWER_PAIRS):
        raise ModelError(f"the joint is {_PAIR_NAMES}, not {axis.type!r}", element=f"axis {number}")
    return type(axis.type)("z")


def _checked(axes: Sequence[JointAxis], tool: Transform | None) -> tuple[list[_Line], float]:
    """Axis 0, those of the joints and that of the tool, as lines with unit directions; and the size of it all."""
    lines = [_Line((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))]
    for k, axis in enumerate(axes, start=1):
        point, direction = (_floats(vector(v, what, f"axis {k}")) for v, what in
                            ((axis.point, "point"), (axis.direction, "direction")))  # fmt: skip
        length = math.hypot(*direction)
        if length == 0:
            raise ModelError("its direction is zero", element=f"axis {k}")
        lines.append(_Line(point, _times(1 / length, direction)))
    if tool is not None:
        lines.append(_Line(_floats(tool.r), _floats(tool.E[2])))
    return lines, max(max(abs(x) for x in line.point) for line in lines) or 1.0


def _perpendicular(a: _Line, b: _Line, foot: Point, x: Point, parallel: float, meeting: float) -> _Perpendicular:
    """The common perpendicular from a to b; `foot` on a and `x`, perpendicular to a, decide where there is a choice."""
    between = _minus(b.point, a.point)
    normal = _cross(a.direction, b.direction)
    sine = math.hypot(*normal)
    if sine > parallel:
        n = _times(1 / sine, normal)
        distance = _along(between, n)
        # where the two lines come closest: b's offset seen along the other line
        s = _along(_cross(between, b.direction), n) / sine
        t = _along(_cross(between, a.direction), n) / sine
        start = _plus(a.point, _times(s, a.direction))
        end = _plus(b.point, _times(t, b.direction))
        if abs(distance) <= meeting:
            return _Perpendicular(start, start, n)
        return _Perpendicular(start, end, n if distance > 0 else _times(-1.0, n))
    offset = _minus(b.point, foot)
    across = _minus(offset, _times(_along(offset, a.direction), a.direction))
    distance = math.hypot(*across)
    if distance <= meeting:
        return _Perpendicular(foot, foot, x)
    return _Perpendicular(foot, _plus(foot, across), _times(1 / distance, across))


def _angle(u: Point, v: Point, about: Point) -> float:
    """The angle from u to v about an axis perpendicular to both."""
    return math.atan2(_along(_cross(u, v), about), _along(u, v))


def _floats(v: Any) -> Point:
    x, y, z = v
    return float(x), float(y), float(z)


def _plus(a: Point, b: Point) -> Point:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _minus(a: Point, b: Point) -> Point:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _times(s: float, a: Point) -> Point:
    return s * a[0], s * a[1], s * a[2]


def _along(a: Point, b: Point) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def _cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
