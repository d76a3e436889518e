"""How what joints and controllers do changes with the state: D = −∂τ/∂v and K = −∂τ/∂q."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from knuckle.functions import velocity_to_qdot
from knuckle.functions.derivatives.dual_jacobians import along, derivative_of, slopes_of
from knuckle.joints.base import is_plain
from knuckle.model import Linear, Model
from knuckle.scalar import ZERO, constant
from knuckle.spatial import Vector

from .system import System

PerJoint: TypeAlias = Sequence[Vector]
"""One vector for each joint of the tree."""


def local_slopes(system: System, t: Any, q: Any, v: Any) -> tuple[PerJoint, PerJoint] | None:
    """D and K by joints, if every slope is one of a velocity variable on its own force; else None.

    Structural zeros decide it: what a controller does not depend on leaves none.
    """
    model = system.at_time(t)
    if not _is_local(model):
        return None
    control = _diagonals(lambda q, v: -system.force(model, t, q, v), model, q, v)
    if control is None:
        return None
    coupled = model.coupled
    D, K = (
        [Vector([ZERO] * joint.type.nv) if i in coupled else part[model.v_slices[i]]
         for i, joint in enumerate(model.joints)]
        for part in control
    )  # fmt: skip
    return (
        [x + Vector(map(constant, joint.damping)) for x, joint in zip(D, model.joints, strict=True)],
        [x + Vector(map(constant, joint.stiffness)) for x, joint in zip(K, model.joints, strict=True)],
    )


def _is_local(model: Model) -> bool:
    """Whether springs and dampers are at the joints and have constant slopes, each on its own velocity variable."""
    if model.elements:
        return False
    coupled = model.coupled
    for i, joint in enumerate(model.joints):
        if any(constant(k) is not ZERO for k in joint.stiffness) and (
            not is_plain(joint.type) or joint.type.has_charts
        ):
            return False
        acts = any(constant(x) is not ZERO for x in (*joint.stiffness, *joint.damping))
        if acts and i in coupled and not isinstance(coupled[i].law, Linear):
            return False
    return True


def _diagonals(f: Callable[[Any, Any], Any], model: Model, q: Any, v: Any) -> tuple[Vector, Vector] | None:
    """∂fᵢ/∂vᵢ and ∂fᵢ/∂qᵢ, if there are no other slopes; else None."""
    rate = velocity_to_qdot.reference(model, q, v)
    some = derivative_of(f(q, along(v, v))), derivative_of(f(along(q, rate), v))
    diagonals: list[Vector] = []
    for part, columns in zip(some, slopes_of(f, model, q, v), strict=True):
        if all(x is ZERO for x in part):
            diagonals.append(part)
            continue
        diagonal: list[Any] = []
        for k, column in enumerate(columns):
            if any(x is not ZERO for i, x in enumerate(column) if i != k):
                return None
            diagonal.append(column[k])
        diagonals.append(Vector(diagonal))
    return diagonals[0], diagonals[1]
