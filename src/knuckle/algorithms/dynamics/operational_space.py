"""Operational-space inertia (RBDA 7.2; Khatib): what a force at a frame has to move."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.kinematics.jacobians import jacobian
from knuckle.algorithms.types import PerJoint
from knuckle.model import Frame, Model
from knuckle.spatial import Matrix, Subspace

from .inertia_inverse import factors, solve


def operational_inverse_inertia(model: Model, q: PerJoint, frame: Frame) -> Matrix:
    """Φ = J H⁻¹ Jᵀ in frame coordinates (RBDA 7.9): the acceleration that a unit force at the frame gives."""
    J = {i: Subspace.zero(model.algebra.Motion, joint.nv) for i, _, joint in model.outward()}
    J.update(jacobian(model, q, frame))
    shared = factors(model, q)
    columns = []
    for f in model.algebra.Force.basis():
        a = solve(model, shared, {i: J[i].T @ f for i in J})
        twist: Any = sum((J[i] @ a[i] for i in J), model.zero_motion)
        columns.append(twist.components)
    return Matrix.columns(columns, model.algebra.dimension)
