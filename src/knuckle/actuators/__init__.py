"""Actuators: motors, servos and what they do, as `kn.actuators`."""

from knuckle.functions.actuator_terms import forces, joint_forces
from knuckle.model.actuators import (
    Actuator,
    AlongLine,
    AtFrame,
    AtJoints,
    motor,
    position_servo,
    velocity_servo,
    with_motors,
)

__all__ = [
    "Actuator",
    "AlongLine",
    "AtFrame",
    "AtJoints",
    "forces",
    "joint_forces",
    "motor",
    "position_servo",
    "velocity_servo",
    "with_motors",
]
