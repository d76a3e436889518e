"""Positions, velocities and accelerations of the bodies (RBDA examples 4.3 and 4.4, equations 2.14-2.57)."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.types import PerJoint
from knuckle.model import ROOT, Model


def positions(model: Model, q: PerJoint) -> dict[int, Any]:
    """ⁱX_0: from base to body coordinates (RBDA example 4.3)."""
    X0 = {ROOT: model.algebra.Transform.identity()}
    for i, p, joint in model.outward():
        X0[i] = joint.transform(q[i]) @ model.X_tree[i] @ X0[p]
    return X0


def velocities(model: Model, q: PerJoint, v: PerJoint) -> dict[int, Any]:
    """The velocity of each body in its own coordinates (RBDA 5.14)."""
    V = {ROOT: model.zero_motion}
    for i, p, joint in model.outward():
        XJ, _, vJ, _ = joint.motion(q[i], v[i])
        V[i] = XJ @ model.X_tree[i] @ V[p] + vJ
    return V


def accelerations(model: Model, q: PerJoint, v: PerJoint, a: PerJoint) -> dict[int, Any]:
    """The spatial acceleration of each body in its own coordinates, the base being at rest (RBDA 5.15)."""
    V, A = {ROOT: model.zero_motion}, {ROOT: model.zero_motion}
    for i, p, joint in model.outward():
        XJ, S, vJ, cJ = joint.motion(q[i], v[i])
        X = XJ @ model.X_tree[i]
        V[i] = X @ V[p] + vJ
        A[i] = X @ A[p] + S @ a[i] + cJ + V[i].cross(vJ)
    return A
