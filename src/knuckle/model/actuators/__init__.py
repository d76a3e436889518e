"""Actuators as parts of a model: what a control input does, and where."""

from .actuator import Actuator, motor, position_servo, velocity_servo
from .motors import with_motors
from .transmissions import AlongLine, AtFrame, AtJoints, Transmission

__all__ = [
    "Actuator",
    "AlongLine",
    "AtFrame",
    "AtJoints",
    "Transmission",
    "motor",
    "position_servo",
    "velocity_servo",
    "with_motors",
]
