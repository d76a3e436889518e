"""Products with the Jacobians of all bodies in O(n), without any Jacobian (notes 2.10, algorithms 5 and 6).

J stands for the Jacobians of all bodies, one above the other, each in the coordinates of its body.
"""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.spatial import Vector


def jacobian_product(model: Model, q: PerJoint, x: PerJoint) -> dict[int, Any]:
    """y = J x: the velocities of the bodies when the joints move with x (notes 2.104-2.105)."""
    Y = {ROOT: model.zero_motion}
    for i, p, joint in model.outward():
        Y[i] = joint.transform(q[i]) @ model.X_tree[i] @ Y[p] + joint.subspace(q[i]) @ x[i]
    return Y


def jacobian_rate_product(
    model: Model, q: PerJoint, v: PerJoint, x: PerJoint
) -> tuple[dict[int, Any], dict[int, Any], dict[int, Any]]:
    """J x, J̇ x and the velocities, while the joints move with v and x stays (notes, algorithm 5).

    J̇ is the derivative of J entry by entry: Ẋ = −v_J × X (RBDA 2.45), and S changes by S̊.
    """
    V, Y, Z = {ROOT: model.zero_motion}, {ROOT: model.zero_motion}, {ROOT: model.zero_motion}
    for i, p, joint in model.outward():
        XJ, S, vJ, _ = joint.motion(q[i], v[i])
        X = XJ @ model.X_tree[i]
        V[i] = X @ V[p] + vJ
        Y[i] = X @ Y[p] + S @ x[i]
        Z[i] = X @ Z[p] - vJ.cross(X @ Y[p]) + joint.subspace_rate(q[i], v[i]) @ x[i]
    return Y, Z, V


def jacobian_transpose_product(model: Model, q: PerJoint, y: PerBody) -> dict[int, Vector]:
    """x = Jᵀ y: the joint forces that the forces y on the bodies amount to (notes 2.106-2.108, algorithm 6)."""
    F, x = {ROOT: model.zero_force, **y}, {}
    for i, p, joint in model.inward():
        x[i] = joint.subspace(q[i]).T @ F[i]
        F[p] = F[p] + (joint.transform(q[i]) @ model.X_tree[i]).T @ F[i]
    return x
