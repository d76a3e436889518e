"""Frames: where they are, their Jacobians and how those change (RBDA 4.5-4.6, 2.45)."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.types import PerJoint
from knuckle.model import Frame, Model
from knuckle.spatial import Subspace

from .body_motions import positions, velocities


def pose(model: Model, q: PerJoint, frame: Frame) -> Any:
    """ᶠX_0: from base to frame coordinates."""
    return frame.X @ positions(model, q)[frame.body]


def jacobian(model: Model, q: PerJoint, frame: Frame) -> dict[int, Subspace]:
    """The columns of J in frame coordinates, for the joints that move the frame: twist = J v (RBDA 4.5)."""
    J, X = {}, frame.X
    for j in model.ancestors(frame.body):
        joint = model.joints[j].type
        J[j] = X @ joint.subspace(q[j])
        X = X @ joint.transform(q[j]) @ model.X_tree[j]
    return J


def jacobian_at_frame(model: Model, q: PerJoint, frame: Frame) -> dict[int, Subspace]:
    """The columns of J at the frame's origin with the base's axes.

    Turned from each body straight to the base, not by way of the frame, and as long as the frame is away from the
    joint, not from the base: fewer roundings, and no large distances (RBDA 10.1).
    """
    X0, J, X = positions(model, q), {}, frame.X
    for j in model.ancestors(frame.body):
        joint = model.joints[j].type
        axes = model.algebra.Transform.rotation(X0[j].E).inverse()
        J[j] = axes @ model.algebra.Transform.translation(X.r) @ joint.subspace(q[j])
        X = X @ joint.transform(q[j]) @ model.X_tree[j]
    return J


def jacobian_in_base(model: Model, q: PerJoint, frame: Frame) -> dict[int, Subspace]:
    """The columns of J in base coordinates: for each joint its axis there, whatever the frame."""
    X0 = positions(model, q)
    return {j: X0[j].inv @ model.joints[j].type.subspace(q[j]) for j in model.ancestors(frame.body)}


def jacobian_rate(model: Model, q: PerJoint, v: PerJoint, frame: Frame) -> dict[int, Subspace]:
    """The columns of J̇ in frame coordinates: d/dt of `jacobian`, entry by entry."""
    V = velocities(model, q, v)
    J, X, Vf = {}, frame.X, frame.X @ V[frame.body]
    for j in model.ancestors(frame.body):
        joint = model.joints[j].type
        S = joint.subspace(q[j])
        J[j] = X @ (joint.subspace_rate(q[j], v[j]) + V[j].cross(S)) - Vf.cross(X @ S)
        X = X @ joint.transform(q[j]) @ model.X_tree[j]
    return J
