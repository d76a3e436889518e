"""Branch-induced sparsity: factorisations and products that never touch a zero (RBDA 6.3-6.5).

Matrices are square, by rows; `parents` is the expanded parent array λ' of the variables (−1 for none): row k has
entries only in the columns k, λ'(k), λ'(λ'(k)), …. Only the lower triangle is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from knuckle.scalar import ONE, ZERO, sqrt
from knuckle.spatial import Matrix, Vector

Parents = Sequence[int]
Divided = Callable[[list[Any], Any], list[Any]]
"""Numbers divided by another."""


def each(x: list[Any], d: Any) -> list[Any]:
    """x/d, as the tables count it."""
    return [a / d for a in x]


def by_inverse(x: list[Any], d: Any) -> list[Any]:
    """x/d by products: a division takes the time of many of them."""
    inverse = ONE / d
    return [a * inverse for a in x]


def _up(parents: Parents, i: int) -> Iterator[int]:
    """The ancestors of i, nearest first."""
    i = parents[i]
    while i >= 0:
        yield i
        i = parents[i]


def ltl(H: Matrix, parents: Parents) -> Matrix:
    """L with H = LᵀL (RBDA table 6.3, left): lower triangular, with the pattern of H and no fill-in."""
    L = [list(row) for row in H.rows]
    for k in reversed(range(len(L))):
        L[k][k] = sqrt(L[k][k])
        for i in _up(parents, k):
            L[k][i] = L[k][i] / L[k][k]
        for i in _up(parents, k):
            for j in (i, *_up(parents, i)):
                L[i][j] = L[i][j] - L[k][i] * L[k][j]
    return _lower(L, parents)


def ltdl(H: Matrix, parents: Parents, divided: Divided = each) -> tuple[Matrix, Vector]:
    """L unit lower triangular and D with H = LᵀDL (RBDA table 6.3, right)."""
    L = [list(row) for row in H.rows]
    for k in reversed(range(len(L))):
        above = [*_up(parents, k)]
        parts = divided([L[k][i] for i in above], L[k][k])
        for i, a in zip(above, parts, strict=True):
            for j in (i, *_up(parents, i)):
                L[i][j] = L[i][j] - a * L[k][j]
            L[k][i] = a
    D = Vector(row[k] for k, row in enumerate(L))
    for k, row in enumerate(L):
        row[k] = ONE
    return _lower(L, parents), D


def _lower(L: list[list[Any]], parents: Parents) -> Matrix:
    keep = [{k, *_up(parents, k)} for k in range(len(L))]
    return Matrix(([x if j in keep[k] else ZERO for j, x in enumerate(row)] for k, row in enumerate(L)), len(L))


def multiply(L: Matrix, parents: Parents, x: Vector) -> Vector:
    """L x (RBDA table 6.5)."""
    return Vector(L[i][i] * x[i] + sum((L[i][j] * x[j] for j in _up(parents, i)), ZERO) for i in range(L.nrows))


def multiply_transposed(L: Matrix, parents: Parents, x: Vector) -> Vector:
    """Lᵀ x (RBDA table 6.5)."""
    y: list[Any] = [ZERO] * len(x)
    for i in range(len(x)):
        y[i] = y[i] + L[i][i] * x[i]
        for j in _up(parents, i):
            y[j] = y[j] + L[i][j] * x[i]
    return Vector(y)


def solve_lower(L: Matrix, parents: Parents, x: Vector) -> Vector:
    """L⁻¹ x (RBDA table 6.5)."""
    y = list(x)
    for i in range(len(y)):
        y[i] = (y[i] - sum((L[i][j] * y[j] for j in _up(parents, i)), ZERO)) / L[i][i]
    return Vector(y)


def solve_transposed(L: Matrix, parents: Parents, x: Vector) -> Vector:
    """L⁻ᵀ x (RBDA table 6.5)."""
    y = list(x)
    for i in reversed(range(len(y))):
        y[i] = y[i] / L[i][i]
        for j in _up(parents, i):
            y[j] = y[j] - L[i][j] * y[i]
    return Vector(y)


def multiply_symmetric(H: Matrix, parents: Parents, x: Vector) -> Vector:
    """H x from the lower triangle of H (RBDA table 6.5)."""
    y = [H[i][i] * x[i] for i in range(len(x))]
    for i in reversed(range(len(x))):
        for j in _up(parents, i):
            y[i] = y[i] + H[i][j] * x[j]
            y[j] = y[j] + H[i][j] * x[i]
    return Vector(y)


def solver(H: Matrix, parents: Parents, divided: Divided = each) -> Callable[[Vector], Vector]:
    """What gives x with H x = b by LTDL: L⁻ᵀ, then D, then L⁻¹ (RBDA 6.5)."""
    L, D = ltdl(H, parents, divided)

    def solve(b: Vector) -> Vector:
        y = solve_transposed(L, parents, b)
        scaled = (divided([a], d)[0] for a, d in zip(y, D, strict=True))
        return solve_lower(L, parents, Vector(scaled))

    return solve


def solve(H: Matrix, parents: Parents, b: Vector, divided: Divided = each) -> Vector:
    """x with H x = b by LTDL."""
    return solver(H, parents, divided)(b)


class Cost(NamedTuple):
    """Operation counts of the sparse factorisation (RBDA 6.26-6.29)."""

    D1: int
    D2: int
    nonzeros: int
    density: float


def cost(parents: Parents) -> Cost:
    """D1 = Σ(d−1), D2 = Σ d(d−1)/2 over the depths of the variables, and how much of H is not zero."""
    depths = [1 + sum(1 for _ in _up(parents, k)) for k in range(len(parents))]
    D1, D2, n = sum(d - 1 for d in depths), sum(d * (d - 1) // 2 for d in depths), len(parents)
    return Cost(D1, D2, n + 2 * D1, (n + 2 * D1) / (n * n) if n else 0.0)
