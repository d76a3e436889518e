"""What pulls and pushes between bodies, as data of a model: springs, cables, bushings, drag, forces at points."""

from .base import Element
from .body_elements import Drag, PointForce
from .bushing import Bushing
from .lines import Line, Point
from .tension_laws import Cable, ConstantTension, Spring, TensionLaw

__all__ = [
    "Bushing",
    "Cable",
    "ConstantTension",
    "Drag",
    "Element",
    "Line",
    "Point",
    "PointForce",
    "Spring",
    "TensionLaw",
]
