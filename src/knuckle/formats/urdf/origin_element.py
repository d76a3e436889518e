"""Placements in URDF: <origin xyz="…" rpy="…">."""

from __future__ import annotations

from knuckle.formats.right_angles import placed
from knuckle.formats.xml import Element
from knuckle.spatial import IDENTITY, Transform, rotation

from .number_attributes import numbers
from .urdf_source import UrdfSource

_ZEROS = (0.0, 0.0, 0.0)


def origin(source: UrdfSource, parent: Element, owner: str, subject: str) -> Transform:
    """The transform from the parent's frame to the one its <origin> places; the identity without one."""
    element = source.child(parent, "origin", owner)
    if element is None:
        return IDENTITY
    source.account(element, subject, (), ("xyz", "rpy"))
    xyz = numbers(source, element, "xyz", 3, owner, _ZEROS)
    rpy = numbers(source, element, "rpy", 3, owner, _ZEROS)
    return placed(rotation.from_rpy(*rpy), xyz)
