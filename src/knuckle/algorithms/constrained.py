"""H a + C = τ + Kᵀλ with K a = k: the equation of motion of closed loops (RBDA 8.36), and the ways to solve it."""

from __future__ import annotations

from typing import Any

from knuckle.scalar import ONE, ZERO, absolute, less, select
from knuckle.spatial import Matrix, Vector

from . import sparse
from .orthogonal import RANK, least_norm, orthogonal

__all__ = [
    "RANK",
    "SQUARED_RANK",
    "kkt",
    "least_norm",
    "multipliers",
    "orthogonal",
    "reduced",
    "solve_consistent",
    "solve_symmetric",
]

SQUARED_RANK = RANK * RANK
"""`RANK` where the squares of such parts are what is left of other squares, and rounding hides smaller ones."""


def kkt(H: Matrix, K: Matrix, k: Vector, force: Vector) -> tuple[Vector, Vector]:
    """(a, λ) from the whole symmetric system [H Kᵀ; K 0] (a, −λ) = (τ − C, k) (RBDA method 1, 8.36)."""
    n, m = H.nrows, K.nrows
    rows = [[*h, *(row[i] for row in K.rows)] for i, h in enumerate(H.rows)]
    x = solve_symmetric(Matrix([*rows, *([*row, *[ZERO] * m] for row in K.rows)], n + m), Vector([*force, *k]))
    return x[:n], -x[n:]


def multipliers(
    H: Matrix, parents: sparse.Parents, K: Matrix, k: Vector, force: Vector, *, redundant: bool = False
) -> tuple[Vector, Vector]:
    """(a, λ) by A λ = b with A = K H⁻¹ Kᵀ (RBDA method 2, 8.37-8.41), one constraint after the other."""
    return orthogonal(H, parents, K, redundant=redundant).response(k, force)


def reduced(H: Matrix, G: Matrix, g: Vector, force: Vector) -> Vector:
    """a = G ÿ + g with GᵀHG ÿ = Gᵀ(τ − C − H g) (RBDA method 3, 8.42-8.46)."""
    HG = H @ G
    return G @ (G.T @ HG).solve(G.T @ (force - H @ g)) + g


def solve_symmetric(A: Matrix, b: Vector) -> Vector:
    """An x with A x = b, for b in the range of A: semidefinite, or a definite block followed by semidefinite ones.

    LDLᵀ in the order given. Where next to nothing of a diagonal entry is left, its row depends on those before it: what
    remains of the row is rounding, and x is zero there.
    """
    n = A.nrows
    L: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    D: list[Any] = []
    inverse: list[Any] = []
    kept: list[Any] = []
    for j in range(n):
        taken = [L[j][m] * L[j][m] * D[m] for m in range(j)]
        left = A[j][j] - sum(taken, ZERO)
        size = absolute(A[j][j]) + sum(map(absolute, taken), ZERO)
        kept.append(less(SQUARED_RANK * size, absolute(left)))
        D.append(select(kept[j], left, ZERO))
        inverse.append(select(kept[j], ONE / select(kept[j], left, ONE), ZERO))
        for i in range(j + 1, n):
            L[i][j] = (A[i][j] - sum((L[i][m] * L[j][m] * D[m] for m in range(j)), ZERO)) * inverse[j]
    x = list(b)
    for i in range(n):
        x[i] = x[i] - sum((L[i][j] * x[j] for j in range(i)), ZERO)
    x = [x[i] * inverse[i] for i in range(n)]
    for i in reversed(range(n)):
        x[i] = select(kept[i], x[i] - sum((L[j][i] * x[j] for j in range(i + 1, n)), ZERO), ZERO)
    return Vector(x)


def solve_consistent(A: Matrix, b: Vector) -> Vector:
    """An x with A x = b, for b in the range of A, whose symmetric part is semidefinite: A need not be symmetric.

    L U in the order given, with rows that depend on those before them left out as in `solve_symmetric`.
    """
    n = A.nrows
    L: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    U: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    inverse: list[Any] = []
    for j in range(n):
        taken = [L[j][m] * U[m][j] for m in range(j)]
        left = A[j][j] - sum(taken, ZERO)
        kept = less(SQUARED_RANK * (absolute(A[j][j]) + sum(map(absolute, taken), ZERO)), absolute(left))
        inverse.append(select(kept, ONE / select(kept, left, ONE), ZERO))
        for i in range(j + 1, n):
            U[j][i] = select(kept, A[j][i] - sum((L[j][m] * U[m][i] for m in range(j)), ZERO), ZERO)
            L[i][j] = (A[i][j] - sum((L[i][m] * U[m][j] for m in range(j)), ZERO)) * inverse[j]
    x = list(b)
    for i in range(n):
        x[i] = x[i] - sum((L[i][j] * x[j] for j in range(i)), ZERO)
    for i in reversed(range(n)):
        x[i] = (x[i] - sum((U[i][j] * x[j] for j in range(i + 1, n)), ZERO)) * inverse[i]
    return Vector(x)
