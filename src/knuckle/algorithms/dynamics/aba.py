"""Forward dynamics: the articulated-body algorithm (RBDA chapter 7)."""

from __future__ import annotations

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.spatial import Matrix, Vector


def forward_dynamics(model: Model, q: PerJoint, v: PerJoint, tau: PerJoint, f_ext: PerBody) -> dict[int, Vector]:
    """The acceleration that the joint forces `tau` give (RBDA table 7.1, equations 7.32-7.50)."""
    V, A, pA = {ROOT: model.zero_motion}, {ROOT: -model.g}, {ROOT: model.zero_force}
    IA = {ROOT: model.algebra.ArticulatedInertia.zero()}
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
    for i, p, _ in model.outward():
        ap = X[i] @ A[p] + c[i]
        a[i] = D[i] @ (u[i] - U[i].T @ ap)
        A[i] = ap + S[i] @ a[i]
    return a
