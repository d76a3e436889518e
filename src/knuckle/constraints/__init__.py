"""Constraints to put on a mechanism, as `kn.constraints`: on its variables and on its frames (notes 2.8, 2.9), and how
it moves under them.

Each says what is to be zero (`bound="="`), or not negative (`">="`), or not positive (`"<="`). All are frozen data.
"""

from .base import Constraint
from .constrained_dynamics import ConstrainedMotion, ConstrainedVelocity, dynamics, step_velocity
from .constraint_terms import acceleration
from .on_frames import Distance, PlaneDistance, Point, Pose, Relation
from .on_joints import Custom, CustomVelocity, JointAcceleration, JointPosition, JointVelocity, joint_limits

__all__ = [
    "ConstrainedMotion",
    "ConstrainedVelocity",
    "Constraint",
    "Custom",
    "CustomVelocity",
    "Distance",
    "JointAcceleration",
    "JointPosition",
    "JointVelocity",
    "PlaneDistance",
    "Point",
    "Pose",
    "Relation",
    "acceleration",
    "dynamics",
    "joint_limits",
    "step_velocity",
]
