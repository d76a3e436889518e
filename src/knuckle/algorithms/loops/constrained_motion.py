"""H a + C = τ + Kᵀλ with K a = k: the equation of motion of closed loops (RBDA 8.36), and the ways to solve it."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.dynamics import branch_sparsity
from knuckle.scalar import ONE, ZERO, select
from knuckle.spatial import Matrix, Vector
from knuckle.spatial.linear.elimination import solve

from .constraint_rank import Constraints, ReducedRow, parts
from .orthogonal_constraints import least_norm, nearest, of_rows, orthogonal

__all__ = ["kkt", "least_norm", "multipliers", "orthogonal", "reduced", "solve_with"]


FEW = 6
"""Rows of one joint at most: what is nearest to a k that no motion has costs the cube of their number."""


def kkt(H: Matrix, rows: Constraints, k: Vector, force: Vector, *, redundant: bool = False) -> tuple[Vector, Vector]:
    """(a, λ) from the whole symmetric system [H Qᵀ; Q 0] (a, −μ) = (τ − C, κ) (RBDA method 1, 8.36).

    The rows of Q are those of K made orthogonal, so that the Schur complement has the condition of H and not the square
    of that of K; Q a = κ is K a = k.
    """
    found = _independent(H, rows, redundant)
    for group in rows.groups:
        k = nearest(found, k, group)
    n, m = H.nrows, len(found)
    Q, kappa = [part.q for part in found], _along(found, k)
    top = [[*h, *(q[i] for q in Q)] for i, h in enumerate(H.rows)]
    whole = Matrix([*top, *([*q, *[ZERO] * m] for q in Q)], n + m)
    x = _solve_symmetric(whole, Vector([*force, *kappa]), [part.kept for part in found])
    return x[:n], of_rows(found, list(-x[n:]), rows.K.nrows)


def multipliers(
    H: Matrix, parents: branch_sparsity.Parents, rows: Constraints, k: Vector, force: Vector, *, redundant: bool = False
) -> tuple[Vector, Vector]:
    """(a, λ) by A λ = b with A = K H⁻¹ Kᵀ (RBDA method 2, 8.37-8.41), one constraint after the other."""
    made = orthogonal(H, parents, rows, redundant=redundant)
    for group in rows.groups:
        k = nearest(made.parts, k, group) if len(group) <= FEW else k
    return made.response(k, force)


def reduced(H: Matrix, G: Matrix, g: Vector, force: Vector) -> Vector:
    """a = G ÿ + g with GᵀHG ÿ = Gᵀ(τ − C − H g) (RBDA method 3, 8.42-8.46)."""
    HG = H @ G
    return G @ (G.T @ HG).solve(G.T @ (force - H @ g)) + g


def solve_with(A: Matrix, rows: Constraints, k: Vector, force: Vector, *, redundant: bool = False) -> Vector:
    """x with A x = f + Kᵀλ and K x = k, for any A with a positive definite symmetric part."""
    found = _independent(A, rows, redundant)
    Q = Matrix((part.q for part in found), A.nrows)
    x = solve(A, force)
    toward = Matrix.columns([solve(A, Vector(q)) for q in Q.rows], A.nrows)
    return x + toward @ _solve_kept(Q @ toward, _along(found, k) - Q @ x, [part.kept for part in found])


def _independent(H: Matrix, rows: Constraints, redundant: bool) -> list[ReducedRow]:
    """K made orthogonal, every variable being measured by its own inertia."""
    weights = Vector(ONE / H[j][j] for j in range(H.nrows))
    K, size = (list(map(Vector, M.rows)) for M in (rows.K, rows.size))
    sizes = [(s * weights) @ s for s in size]
    return parts(K, weights, sizes, rows.doubt, redundant)


def _along(found: list[ReducedRow], k: Vector) -> Vector:
    """κ with Q a = κ where K a = k."""
    kappa: list[Any] = []
    for part in found:
        rest = k[part.row] - sum((r * x for r, x in zip(part.ratios, kappa, strict=True)), ZERO)
        kappa.append(select(part.kept, rest, ZERO))
    return Vector(kappa)


def _solve_symmetric(A: Matrix, b: Vector, kept: list[Any]) -> Vector:
    """x with A x = b for a definite block followed by zeros: LDLᵀ in the order given.

    `kept` says which of the last rows count; x is zero in the others.
    """
    n = A.nrows
    first = n - len(kept)
    L: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    D: list[Any] = []
    inverse: list[Any] = []
    for j in range(n):
        left = A[j][j] - sum((L[j][m] * L[j][m] * D[m] for m in range(j)), ZERO)
        D.append(left if j < first else select(kept[j - first], left, ZERO))
        inverse.append(ONE / left if j < first else _reciprocal(kept[j - first], left))
        for i in range(j + 1, n):
            L[i][j] = (A[i][j] - sum((L[i][m] * L[j][m] * D[m] for m in range(j)), ZERO)) * inverse[j]
    x = list(b)
    for i in range(n):
        x[i] = x[i] - sum((L[i][j] * x[j] for j in range(i)), ZERO)
    x = [x[i] * inverse[i] for i in range(n)]
    for i in reversed(range(n)):
        x[i] = x[i] - sum((L[j][i] * x[j] for j in range(i + 1, n)), ZERO)
        x[i] = x[i] if i < first else select(kept[i - first], x[i], ZERO)
    return Vector(x)


def _solve_kept(A: Matrix, b: Vector, kept: list[Any]) -> Vector:
    """x with A x = b in the rows that are kept, and zero in the others: L U in the order given."""
    n = A.nrows
    L: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    U: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    inverse: list[Any] = []
    for j in range(n):
        inverse.append(_reciprocal(kept[j], A[j][j] - sum((L[j][m] * U[m][j] for m in range(j)), ZERO)))
        for i in range(j + 1, n):
            U[j][i] = select(kept[j], A[j][i] - sum((L[j][m] * U[m][i] for m in range(j)), ZERO), ZERO)
            L[i][j] = (A[i][j] - sum((L[i][m] * U[m][j] for m in range(j)), ZERO)) * inverse[j]
    x = list(b)
    for i in range(n):
        x[i] = x[i] - sum((L[i][j] * x[j] for j in range(i)), ZERO)
    for i in reversed(range(n)):
        x[i] = (x[i] - sum((U[i][j] * x[j] for j in range(i + 1, n)), ZERO)) * inverse[i]
    return Vector(x)


def _reciprocal(kept: Any, x: Any) -> Any:
    return select(kept, ONE / select(kept, x, ONE), ZERO)
