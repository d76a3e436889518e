"""What pulls and pushes between bodies, as data of a model: springs, cables, bushings, drag, forces at points."""

from .base import ForceElement
from .body_elements import Drag, PointForce
from .bushing import Bushing
from .joint_lines import JointLine, Winding
from .joint_springs import JointSpring
from .line_points import LinePoint, Pulley, Wrap
from .lines import Line
from .muscles.activation_dynamics import activation_rate
from .muscles.hill_muscle import HillMuscle
from .muscles.muscle_laws import CubicMuscle, MujocoMuscle, MuscleLaw
from .tension_laws import Cable, ConstantTension, SlackSpring, Spring, TensionLaw

__all__ = [
    "Bushing",
    "Cable",
    "ConstantTension",
    "CubicMuscle",
    "Drag",
    "ForceElement",
    "HillMuscle",
    "JointLine",
    "JointSpring",
    "Line",
    "LinePoint",
    "MujocoMuscle",
    "MuscleLaw",
    "PointForce",
    "Pulley",
    "SlackSpring",
    "Spring",
    "TensionLaw",
    "Winding",
    "Wrap",
    "activation_rate",
]
