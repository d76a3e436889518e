"""Forces of actuators: from control inputs to joint forces, through transmissions."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.elements.element_forces import joint_forces, placed
from knuckle.algorithms.kinematics.body_motions import positions, velocities
from knuckle.algorithms.types import PerJoint
from knuckle.model import Model
from knuckle.model.actuators.actuator_dynamics import with_dynamics
from knuckle.model.actuators.plain_transmissions import TransmissionState, is_limit
from knuckle.scalar import ZERO, constant, maximum, minimum
from knuckle.spatial import Vector


def actuator_forces(model: Model, q: PerJoint, v: PerJoint, u: Any) -> list[Any]:
    """f of each actuator: its law, at the length and the rate of its transmission, and in its state."""
    at = _moving(model, q, v)
    return [x.force(u[k], *x.transmission.reach(at)) for k, x in enumerate(model.actuators)]


def actuated(model: Model, q: PerJoint, v: PerJoint, f: Any) -> dict[int, Vector]:
    """τ = Σ (∂l/∂q)ᵀ f at the joints of the tree, no more at each of them than its effort."""
    at = _moving(model, q, v)
    tau: dict[int, Any] = {i: Vector([ZERO] * joint.type.nv) for i, joint in enumerate(model.joints)}
    F: dict[int, Any] = {}
    for x, force in zip(model.actuators, f, strict=True):
        for i, push in x.transmission.at_joints(at, force):
            tau[i] = tau[i] + push
        for i, push in x.transmission.on_bodies(at, force):
            F[i] = F.get(i, model.zero_force) + push
    through = joint_forces(model, q, F) if F else {}
    return {i: _limited(model, i, x + through[i] if F else x) for i, x in tau.items()}


def _limited(model: Model, i: int, tau: Vector) -> Vector:
    """Joint forces within ± the effort that a joint takes; an effort of 0, as files have it, is none."""
    most = model.joints[i].limits.effort
    return Vector(
        minimum(maximum(x, constant(-m)), constant(m)) if is_limit(m) and x is not ZERO else x
        for x, m in zip(tau, most, strict=True)
    )


def _moving(model: Model, q: PerJoint, v: PerJoint) -> TransmissionState:
    """What transmissions need of a state."""
    if not any(x.transmission.is_on_bodies for x in model.actuators):
        return TransmissionState(model, q, v, {}, {}, {})
    lines = {it.element.name: it for it in placed(model, q, v)}
    return TransmissionState(model, q, v, velocities(model, q, v), positions(model, q), lines)


def actuator_rates(model: Model, u: Any, states: Any) -> list[Any]:
    """ȧ of each actuator that has a state, under the controls u."""
    follow = zip(with_dynamics(model.actuators), states, strict=True)
    return [law.rate(model.actuators[k].followed(u[k], a), a) for (k, law), a in follow]
