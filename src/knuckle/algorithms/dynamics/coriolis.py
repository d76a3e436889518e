"""The Coriolis matrix C(q, v) with C v the velocity part of τ and Ḣ − 2C skew.

Body by body the force I a + v×*Iv is I(J̇v) + B v with B u = ½(v×*Iu − Iv×u + u×*Iv): B + Bᵀ is the rate of I and
B v = v×*Iv. Rates of inertia and momenta add up over a subtree, so B of a composite body needs no 6x6 matrix, and the
recursion has the shape of the composite-rigid-body algorithm.
"""

from __future__ import annotations

from knuckle.algorithms.types import PerJoint
from knuckle.model import ROOT, Model
from knuckle.spatial import Matrix, Vector


def coriolis_matrix(model: Model, q: PerJoint, v: PerJoint) -> dict[tuple[int, int], Matrix]:
    """C by its nonzero blocks."""
    V = {ROOT: model.zero_motion}
    X, S, R, C = {}, {}, {}, {}
    IC, IR = {ROOT: model.algebra.Inertia.zero()}, {ROOT: model.algebra.ArticulatedInertia.zero()}
    h = {ROOT: model.zero_force}
    for i, p, joint in model.outward():
        XJ, S[i], vJ, _ = joint.motion(q[i], v[i])
        X[i] = XJ @ model.X_tree[i]
        V[i] = X[i] @ V[p] + vJ
        R[i] = joint.subspace_rate(q[i], v[i]) + V[i].cross(S[i])
        IC[i], IR[i], h[i] = model.I[i], model.I[i].rate(V[i]), model.I[i] @ V[i]
    for i, p, _ in model.inward():
        rate, spin = (IR[i] @ S[i]) / 2, S[i].cross(h[i]) / 2
        F, G, K = IC[i] @ R[i] + rate + spin, IC[i] @ S[i], rate - spin
        C[i, i] = S[i].T @ F
        j = i
        while model.parents[j] != ROOT:
            F, G, K = X[j].T @ F, X[j].T @ G, X[j].T @ K
            j = model.parents[j]
            C[j, i] = S[j].T @ F
            C[i, j] = (R[j].T @ G + S[j].T @ K).T
        IC[p] = IC[p] + X[i].T @ IC[i] @ X[i]
        IR[p] = IR[p] + X[i].T @ IR[i] @ X[i]
        h[p] = h[p] + X[i].T @ h[i]
    return C


def coriolis_product(model: Model, q: PerJoint, v: PerJoint, u: PerJoint, w: PerJoint) -> dict[int, Vector]:
    """C u + H w in O(n): the forces Σ Jᵀ(I(J̇u + J w) + B J u), with B as above."""
    V, U, A, F = (
        {ROOT: model.zero_motion},
        {ROOT: model.zero_motion},
        {ROOT: model.zero_motion},
        {ROOT: model.zero_force},
    )
    X, S, tau = {}, {}, {}
    for i, p, joint in model.outward():
        XJ, S[i], vJ, _ = joint.motion(q[i], v[i])
        X[i] = XJ @ model.X_tree[i]
        V[i] = X[i] @ V[p] + vJ
        U[i] = X[i] @ U[p] + S[i] @ u[i]
        A[i] = X[i] @ A[p] + S[i] @ w[i] + (joint.subspace_rate(q[i], v[i]) + V[i].cross(S[i])) @ u[i]
        F[i] = model.I[i] @ A[i] + (model.I[i].rate(V[i]) @ U[i] + U[i].cross(model.I[i] @ V[i])) / 2
    for i, p, _ in model.inward():
        tau[i] = S[i].T @ F[i] + model.rotor[i] * w[i]
        F[p] = F[p] + X[i].T @ F[i]
    return tau
