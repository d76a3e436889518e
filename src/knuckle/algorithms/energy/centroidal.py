"""Momentum about the centre of mass: its matrix and its bias (RBDA 9.3; Orin and Goswami's centroidal matrix)."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.kinematics.body_motions import accelerations, positions, velocities
from knuckle.algorithms.types import PerJoint
from knuckle.model import ROOT, Model
from knuckle.scalar import ZERO
from knuckle.spatial import Subspace

from .energy_and_momentum import center_of_mass, total_mass


def centroid(model: Model, q: PerJoint) -> Any:
    """From base coordinates to the frame at the centre of mass with the base's axes; without masses any will do."""
    if total_mass(model) is ZERO:
        return model.algebra.Transform.identity()
    return model.algebra.Transform.translation(center_of_mass(model, q))


def centroidal_matrix(model: Model, q: PerJoint) -> dict[int, Subspace]:
    """The columns of A with A v the momentum about the centre of mass: F_i = I^c_i S_i there (RBDA 9.12)."""
    X0, XG = positions(model, q), centroid(model, q)
    IC = {ROOT: model.algebra.Inertia.zero(), **dict(enumerate(model.I))}
    A = {}
    for i, p, joint in model.inward():
        X = joint.transform(q[i]) @ model.X_tree[i]
        IC[p] = IC[p] + X.T @ IC[i] @ X
        A[i] = XG @ (X0[i].T @ (IC[i] @ joint.subspace(q[i])))
    return A


def centroidal_bias(model: Model, q: PerJoint, v: PerJoint, g: PerJoint) -> Any:
    """Ȧ v: the rate of the momentum about the centre of mass when the joints accelerate by g only (RBDA 8.42)."""
    X0, V, A = positions(model, q), velocities(model, q, v), accelerations(model, q, v, g)
    rates = (X0[i].T @ (I @ A[i] + V[i].cross(I @ V[i])) for i, I in enumerate(model.I))
    return centroid(model, q) @ sum(rates, model.zero_force)


def centroidal_momentum(model: Model, q: PerJoint, v: PerJoint) -> Any:
    """The momentum about the centre of mass, with the base's axes."""
    X0, V = positions(model, q), velocities(model, q, v)
    return centroid(model, q) @ sum((X0[i].T @ (I @ V[i]) for i, I in enumerate(model.I)), model.zero_force)
