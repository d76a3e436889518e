"""The description of a mechanism (RBDA chapter 4): data, ways to build it, edit it and examine it."""

from typing import TYPE_CHECKING, Any

from . import edit
from .audit import Audit, audit
from .build.builder import Builder
from .build.solids import (
    hollow_box,
    hollow_cylinder,
    hollow_sphere,
    point_mass,
    rod,
    solid,
    solid_box,
    solid_capsule,
    solid_cylinder,
    solid_ellipsoid,
    solid_sphere,
)
from .build.spanning_tree import Connection
from .contact import contact_candidates
from .coupling import Coupling, mimic
from .coupling_laws import CouplingLaw, FunctionLaw, Linear, Powers
from .edit.reroot import StateMap, reroot
from .edit.to_planar import to_planar
from .model import STANDARD_GRAVITY, Model
from .parts import (
    ROOT,
    Body,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Frame,
    Geometry,
    HeightField,
    Keyframe,
    Limits,
    LoopJoint,
    Material,
    Mesh,
    Note,
    Plane,
    Provenance,
    Shape,
    Sphere,
    TreeJoint,
)
from .placement import Placement
from .surfaces import ContactRules, Surface, SurfacePair

if TYPE_CHECKING:
    from .build.dh import DH, DHRow, from_dh
    from .build.dh_axes import JointAxis, dh_of, to_dh

__all__ = [
    "DH",
    "ROOT",
    "STANDARD_GRAVITY",
    "Audit",
    "Body",
    "Box",
    "Builder",
    "Capsule",
    "Connection",
    "ContactRules",
    "Coupling",
    "CouplingLaw",
    "Cylinder",
    "DHRow",
    "Ellipsoid",
    "Frame",
    "FunctionLaw",
    "Geometry",
    "HeightField",
    "JointAxis",
    "Keyframe",
    "Limits",
    "Linear",
    "LoopJoint",
    "Material",
    "Mesh",
    "Model",
    "Note",
    "Placement",
    "Plane",
    "Powers",
    "Provenance",
    "Shape",
    "Sphere",
    "StateMap",
    "Surface",
    "SurfacePair",
    "TreeJoint",
    "audit",
    "contact_candidates",
    "dh_of",
    "edit",
    "from_dh",
    "hollow_box",
    "hollow_cylinder",
    "hollow_sphere",
    "mimic",
    "point_mass",
    "reroot",
    "rod",
    "solid",
    "solid_box",
    "solid_capsule",
    "solid_cylinder",
    "solid_ellipsoid",
    "solid_sphere",
    "to_dh",
    "to_planar",
]

_DH = {
    "DH": "build.dh",
    "DHRow": "build.dh",
    "JointAxis": "build.dh_axes",
    "dh_of": "build.dh_axes",
    "from_dh": "build.dh",
    "to_dh": "build.dh_axes",
}


def __getattr__(name: str) -> Any:
    """Denavit-Hartenberg parameters and the canonical form are loaded when they are first asked for."""
    if name == "canonical":
        from importlib import import_module

        return import_module(".canonical", __name__)
    if name in _DH:
        from importlib import import_module

        return getattr(import_module(f".{_DH[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
