"""Inverse dynamics: the recursive Newton-Euler algorithm (RBDA chapter 5)."""

from __future__ import annotations

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.spatial import Vector


def inverse_dynamics(model: Model, q: PerJoint, v: PerJoint, a: PerJoint, f_ext: PerBody) -> dict[int, Vector]:
    """τ = H a + C: joint forces for the acceleration `a` (RBDA table 5.1, equations 5.14-5.20)."""
    V, A, F = {ROOT: model.zero_motion}, {ROOT: -model.g}, {ROOT: model.zero_force}
    X, S, tau = {}, {}, {}
    for i, p, joint in model.outward():
        XJ, S[i], vJ, cJ = joint.motion(q[i], v[i])
        X[i] = XJ @ model.X_tree[i]
        V[i] = X[i] @ V[p] + vJ
        A[i] = X[i] @ A[p] + S[i] @ a[i] + cJ + V[i].cross(vJ)
        F[i] = model.I[i] @ A[i] + V[i].cross(model.I[i] @ V[i]) - f_ext[i]
    beyond = dict.fromkeys(F, model.zero_force)
    for i, p, _ in model.inward():
        F[i] = F[i] + beyond[i]
        tau[i] = S[i].T @ F[i] + model.rotor[i] * a[i]
        beyond[p] = beyond[p] + X[i].T @ F[i]
    return tau


def gravity_force(model: Model, q: PerJoint) -> dict[int, Vector]:
    """What gravity contributes to τ: RNEA with nothing moving (RBDA 5.12-5.13)."""
    A, F = {ROOT: -model.g}, {ROOT: model.zero_force}
    X, tau = {}, {}
    for i, p, joint in model.outward():
        X[i] = joint.transform(q[i]) @ model.X_tree[i]
        A[i] = X[i] @ A[p]
        F[i] = model.I[i] @ A[i]
    for i, p, joint in model.inward():
        tau[i] = joint.subspace(q[i]).T @ F[i]
        F[p] = F[p] + X[i].T @ F[i]
    return tau


def inertial_force(model: Model, q: PerJoint, a: PerJoint) -> dict[int, Vector]:
    """ID_δ: H a, without velocity, gravity or external force (RBDA table 6.1, equation 6.4)."""
    A, F = {ROOT: model.zero_motion}, {ROOT: model.zero_force}
    X, S, tau = {}, {}, {}
    for i, p, joint in model.outward():
        X[i], S[i] = joint.transform(q[i]) @ model.X_tree[i], joint.subspace(q[i])
        A[i] = X[i] @ A[p] + S[i] @ a[i]
        F[i] = model.I[i] @ A[i]
    for i, p, _ in model.inward():
        tau[i] = S[i].T @ F[i] + model.rotor[i] * a[i]
        F[p] = F[p] + X[i].T @ F[i]
    return tau
