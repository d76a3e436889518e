"""Constraints to put on a mechanism, as `kn.constraints`: on its variables and on its frames (notes 2.8, 2.9).

Each says what is to be zero (`bound="="`), or not negative (`">="`), or not positive (`"<="`). All are frozen data.
"""

from .base import Constraint
from .on_frames import Distance, Plane, Point, Pose, Relation
from .on_joints import Custom, CustomVelocity, JointAcceleration, JointPosition, JointVelocity, joint_limits

__all__ = [
    "Constraint",
    "Custom",
    "CustomVelocity",
    "Distance",
    "JointAcceleration",
    "JointPosition",
    "JointVelocity",
    "Plane",
    "Point",
    "Pose",
    "Relation",
    "joint_limits",
]
