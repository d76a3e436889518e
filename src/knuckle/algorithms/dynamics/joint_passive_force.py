"""What joints do by themselves: damping, friction and springs, as forces that the motion has to overcome."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.types import PerJoint
from knuckle.model import Model
from knuckle.scalar import ZERO, constant, less, select, sign
from knuckle.spatial import Vector


def resistance(model: Model, q: PerJoint, v: PerJoint, a: PerJoint | None = None) -> dict[int, Vector]:
    """d v + f sign v + Rᵀk (q ⊖ rest): added to what RNEA finds, subtracted from what ABA is given.

    R v is the rate of the displacement q ⊖ rest, and 1 for joints with q̇ = v: springs keep energy at ball joints too.

    Dry friction has the direction of the motion. A joint at rest begins to move with its acceleration, where that is
    given; else its friction is any force from −f to f, and counts as none here: a step finds it (`dry_friction`).
    """
    directions = v if a is None else {i: Vector(map(_direction, v[i], a[i])) for i in range(model.nb)}
    tau = {
        i: Vector(map(_drag, joint.damping, joint.friction, v[i], directions[i]))
        for i, joint in enumerate(model.joints)
    }
    for i, k, rest in model.springs:
        tau[i] = tau[i] + model.joints[i].type.spring_force(rest, q[i], k)
    return tau


def _drag(damping: float, friction: float, v: Any, direction: Any) -> Any:
    return constant(damping) * v + constant(friction) * (ZERO if constant(friction) is ZERO else sign(direction))


def _direction(v: Any, a: Any) -> Any:
    """v, or a where v is zero."""
    return select(less(v, 0), v, select(less(0, v), v, a))
