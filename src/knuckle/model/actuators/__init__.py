"""Actuators as parts of a model: what a control input does, and where."""

from .actuator import Actuator, motor, position_servo, velocity_servo
from .actuator_dynamics import ActuatorDynamics
from .motors import with_motors
from .plain_transmissions import AlongLine, AtFrame, AtJoints
from .spatial_transmissions import AtBallJoint, AtFreeJoint, BetweenFrames, Transmission

__all__ = [
    "Actuator",
    "ActuatorDynamics",
    "AlongLine",
    "AtBallJoint",
    "AtFrame",
    "AtFreeJoint",
    "AtJoints",
    "BetweenFrames",
    "Transmission",
    "motor",
    "position_servo",
    "velocity_servo",
    "with_motors",
]
