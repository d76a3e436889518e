"""Controllers that a word on the command line stands for."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import knuckle as kn
from knuckle.joints import Free
from knuckle.model import ROOT, Model
from knuckle.scalar import maximum, minimum
from knuckle.simulation.stops.stop_spec import CompliantStops
from knuckle.spatial import Vector

Array = NDArray[Any]

STRONGEST = 1e30
"""An effort limit where there is none."""


@kn.kernel
def computed_pd(model: Any, q: Any, v: Any, goal: Any, kp: Any, kd: Any, effort: Any) -> Any:
    """τ = ID(q, v, k_p (q_goal ⊖ q) − k_d v), within the effort limits: the joints move as springs with dampers do."""
    return _within(effort, kn.inverse_dynamics(model, q, v, kp * kn.difference(model, q, goal) - kd * v))


@kn.kernel
def joint_pd(model: Any, q: Any, v: Any, goal: Any, kp: Any, kd: Any, effort: Any) -> Any:
    """τ = k_p (q_goal ⊖ q) − k_d v, within the effort limits."""
    return _within(effort, kp * kn.difference(model, q, goal) - kd * v)


def _within(effort: Any, tau: Any) -> Any:
    return Vector(maximum(-e, minimum(e, x)) for e, x in zip(effort, tau, strict=True))


@dataclass(frozen=True)
class ControllerChoice:
    """A controller and its parameters, as `kn.simulate` takes them."""

    controller: Any = None
    parameters: dict[str, Any] = field(default_factory=dict)


def soft_stops(model: Model, q: Array, bandwidth: float) -> CompliantStops:
    """Springs and dampers at all joint limits, tuned to the inertia that each joint moves: ω = 2π · bandwidth, without
    overshoot."""
    omega = 2 * math.pi * bandwidth
    inertia = np.diagonal(kn.mass_matrix(model.without_loops(), q))
    limited = [
        (joint.name, float(inertia[place].max()))
        for i, (joint, place) in enumerate(zip(model.joints, model.v_slices, strict=True))
        if i not in model.coupled and any(map(math.isfinite, (*joint.limits.lower, *joint.limits.upper)))
    ]
    return CompliantStops(
        {name: omega**2 * h for name, h in limited},
        {name: 2 * omega * h for name, h in limited},
        tuple(name for name, _ in limited),
    )


def towards(model: Model, start: Array, goal: Array, bandwidth: float) -> ControllerChoice:
    """A spring and a damper at every joint that pull to the goal: ω = 2π · bandwidth, without overshoot.

    On a base that stands still, inverse dynamics makes the joints move so whatever they carry. A robot that floats, or
    has loops, is not driven at every freedom: there each joint is tuned to the inertia that it moves at the start.
    """
    omega = 2 * math.pi * bandwidth
    driven, effort = np.ones(model.nv), np.full(model.nv, STRONGEST)
    for i, (joint, place) in enumerate(zip(model.joints, model.v_slices, strict=True)):
        if isinstance(joint.type, Free) and joint.parent == ROOT:
            driven[place] = 0.0
        if i not in model.coupled:
            effort[place] = np.minimum(joint.limits.effort, STRONGEST)
    gains = np.ones(model.nv)
    is_computed = bool(driven.all()) and not model.loops
    if not is_computed:
        gains = driven * np.diagonal(kn.mass_matrix(model.without_loops(), start))
    parameters = {"goal": goal, "kp": omega**2 * gains, "kd": 2 * omega * gains, "effort": effort * driven}
    return ControllerChoice(computed_pd if is_computed else joint_pd, parameters)
