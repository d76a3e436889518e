"""Hybrid dynamics (RBDA 9.1 and 9.2): each joint has either its force given or its acceleration, and gets the other.

`fd`, the forward-dynamics joints, are those whose force is given.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.model.connectivity import expand_parents
from knuckle.spatial import Matrix, Vector

from . import branch_sparsity, rnea


def supported(parents: Sequence[int], fd: Collection[int]) -> frozenset[int]:
    """ν(fd): the bodies that at least one forward-dynamics joint carries (RBDA 9.5)."""
    found = set(fd)
    for i, p in enumerate(parents):
        if p in found:
            found.add(i)
    return frozenset(found)


def merged_parents(parents: Sequence[int], fd: Collection[int]) -> tuple[int, ...]:
    """λ' of the joints in fd, renumbered: bodies that other joints connect count as one (RBDA figure 9.1)."""
    number, merged = {ROOT: ROOT}, list[int]()
    for i, p in enumerate(parents):
        number[i] = len(merged) if i in fd else number[p]
        if i in fd:
            merged.append(number[p])
    return tuple(merged)


def mass_matrix(model: Model, q: PerJoint, fd: Collection[int]) -> dict[tuple[int, int], Matrix]:
    """H₁₁ by its nonzero blocks: composite bodies where a joint of fd needs them (RBDA table 9.1)."""
    nu = supported(model.parents, fd)
    X, S, H = {}, {}, {}
    IC = dict(enumerate(model.I))
    for i, _, joint in model.outward():
        X[i], S[i] = joint.transform(q[i]) @ model.X_tree[i], joint.subspace(q[i])
    for i, p, _ in model.inward():
        if p in nu:
            IC[p] = IC[p] + X[i].T @ IC[i] @ X[i]
        if i in fd:
            F = IC[i] @ S[i]
            H[i, i] = S[i].T @ F + Matrix.diagonal(model.rotor[i])
            j = i
            while model.parents[j] in nu:
                F = X[j].T @ F
                j = model.parents[j]
                if j in fd:
                    H[i, j] = F.T @ S[j]
                    H[j, i] = H[i, j].T
    return H


def by_mass_matrix(
    model: Model, q: PerJoint, v: PerJoint, tau: PerJoint, a: PerJoint, f_ext: PerBody, fd: Collection[int]
) -> tuple[dict[int, Vector], dict[int, Vector]]:
    """(a, τ) of all joints by H₁₁ a₁ = τ₁ − C'₁ (RBDA 9.2, 9.3): the four steps, with the sparsity that is left."""
    order = sorted(fd)
    sizes = [len(model.rotor[i]) for i in order]
    still = {i: Vector.zero(len(rotor)) for i, rotor in enumerate(model.rotor)}
    C = rnea.inverse_dynamics(model, q, v, {i: still[i] if i in fd else a[i] for i in still}, f_ext)
    H = _dense(mass_matrix(model, q, fd), order, sizes)
    parents = expand_parents(merged_parents(model.parents, fd), sizes)
    a1 = branch_sparsity.solve(H, parents, Vector(x for i in order for x in tau[i] - C[i]))
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    found = {i: a1[s : s + n] for i, s, n in zip(order, starts, sizes, strict=True)}
    moved = rnea.inertial_force(model, q, still | found)
    return (
        {i: found.get(i, a[i]) for i in still},
        {i: tau[i] if i in fd else C[i] + moved[i] for i in still},
    )


def _dense(blocks: dict[tuple[int, int], Matrix], order: Sequence[int], sizes: Sequence[int]) -> Matrix:
    """H₁₁ as one matrix."""
    rows = []
    for i, m in zip(order, sizes, strict=True):
        row = [blocks.get((i, j), Matrix.zero(m, n)) for j, n in zip(order, sizes, strict=True)]
        rows += [[x for block in row for x in block[k]] for k in range(m)]
    return Matrix(rows, sum(sizes))


def hybrid_dynamics(
    model: Model, q: PerJoint, v: PerJoint, tau: PerJoint, a: PerJoint, f_ext: PerBody, fd: Collection[int]
) -> tuple[dict[int, Vector], dict[int, Vector]]:
    """(a, τ) of all joints by articulated bodies (RBDA table 9.3, equations 9.6-9.10; notes, algorithm 9)."""
    V, A, pA = {ROOT: model.zero_motion}, {ROOT: -model.g}, {ROOT: model.zero_force}
    IA = {ROOT: model.algebra.ArticulatedInertia.zero()}
    X, S, c, U, D, u, acceleration, force = {}, {}, {}, {}, {}, {}, {}, {}
    for i, p, joint in model.outward():
        XJ, S[i], vJ, cJ = joint.motion(q[i], v[i])
        X[i] = XJ @ model.X_tree[i]
        V[i] = X[i] @ V[p] + vJ
        c[i] = cJ + V[i].cross(vJ) if i in fd else cJ + V[i].cross(vJ) + S[i] @ a[i]
        IA[i] = model.algebra.ArticulatedInertia.of(model.I[i])
        pA[i] = V[i].cross(model.I[i] @ V[i]) - f_ext[i]
    for i, p, _ in model.inward():
        if i in fd:
            U[i] = IA[i] @ S[i]
            D[i] = (S[i].T @ U[i] + Matrix.diagonal(model.rotor[i])).inverse()
            u[i] = tau[i] - S[i].T @ pA[i]
            Ia = IA[i] - U[i].dyadic(D[i])
            pa = pA[i] + Ia @ c[i] + U[i] @ (D[i] @ u[i])
        else:
            Ia = IA[i]
            pa = pA[i] + Ia @ c[i]
        IA[p] = IA[p] + X[i].T @ Ia @ X[i]
        pA[p] = pA[p] + X[i].T @ pa
    for i, p, _ in model.outward():
        A[i] = X[i] @ A[p] + c[i]
        if i in fd:
            acceleration[i], force[i] = D[i] @ (u[i] - U[i].T @ A[i]), tau[i]
            A[i] = A[i] + S[i] @ acceleration[i]
        else:
            acceleration[i], force[i] = a[i], S[i].T @ (IA[i] @ A[i] + pA[i]) + model.rotor[i] * a[i]
    return acceleration, force
