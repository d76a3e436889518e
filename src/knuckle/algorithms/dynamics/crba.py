"""The joint-space inertia matrix: the composite-rigid-body algorithm (RBDA chapter 6)."""

from __future__ import annotations

from knuckle.algorithms.types import PerJoint
from knuckle.model import ROOT, Model
from knuckle.spatial import Matrix, Vector

from .rnea import inertial_force


def mass_matrix(model: Model, q: PerJoint) -> dict[tuple[int, int], Matrix]:
    """H by its nonzero blocks (RBDA table 6.2, equations 6.13-6.20)."""
    X, S, H = {}, {}, {}
    IC = {ROOT: model.algebra.Inertia.zero(), **dict(enumerate(model.I))}
    for i, _, joint in model.outward():
        X[i], S[i] = joint.transform(q[i]) @ model.X_tree[i], joint.subspace(q[i])
    for i, p, _ in model.inward():
        IC[p] = IC[p] + X[i].T @ IC[i] @ X[i]
        F = IC[i] @ S[i]
        H[i, i] = S[i].T @ F + Matrix.diagonal(model.rotor[i])
        j = i
        while model.parents[j] != ROOT:
            F = X[j].T @ F
            j = model.parents[j]
            H[i, j] = F.T @ S[j]
            H[j, i] = H[i, j].T
    return H


def mass_matrix_by_columns(model: Model, q: PerJoint) -> dict[tuple[int, int], Matrix]:
    """H column by column, H δ = ID_δ(q, δ), one unit acceleration at a time (RBDA 6.1; Walker and Orin)."""
    sizes = [joint.nv for _, _, joint in model.outward()]
    H = {}
    for j, n in enumerate(sizes):
        columns = []
        for k in range(n):
            delta = {i: Vector.zero(m) for i, m in enumerate(sizes)}
            delta[j] = Vector(Matrix.identity(n)[k])
            columns.append(inertial_force(model, q, delta))
        for i, m in enumerate(sizes):
            H[i, j] = Matrix.columns((column[i] for column in columns), m)
    return H


def composite_column(model: Model, q: PerJoint, j: int, k: int) -> dict[int, Vector]:
    """Column k of joint j of H by composite bodies: the force on ν(j) for a unit acceleration (RBDA 6.21-6.25)."""
    X, S = {}, {}
    IC = {ROOT: model.algebra.Inertia.zero(), **dict(enumerate(model.I))}
    for i, _, joint in model.outward():
        X[i], S[i] = joint.transform(q[i]) @ model.X_tree[i], joint.subspace(q[i])
    A = {j: S[j][k]}
    column = {i: Vector.zero(len(S[i])) for i in S}
    for i, p, _ in model.inward():
        IC[p] = IC[p] + X[i].T @ IC[i] @ X[i]
    for i in model.subtree(j)[1:]:
        A[i] = X[i] @ A[model.parents[i]]
    for i in A:
        column[i] = S[i].T @ (IC[i] @ A[i])
    F, i = IC[j] @ A[j], j
    while model.parents[i] != ROOT:
        F, i = X[i].T @ F, model.parents[i]
        column[i] = S[i].T @ F
    column[j] = column[j] + model.rotor[j] * Vector(Matrix.identity(len(S[j]))[k])
    return column
