"""Spatial vector algebra (RBDA chapter 2 and appendix A) over scalars of any kind, and its planar twin."""

from knuckle.scalar.arrays.dense import Matrix, Vector

from .algebra import PLANAR, SPATIAL, Algebra, project
from .articulated import ArticulatedInertia
from .axial import screw_x, screw_y, screw_z
from .inertia import Inertia, InverseInertia
from .pieces import called, repeated, with_rule
from .planar.planar_inertia import PlanarArticulatedInertia, PlanarInertia, PlanarInverseInertia
from .planar.planar_vectors import PlanarForce, PlanarMotion, PlanarTransform
from .screw import Screw, line_and_free, pitch, screw
from .subspace import Subspace
from .three import Mat3, Sym3, Vec3
from .transform import IDENTITY, Transform
from .vectors import Force, Motion

__all__ = [
    "IDENTITY",
    "PLANAR",
    "SPATIAL",
    "Algebra",
    "ArticulatedInertia",
    "Force",
    "Inertia",
    "InverseInertia",
    "Mat3",
    "Matrix",
    "Motion",
    "PlanarArticulatedInertia",
    "PlanarForce",
    "PlanarInertia",
    "PlanarInverseInertia",
    "PlanarMotion",
    "PlanarTransform",
    "Screw",
    "Subspace",
    "Sym3",
    "Transform",
    "Vec3",
    "Vector",
    "called",
    "line_and_free",
    "pitch",
    "project",
    "repeated",
    "screw",
    "screw_x",
    "screw_y",
    "screw_z",
    "with_rule",
]
