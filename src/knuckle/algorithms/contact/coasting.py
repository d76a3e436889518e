"""Steps without impulses: bodies that nothing holds coast, and forces change the velocity with which they do.

Of such a body the centre of mass goes straight ahead, and it turns without gaining energy, however long the step is.
"""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.types import PerJoint
from knuckle.model import ROOT, Model
from knuckle.spatial import Vector


def lone_body(model: Model, i: int) -> Any:
    """The inertia of a body that moves as if there were no other; None where others hang on it."""
    is_alone = model.parents[i] == ROOT and not model.children(i) and not model.loops and not model.ties_branches
    return model.I[i] if is_alone else None


def without_impulses(
    model: Model, v: PerJoint, a: PerJoint, dt: Any
) -> tuple[list[Vector], list[Vector], list[Vector]]:
    """(w, v', lead) of each joint: the velocity after coasting, and with forces that make the acceleration a.

    All of them are in axes of the beginning; bodies turn with the velocity at the end less the lead, half of what
    coasting changes.
    """
    coasted, free, lead = list[Vector](), list[Vector](), list[Vector]()
    for i, _, joint in model.outward():
        body = lone_body(model, i)
        later, rate = joint.coasting(v[i], dt, body)
        coasted.append(later)
        free.append(later + dt * (a[i] - rate))
        lead.append(Vector.zero(joint.nv) if body is None else 0.5 * (later - v[i]))
    return coasted, free, lead


def moved_back(joint: Any, q: Vector, v: Vector, body: Any, back: Vector, dt: Any) -> tuple[Vector, Vector]:
    """(q', v): a displacement of a state by dt times `back`. A body that is alone keeps its velocity in space."""
    place = joint.integrate(q, dt * back)
    return place, v if body is None else joint.coasted(q, v, dt, body, back)[1]
