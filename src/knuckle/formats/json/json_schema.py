"""What reading and writing share: the version, the names of joint types, which fields hold references."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cache
from inspect import isabstract, isclass
from typing import get_args

import knuckle.joints
import knuckle.model.elements
from knuckle.model import (
    Body,
    ContactRules,
    Coupling,
    Frame,
    Geometry,
    Keyframe,
    Limits,
    LoopJoint,
    Material,
    Note,
    Provenance,
    Shape,
    Surface,
    SurfacePair,
    TreeJoint,
    coupling_laws,
)
from knuckle.model.actuators import Actuator, ActuatorDynamics, Transmission
from knuckle.model.deformables import Attachment, Deformable, NodeMesh, elastic_materials
from knuckle.model.elements import LinePoint, Winding
from knuckle.spatial import Inertia, PlanarInertia, PlanarTransform, Transform

FORMAT = "knuckle"
VERSION = 1

BODY, JOINT = "body", "joint"
REFERENCES: dict[type, dict[str, str]] = {
    TreeJoint: {"parent": BODY},
    LoopJoint: {"predecessor": BODY, "successor": BODY},
    Frame: {"body": BODY},
    Coupling: {"joint": JOINT, "sources": JOINT},
}
"""Fields that hold the number of a body or joint, or several, written as names."""


PLAIN = (
    Actuator, ActuatorDynamics, Attachment, Body, ContactRules, Coupling, Deformable, Frame, Geometry, Inertia,
    Keyframe, Limits, LoopJoint,
    Material, NodeMesh, Note, PlanarInertia,
    PlanarTransform, LinePoint, Provenance, Surface, SurfacePair, Transform, TreeJoint,
    Winding,
)  # fmt: skip
"""Classes that the place they stand in tells; all others are written with their type."""


@cache
def _of_library() -> dict[str, type]:
    return {
        name: value
        for name, value in (
            *vars(knuckle.joints).items(),
            *vars(coupling_laws).items(),
            *vars(knuckle.model.elements).items(),
            *vars(elastic_materials).items(),
            *((cls.__name__, cls) for cls in get_args(Transmission)),
        )
        if isclass(value) and dataclasses.is_dataclass(value) and not isabstract(value)
    }


def named_classes(own: Iterable[type] = ()) -> dict[str, type]:
    """Joints, laws and force elements by the names they have in a file: the library's, and those of the caller."""
    return {**_of_library(), **{f"{cls.__module__}:{cls.__qualname__}": cls for cls in own}}


def type_name(cls: type) -> str:
    """The name of a class in a file."""
    ours = _of_library().get(cls.__name__) is cls or cls in get_args(Shape)
    return cls.__name__ if ours else f"{cls.__module__}:{cls.__qualname__}"
