"""What joints do by themselves: damping, friction and springs, as forces that the motion has to overcome."""

from __future__ import annotations

from typing import Any

from knuckle.model import Model
from knuckle.scalar import ZERO, constant, sqrt
from knuckle.spatial import Vector

from .types import PerJoint


def resistance(model: Model, q: PerJoint, v: PerJoint) -> dict[int, Vector]:
    """d v + f v/√(v² + ε²) + Rᵀk (q ⊖ rest): added to what RNEA finds, subtracted from what ABA is given.

    R v is the rate of the displacement q ⊖ rest, and 1 for joints with q̇ = v: springs keep energy at ball joints too.

    Coulomb friction is smoothed: at the speed ε = `model.friction_velocity` it has 71 % of its full value.
    """
    tau = {
        i: Vector(map(_drag, joint.damping, joint.friction, v[i], (model.friction_velocity,) * len(v[i])))
        for i, joint in enumerate(model.joints)
    }
    for i, k, rest in model.springs:
        tau[i] = tau[i] + model.joints[i].kind.spring_force(rest, q[i], k)
    return tau


def _drag(damping: float, friction: float, v: Any, smoothing: float) -> Any:
    coulomb = v / sqrt(v * v + smoothing * smoothing) if friction else ZERO
    return constant(damping) * v + constant(friction) * coulomb
