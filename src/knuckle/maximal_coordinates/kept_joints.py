"""Joints that keep their variables in maximal coordinates: those with limits, dry friction or actuators."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from knuckle.model import Model
from knuckle.model.actuators.actuator import Actuator
from knuckle.scalar import ZERO, constant

DROPPED = ("friction", "limits", "rotor_inertia", "actuators")
"""What of joints may be left out."""


def dropped_from(drop: Iterable[str]) -> tuple[str, ...]:
    """The argument `drop`, if it is one."""
    dropped = (drop,) if isinstance(drop, str) else tuple(drop)
    if unknown := [name for name in dropped if name not in DROPPED]:
        raise ValueError(f"drop is any of {', '.join(map(repr, DROPPED))}, not {unknown[0]!r}")
    return dropped


def kept_joints(model: Model, freed: tuple[int, ...], dropped: tuple[str, ...]) -> tuple[int, ...]:
    """The joints of free bodies that keep their variables, in order."""
    driven = set[str]() if "actuators" in dropped else driven_joints(model)

    def keeps(i: int) -> bool:
        joint = model.joints[i]
        is_dry = any(constant(f) is not ZERO for f in joint.friction)
        has_ends = any(np.isfinite(x) for x in (*joint.limits.lower, *joint.limits.upper))
        is_needed = (is_dry and "friction" not in dropped) or (has_ends and "limits" not in dropped)
        return is_needed or joint.name in driven

    return tuple(i for i in freed if keeps(i))


def driven_joints(model: Model) -> set[str]:
    """The names of joints at which actuators act."""
    names = set(model.joint_names) if model.actuators else set[str]()
    return {name for name in names if len(acting_without(model, {name})) < len(model.actuators)}


def acting_without(model: Model, joints: set[str]) -> tuple[Actuator, ...]:
    """The actuators that do not need some joints."""
    frames = {model.base.name, *model.body_names, *(frame.name for frame in model.frames)}
    left, lines = set(model.joint_names) - joints, {element.name for element in model.elements}
    return tuple(x for x in model.actuators if x.transmission.stays(left, frames, lines))
