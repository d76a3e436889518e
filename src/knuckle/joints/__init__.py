"""Joint models (RBDA 4.4-4.5, notes 2.4), one file each, over scalars of any kind."""

from .base import ConstantSubspace, Joint, JointMotion
from .basic.cylindrical import Cylindrical
from .basic.fixed import Fixed
from .basic.free import Free
from .basic.helical import Helical
from .basic.prismatic import Prismatic
from .basic.rack_and_pinion import RackAndPinion
from .basic.revolute import Continuous, Revolute
from .basic.translational import Translational
from .composed.composite import Composite
from .composed.driven import Driven, Prescribed
from .composed.from_function import FunctionJoint
from .composed.reversed import Reversed
from .composed.time_laws import Law, Polynomial, Sinusoid, Together
from .in_plane.inplane import InPlane
from .in_plane.planar import Planar
from .in_plane.planar_local import PlanarLocal
from .rotations.euler_angles import Euler
from .rotations.exponential import ExponentialSpherical
from .rotations.spherical import Spherical
from .rotations.universal import Universal
from .rotations.yaw_pitch_roll import YawPitchRoll
from .splines.spline_curve import SplineCurve
from .splines.spline_surface import SplineSurface

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
