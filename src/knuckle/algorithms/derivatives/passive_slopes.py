"""The derivatives of what joints do by themselves: damping and springs."""

from __future__ import annotations

from knuckle.algorithms.types import PerJoint
from knuckle.model import Model
from knuckle.scalar import ZERO, Dual, constant, parts
from knuckle.spatial import Matrix, Vector

from .inverse_slopes import Blocks


def stiffness(model: Model, q: PerJoint) -> Blocks:
    """∂(Rᵀk (q ⊖ rest))/∂q of the joints that have springs, along their velocity variables."""
    K: Blocks = {}
    for i, k, rest in model.springs:
        joint = model.joints[i].type
        columns: list[Vector] = []
        for e in Matrix.identity(joint.nv).rows:
            moving = Vector(map(Dual, q[i], joint.rate(q[i], Vector(e))))
            force = joint.spring_force(Vector(map(Dual, rest)), moving, Vector(map(Dual, k)))
            columns.append(Vector(parts(x)[1] for x in force))
        K[i, i] = Matrix.columns(columns, joint.nv)
    return K


def damping(model: Model) -> Blocks:
    """∂(d v + f sign v)/∂v: dry friction is constant on either side of rest."""
    return {
        (i, i): Matrix.diagonal(map(constant, joint.damping))
        for i, joint in enumerate(model.joints)
        if any(constant(d) is not ZERO for d in joint.damping)
    }
