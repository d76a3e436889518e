"""The inverse of the joint-space inertia matrix without forming the matrix (notes, algorithm 10)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.scalar import ZERO, sqrt
from knuckle.spatial import Matrix, Vector


class Factors(NamedTuple):
    """What the right-hand sides share: transforms, U = M̂ S, Ψ = (Sᵀ M̂ S)⁻¹ and S of every joint."""

    X: PerBody
    S: PerBody
    U: PerBody
    Psi: PerBody


def factors(model: Model, q: PerJoint) -> Factors:
    """The loop that runs once (algorithm 10, lines 1-12)."""
    M = {ROOT: model.algebra.ArticulatedInertia.zero()}
    X, S, U, Psi = {}, {}, {}, {}
    for i, _, joint in model.outward():
        X[i], S[i] = joint.transform(q[i]) @ model.X_tree[i], joint.subspace(q[i])
        M[i] = model.algebra.ArticulatedInertia.of(model.I[i])
    for i, p, _ in model.inward():
        U[i] = M[i] @ S[i]
        Psi[i] = (S[i].T @ U[i] + Matrix.diagonal(model.rotor[i])).inverse()
        M[p] = M[p] + X[i].T @ (M[i] - U[i].dyadic(Psi[i])) @ X[i]
    return Factors(X, S, U, Psi)


def solve(model: Model, factors: Factors, x: PerJoint) -> dict[int, Vector]:
    """H⁻¹ x in O(n) (algorithm 10, lines 14-22)."""
    X, S, U, Psi = factors
    B = {i: model.zero_force for i in range(ROOT, model.nb)}
    A: dict[int, Any] = {ROOT: model.zero_motion}
    u, y = {}, {}
    for i, p, _ in model.inward():
        u[i] = Psi[i] @ (x[i] - S[i].T @ B[i])
        B[p] = B[p] + X[i].T @ (B[i] + U[i] @ u[i])
    for i, p, _ in model.outward():
        y[i] = u[i] - Psi[i] @ (U[i].T @ (X[i] @ A[p]))
        A[i] = X[i] @ A[p] + S[i] @ y[i]
    return y


def whitened(model: Model, factors: Factors, x: PerJoint) -> dict[int, Vector]:
    """y with yᵀy = xᵀH⁻¹x in O(n): the forces that the articulated bodies leave, by the root of their inertia.

    It is D^−½ L⁻ᵀ x for H = LᵀDL: `solve` stopped half-way.
    """
    X, S, U, Psi = factors
    B = {i: model.zero_force for i in range(ROOT, model.nb)}
    y: dict[int, Vector] = {}
    for i, p, _ in model.inward():
        left = x[i] - S[i].T @ B[i]
        B[p] = B[p] + X[i].T @ (B[i] + U[i] @ (Psi[i] @ left))
        L, D = (S[i].T @ U[i] + Matrix.diagonal(model.rotor[i])).ldl()
        z: list[Any] = []
        for row, value in zip(L.rows, left, strict=True):
            z.append(value - sum((a * b for a, b in zip(row, z, strict=False)), ZERO))
        y[i] = Vector(value / sqrt(d) for value, d in zip(z, D, strict=True))
    return y


def unit_forces(model: Model) -> Iterable[tuple[int, int, dict[int, Vector]]]:
    """(joint, variable, force): one at a joint variable and zero everywhere else."""
    sizes = [joint.nv for _, _, joint in model.outward()]
    for j, n in enumerate(sizes):
        for k in range(n):
            x = {i: Vector.zero(m) for i, m in enumerate(sizes)}
            x[j] = Vector(Matrix.identity(n)[k])
            yield j, k, x


def mass_matrix_inverse(model: Model, q: PerJoint) -> dict[tuple[int, int], Matrix]:
    """H⁻¹ in O(n²): one solve per unit force."""
    shared = factors(model, q)
    columns: dict[int, list[dict[int, Vector]]] = {i: [] for i in range(model.nb)}
    for j, _, x in unit_forces(model):
        columns[j].append(solve(model, shared, x))
    sizes = [joint.nv for _, _, joint in model.outward()]
    return {(i, j): Matrix.columns((y[i] for y in columns[j]), n) for i, n in enumerate(sizes) for j in range(model.nb)}
