"""What reading and writing share: the version, the names of joint types, which fields hold references."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from inspect import isabstract, isclass

import knuckle.joints
from knuckle.joints import Joint
from knuckle.model import Frame, LoopJoint, Mimic, TreeJoint

FORMAT = "knuckle"
VERSION = 1

BODY, JOINT = "body", "joint"
REFERENCES: dict[type, dict[str, str]] = {
    TreeJoint: {"parent": BODY},
    LoopJoint: {"predecessor": BODY, "successor": BODY},
    Frame: {"body": BODY},
    Mimic: {"joint": JOINT, "source": JOINT},
}
"""Fields that hold the number of a body or joint, written as its name."""


def joint_classes(own: Iterable[type[Joint]] = ()) -> dict[str, type[Joint]]:
    """The joint classes by the names they have in a file: the library's, and those of the caller."""
    found = {
        name: value
        for name, value in vars(knuckle.joints).items()
        if isclass(value) and issubclass(value, Joint) and dataclasses.is_dataclass(value) and not isabstract(value)
    }
    return {**found, **{f"{cls.__module__}:{cls.__qualname__}": cls for cls in own}}


def joint_name(cls: type[Joint]) -> str:
    """The name of a joint class in a file."""
    return cls.__name__ if joint_classes().get(cls.__name__) is cls else f"{cls.__module__}:{cls.__qualname__}"
