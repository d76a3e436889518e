"""Actuators: motors, servos and what they do, as `kn.actuators`."""

from knuckle.functions.actuator_terms import forces, joint_forces, state_rates
from knuckle.model.actuators import (
    Actuator,
    ActuatorDynamics,
    AlongLine,
    AtBallJoint,
    AtFrame,
    AtFreeJoint,
    AtJoints,
    BetweenFrames,
    motor,
    position_servo,
    velocity_servo,
    with_motors,
)

__all__ = [
    "Actuator",
    "ActuatorDynamics",
    "AlongLine",
    "AtBallJoint",
    "AtFrame",
    "AtFreeJoint",
    "AtJoints",
    "BetweenFrames",
    "forces",
    "joint_forces",
    "motor",
    "position_servo",
    "state_rates",
    "velocity_servo",
    "with_motors",
]
