"""Placements in URDF: <origin xyz="…" rpy="…">."""

from __future__ import annotations

from typing import Any

from knuckle.formats.xml import Element
from knuckle.spatial import IDENTITY, Transform, rotation

from .numbers import numbers
from .source import Source

_ROUNDING = 1e-15
_ZEROS = (0.0, 0.0, 0.0)


def snap(x: Any) -> Any:
    """An entry of a rotation with rounding removed next to −1, 0 and 1, so that right angles are exact."""
    nearest = round(float(x))
    return nearest if abs(x - nearest) <= _ROUNDING else x


def placed(E: Any, r: Any) -> Transform:
    """The transform to a frame with origin r and axes E, right angles made exact and zeros structural."""
    return Transform.of(tuple(tuple(map(snap, row)) for row in E), r)


def origin(source: Source, parent: Element, owner: str, subject: str) -> Transform:
    """The transform from the parent's frame to the one its <origin> places; the identity without one."""
    element = source.child(parent, "origin", owner)
    if element is None:
        return IDENTITY
    source.account(element, subject, (), ("xyz", "rpy"))
    xyz = numbers(source, element, "xyz", 3, owner, _ZEROS)
    rpy = numbers(source, element, "rpy", 3, owner, _ZEROS)
    return placed(rotation.from_rpy(*rpy), xyz)
