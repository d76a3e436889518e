"""Floating bases (RBDA 9.3 to 9.5): the base, ROOT, is a body like the others, with a velocity and no joint.

The model holds the bodies beyond the base, and `model.base` the base's inertia. Everything is in base coordinates or
further out: where the base is matters to no line here (RBDA 10.1). `v0` is its velocity and `g` gravity in its
coordinates, which turn with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Frame, Model
from knuckle.spatial import Matrix, Subspace, Vector


def forward_dynamics(
    model: Model, v0: Any, g: Any, q: PerJoint, v: PerJoint, tau: PerJoint, f_ext: PerBody
) -> tuple[Any, dict[int, Vector]]:
    """(a_0, a): the floating-base articulated-body algorithm (RBDA table 9.4); gravity comes in at the end."""
    I0 = model.base.inertia
    V, pA = {ROOT: v0}, {ROOT: v0.cross(I0 @ v0) - f_ext[ROOT]}
    IA = {ROOT: model.algebra.ArticulatedInertia.of(I0)}
    X, S, c, U, D, u, a = {}, {}, {}, {}, {}, {}, {}
    for i, p, joint in model.outward():
        XJ, S[i], vJ, cJ = joint.motion(q[i], v[i])
        X[i] = XJ @ model.X_tree[i]
        V[i] = X[i] @ V[p] + vJ
        c[i] = cJ + V[i].cross(vJ)
        IA[i] = model.algebra.ArticulatedInertia.of(model.I[i])
        pA[i] = V[i].cross(model.I[i] @ V[i]) - f_ext[i]
    for i, p, _ in model.inward():
        U[i] = IA[i] @ S[i]
        D[i] = (S[i].T @ U[i] + Matrix.diagonal(model.rotor[i])).inverse()
        u[i] = tau[i] - S[i].T @ pA[i]
        Ia = IA[i] - U[i].dyadic(D[i])
        pa = pA[i] + Ia @ c[i] + U[i] @ (D[i] @ u[i])
        IA[p] = IA[p] + X[i].T @ Ia @ X[i]
        pA[p] = pA[p] + X[i].T @ pa
    A = {ROOT: IA[ROOT].solve(-pA[ROOT])}
    for i, p, _ in model.outward():
        ap = X[i] @ A[p] + c[i]
        a[i] = D[i] @ (u[i] - U[i].T @ ap)
        A[i] = ap + S[i] @ a[i]
    return A[ROOT] + g, a


class Equation(NamedTuple):
    """[I_0^c F; Fᵀ H] (a_0, a) + (p_0^c, C) = (0, τ): the equation of motion of a floating base (RBDA 9.13)."""

    I0c: Any
    F: dict[int, Subspace]
    H: dict[tuple[int, int], Matrix]
    p0c: Any
    C: dict[int, Vector]


def equation_of_motion(model: Model, v0: Any, g: Any, q: PerJoint, v: PerJoint, f_ext: PerBody) -> Equation:
    """The coefficients of 9.13: recursive Newton-Euler and composite bodies for a floating base (RBDA table 9.5)."""
    p0c, C = _newton_euler(model, v0, g, q, v, f_ext)
    return Equation(*composite_bodies(model, q), p0c, C)


def _newton_euler(
    model: Model, v0: Any, g: Any, q: PerJoint, v: PerJoint, f_ext: PerBody
) -> tuple[Any, dict[int, Vector]]:
    """p_0^c and C, by the accelerations that velocities alone make (RBDA table 9.5, left)."""
    V, A = {ROOT: v0}, {ROOT: -g}
    F = {ROOT: model.base.inertia @ A[ROOT] + v0.cross(model.base.inertia @ v0) - f_ext[ROOT]}
    X, S, C = {}, {}, {}
    for i, p, joint in model.outward():
        XJ, S[i], vJ, cJ = joint.motion(q[i], v[i])
        X[i] = XJ @ model.X_tree[i]
        V[i] = X[i] @ V[p] + vJ
        A[i] = X[i] @ A[p] + cJ + V[i].cross(vJ)
        F[i] = model.I[i] @ A[i] + V[i].cross(model.I[i] @ V[i]) - f_ext[i]
    for i, p, _ in model.inward():
        C[i] = S[i].T @ F[i]
        F[p] = F[p] + X[i].T @ F[i]
    return F[ROOT], C


def composite_bodies(model: Model, q: PerJoint) -> tuple[Any, dict[int, Subspace], dict[tuple[int, int], Matrix]]:
    """I_0^c, F and H; each F_i ends in base coordinates (RBDA table 9.5, right)."""
    X, S, F, H = {}, {}, {}, {}
    IC = {ROOT: model.base.inertia, **dict(enumerate(model.I))}
    for i, _, joint in model.outward():
        X[i], S[i] = joint.transform(q[i]) @ model.X_tree[i], joint.subspace(q[i])
    for i, p, _ in model.inward():
        IC[p] = IC[p] + X[i].T @ IC[i] @ X[i]
        F[i] = IC[i] @ S[i]
        H[i, i] = S[i].T @ F[i] + Matrix.diagonal(model.rotor[i])
        j = i
        while model.parents[j] != ROOT:
            F[i] = X[j].T @ F[i]
            j = model.parents[j]
            H[i, j] = F[i].T @ S[j]
            H[j, i] = H[i, j].T
        F[i] = X[j].T @ F[i]
    return IC[ROOT], F, H


def inverse_dynamics(
    model: Model, v0: Any, g: Any, q: PerJoint, v: PerJoint, a: PerJoint, f_ext: PerBody
) -> tuple[Any, dict[int, Vector]]:
    """(a_0, τ) for given joint accelerations (RBDA table 9.6, equations 9.22-9.25); gravity comes in at the end."""
    V, Ar, IC = {ROOT: v0}, {ROOT: model.zero_motion}, {ROOT: model.base.inertia, **dict(enumerate(model.I))}
    pc = {ROOT: v0.cross(IC[ROOT] @ v0) - f_ext[ROOT]}
    X, S, tau = {}, {}, {}
    for i, p, joint in model.outward():
        XJ, S[i], vJ, cJ = joint.motion(q[i], v[i])
        X[i] = XJ @ model.X_tree[i]
        V[i] = X[i] @ V[p] + vJ
        Ar[i] = X[i] @ Ar[p] + S[i] @ a[i] + cJ + V[i].cross(vJ)
        pc[i] = model.I[i] @ Ar[i] + V[i].cross(model.I[i] @ V[i]) - f_ext[i]
    for i, p, _ in model.inward():
        IC[p] = IC[p] + X[i].T @ IC[i] @ X[i]
        pc[p] = pc[p] + X[i].T @ pc[i]
    A0 = {ROOT: IC[ROOT].inverse @ -pc[ROOT]}
    for i, p, _ in model.outward():
        A0[i] = X[i] @ A0[p]
        tau[i] = S[i].T @ (IC[i] @ A0[i] + pc[i]) + model.rotor[i] * a[i]
    return A0[ROOT] + g, tau


def jacobian(model: Model, q: PerJoint, frame: Frame) -> dict[int, Subspace]:
    """J^fl = J − (I_0^c)⁻¹F in frame coordinates: joints move the frame, and the base recoils (RBDA example 9.4)."""
    I0c, F, _ = composite_bodies(model, q)
    J, X = {}, frame.X
    for j in model.ancestors(frame.body):
        J[j] = X @ model.joints[j].type.subspace(q[j])
        X = X @ model.joints[j].type.transform(q[j]) @ model.X_tree[j]
    recoil = {i: X @ (I0c.inverse @ F[i]) for i in F}
    return {i: J[i] - recoil[i] if i in J else -recoil[i] for i in recoil}
