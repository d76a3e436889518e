"""MuJoCo's variables of a joint as ours, and back."""

from __future__ import annotations

from typing import Any

from knuckle.joints import Free, Joint, Spherical
from knuckle.spatial import rotation
from knuckle.spatial.three import matvec, tmatvec

from .mjcf_source import numbers


def position(kind: Joint, qpos: Any) -> tuple[float, ...]:
    """q of a joint: a free joint has its quaternion first here, and its place first in MuJoCo."""
    q = numbers(qpos)
    if isinstance(kind, Free):
        return *_unit(q[3:]), *q[:3]
    return _unit(q) if isinstance(kind, Spherical) else q


def velocity(kind: Joint, q: tuple[float, ...], qvel: Any) -> tuple[float, ...]:
    """v of a joint: MuJoCo has the linear velocity of a free joint first, and along the world's axes."""
    v = numbers(qvel)
    if not isinstance(kind, Free):
        return v
    return *v[3:], *numbers(matvec(rotation.from_quaternion(q[:4]), v[:3]))  # type: ignore[arg-type]


def to_qpos(kind: Joint, q: tuple[float, ...]) -> tuple[float, ...]:
    """MuJoCo's qpos of a joint."""
    return (*q[4:], *q[:4]) if isinstance(kind, Free) else q


def to_qvel(kind: Joint, q: tuple[float, ...], v: tuple[float, ...]) -> tuple[float, ...]:
    """MuJoCo's qvel of a joint."""
    if not isinstance(kind, Free):
        return v
    return *numbers(tmatvec(rotation.from_quaternion(q[:4]), v[3:])), *v[:3]  # type: ignore[arg-type]


def _unit(quaternion: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(x) for x in rotation.normalized(quaternion))  # type: ignore[arg-type]
