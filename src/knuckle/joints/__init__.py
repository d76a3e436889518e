"""Joint models (RBDA 4.4-4.5, notes 2.4), one file each, over scalars of any kind."""

from .base import ConstantSubspace, Joint, JointMotion
from .composite import Composite
from .fixed import Fixed
from .free import Free
from .prismatic import Prismatic
from .reversed import Reversed
from .revolute import Continuous, Revolute
from .spherical import Spherical

__all__ = [
    "Composite",
    "ConstantSubspace",
    "Continuous",
    "Fixed",
    "Free",
    "Joint",
    "JointMotion",
    "Prismatic",
    "Reversed",
    "Revolute",
    "Spherical",
]
