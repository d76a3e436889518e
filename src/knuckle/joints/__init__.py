"""Joint models (RBDA 4.4-4.5, notes 2.4), one file each, over scalars of any kind."""

from .base import ConstantSubspace, Joint, JointMotion
from .composite import Composite
from .cylindrical import Cylindrical
from .driven import Driven, Prescribed
from .euler import Euler
from .exponential import ExponentialSpherical
from .fixed import Fixed
from .free import Free
from .function import FunctionJoint
from .helical import Helical
from .inplane import InPlane
from .laws import Law, Polynomial, Sinusoid, Together
from .planar import Planar
from .planar_local import PlanarLocal
from .prismatic import Prismatic
from .rack_and_pinion import RackAndPinion
from .reversed import Reversed
from .revolute import Continuous, Revolute
from .spherical import Spherical
from .spline_curve import SplineCurve
from .spline_surface import SplineSurface
from .translational import Translational
from .universal import Universal
from .yaw_pitch_roll import YawPitchRoll

__all__ = [
    "Composite",
    "ConstantSubspace",
    "Continuous",
    "Cylindrical",
    "Driven",
    "Euler",
    "ExponentialSpherical",
    "Fixed",
    "Free",
    "FunctionJoint",
    "Helical",
    "InPlane",
    "Joint",
    "JointMotion",
    "Law",
    "Planar",
    "PlanarLocal",
    "Polynomial",
    "Prescribed",
    "Prismatic",
    "RackAndPinion",
    "Reversed",
    "Revolute",
    "Sinusoid",
    "Spherical",
    "SplineCurve",
    "SplineSurface",
    "Together",
    "Translational",
    "Universal",
    "YawPitchRoll",
]
