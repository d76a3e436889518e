"""Motors for a model that has none."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from knuckle.public_names import public_in

from .actuator import Actuator, motor
from .plain_transmissions import is_limit

if TYPE_CHECKING:
    from knuckle.model.model import Model


@public_in("actuators")
def with_motors(model: Model, joints: Iterable[str] | None = None) -> Model:
    """The model with a motor at each of these joints, which gives at most the joint's effort.

    Args:
        model: the mechanism.
        joints: names of joints of one variable; if not given, all of them that move by themselves and have no actuator.
    """
    there = {name for x in model.actuators for name in getattr(x.transmission, "joints", ())}
    free = [joint.name for i, joint in enumerate(model.joints) if joint.type.nv == 1 and i not in model.coupled]
    names = [name for name in free if name not in there] if joints is None else list(joints)
    return model.replace(actuators=(*model.actuators, *(_motor(model, name) for name in names)))


def _motor(model: Model, name: str) -> Actuator:
    (effort, *others) = model.joints[model.joint_index(name)].limits.effort or (math.inf,)
    if others:
        raise ValueError(f"joints: {name!r} has {1 + len(others)} variables, and a motor turns one")
    return motor(name, name, control_range=(-effort, effort) if is_limit(effort) else None)
