"""Lines, screws and pitch (RBDA 2.4-2.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from .three import ZERO3, Vec3, cross, dot, scale, sub
from .vectors import Force, Motion

V = TypeVar("V", Motion, Force)


@dataclass(frozen=True, slots=True)
class Screw:
    """An axis (a point on it, nearest the origin, and a direction with magnitude) and a pitch."""

    point: Vec3
    direction: Vec3
    pitch: Any


def _parts(s: Motion | Force) -> tuple[Vec3, Vec3]:
    """(line direction, field at the origin): the angular part leads in a motion, the linear part in a force."""
    if not isinstance(s, (Motion, Force)):
        raise TypeError(f"lines and screws are motions or forces, not {type(s).__name__}")
    return (s.angular, s.linear) if isinstance(s, Motion) else (s.linear, s.angular)


def _make(kind: type[V], line: Vec3, field: Vec3) -> V:
    return kind(line, field) if issubclass(kind, Motion) else kind(field, line)


def pitch(s: Motion | Force) -> Any:
    """Translation per radian of a motion, moment per unit force of a force; undefined for a free vector."""
    line, field = _parts(s)
    return dot(line, field) / dot(line, line)


def line_and_free(s: V) -> tuple[V, V]:
    """The unique sum of a line vector and a parallel free vector (RBDA 2.5): s = line + free."""
    line, field = _parts(s)
    free = scale(pitch(s), line)
    return _make(type(s), line, sub(field, free)), _make(type(s), ZERO3, free)


def screw(s: Motion | Force) -> Screw:
    """Axis and pitch of a spatial vector that is not free."""
    line, field = _parts(s)
    return Screw(scale(1 / dot(line, line), cross(line, field)), line, pitch(s))
