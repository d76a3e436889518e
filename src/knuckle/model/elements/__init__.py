"""What pulls and pushes between bodies, as data of a model: springs, cables, bushings, drag, forces at points."""

from .base import ForceElement
from .body_elements import Drag, PointForce
from .bushing import Bushing
from .lines import Line, LinePoint
from .muscle_laws import CubicMuscle, MujocoMuscle, MuscleLaw
from .tension_laws import Cable, ConstantTension, Spring, TensionLaw

__all__ = [
    "Bushing",
    "Cable",
    "ConstantTension",
    "CubicMuscle",
    "Drag",
    "ForceElement",
    "Line",
    "LinePoint",
    "MujocoMuscle",
    "MuscleLaw",
    "PointForce",
    "Spring",
    "TensionLaw",
]
