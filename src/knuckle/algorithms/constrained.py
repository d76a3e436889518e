"""H a + C = τ + Kᵀλ with K a = k: the equation of motion of closed loops (RBDA 8.36), and the ways to solve it."""

from __future__ import annotations

from typing import Any

from knuckle.scalar import ONE, ZERO, absolute, less, select
from knuckle.spatial import Matrix, Vector

from . import sparse

RANK = 1e-6
"""A constraint is implied by those before it when no more than this part of all is left of it.

It has to be more than the loop errors that simulation leaves: they make constraints that depend on each other look
independent, and a mechanism like Bennett's look rigid.
"""
SQUARED_RANK = 1e-12
"""The same where the squares of such parts are what is left of other squares, and rounding hides smaller ones."""


def kkt(H: Matrix, K: Matrix, k: Vector, force: Vector) -> tuple[Vector, Vector]:
    """(a, λ) from the whole symmetric system [H Kᵀ; K 0] (a, −λ) = (τ − C, k) (RBDA method 1, 8.36)."""
    n, m = H.nrows, K.nrows
    rows = [[*h, *(row[i] for row in K.rows)] for i, h in enumerate(H.rows)]
    x = solve_symmetric(Matrix([*rows, *([*row, *[ZERO] * m] for row in K.rows)], n + m), Vector([*force, *k]))
    return x[:n], -x[n:]


def multipliers(H: Matrix, parents: sparse.Parents, K: Matrix, k: Vector, force: Vector) -> tuple[Vector, Vector]:
    """(a, λ) by A λ = b with A = K H⁻¹ Kᵀ (RBDA method 2, 8.37-8.41), one constraint after the other.

    H = LᵀDL with the sparsity of the tree, Y = L⁻ᵀKᵀ, and a = L⁻¹D⁻¹t with t = L⁻ᵀ(τ − C) + Y λ. Orthogonal parts q of
    the columns of Y stand for the factor of A = YᵀD⁻¹Y: t is corrected along each, and no condition is squared.
    """
    L, D = sparse.ltdl(H, parents)
    inverse = Vector(ONE / d for d in D)
    t = sparse.solve_transposed(L, parents, force)
    Y = [sparse.solve_transposed(L, parents, Vector(row)) for row in K.rows]
    least = RANK * RANK * sum(((y * inverse) @ y for y in Y), ZERO)
    found: list[tuple[Vector, Vector, Any, Any, list[Any]]] = []
    for y, wanted in zip(Y, k, strict=True):
        q, ratios = y, []
        for other, weighted, _, reciprocal, _ in found:
            ratios.append((weighted @ q) * reciprocal)
            q = q - ratios[-1] * other
        weighted = q * inverse
        kept, reciprocal = _inverse(weighted @ q, least)
        c = select(kept, (wanted - (y * inverse) @ t) * reciprocal, ZERO)
        t = t + c * q
        found.append((q, weighted, c, reciprocal, ratios))
    lam: list[Any] = []
    for j in reversed(range(len(found))):
        _, _, c, reciprocal, _ = found[j]
        rest = c - sum((found[i][4][j] * x for i, x in zip(range(len(found) - 1, j, -1), lam, strict=True)), ZERO)
        lam.append(select(less(ZERO, reciprocal), rest, ZERO))
    return sparse.solve_lower(L, parents, t * inverse), Vector(reversed(lam))


def least_norm(K: Matrix, lam: Vector) -> Vector:
    """The λ with the same Kᵀλ and the least norm: its part in the range of K, by orthogonal parts of the columns."""
    found: list[tuple[Vector, Any]] = []
    projected = Vector.zero(K.nrows)
    least = RANK * RANK * sum((x * x for row in K.rows for x in row), ZERO)
    for j in range(K.ncols):
        q = K.column(j)
        for other, reciprocal in found:
            q = q - ((other @ q) * reciprocal) * other
        _, reciprocal = _inverse(q @ q, least)
        projected = projected + ((q @ (lam - projected)) * reciprocal) * q
        found.append((q, reciprocal))
    return projected


def _inverse(x: Any, least: Any) -> tuple[Any, Any]:
    """Whether x is more than `least`, and 1/x if so, else zero."""
    kept = less(least, x)
    return kept, select(kept, ONE / select(kept, x, ONE), ZERO)


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
