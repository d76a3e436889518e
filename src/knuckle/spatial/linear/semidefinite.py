"""The inverse of symmetric matrices that may be singular."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knuckle.scalar import ONE, ZERO, less, select
from knuckle.scalar.arrays.dense import Matrix

SINGULAR, LEAST = 1e-9, 1e-7
"""The part of an entry of the diagonal up to which what is left of it counts as nothing, and what is taken for it then:
of less, the inverse would be lost in rounding."""
NOTHING = 1e-13
"""What is taken for an entry of the diagonal that is zero."""


def semidefinite_inverse(A: Sequence[Sequence[Any]]) -> Matrix:
    """The inverse of a positive semidefinite matrix, very large where that is singular: A = L D Lᵀ with a D above zero.

    As the stiffness that belongs to a response: what does not respond is as good as rigid.
    """
    n = len(A)
    L: list[list[Any]] = [[ONE if i == k else ZERO for k in range(n)] for i in range(n)]
    LD: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    inverse: list[Any] = []
    for k in range(n):
        left = A[k][k] - sum((L[k][j] * LD[k][j] for j in range(k)), ZERO)
        responds, least = less(SINGULAR * A[k][k], left), select(less(0.0, A[k][k]), LEAST * A[k][k], NOTHING)
        inverse.append(1 / select(responds, left, least))
        for i in range(k + 1, n):
            LD[i][k] = A[i][k] - sum((LD[i][j] * L[k][j] for j in range(k)), ZERO)
            L[i][k] = select(responds, LD[i][k] * inverse[k], 0.0)
    back: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    for k in range(n):
        for i in range(k, n):
            back[i][k] = ONE if i == k else -sum((L[i][j] * back[j][k] for j in range(k, i)), ZERO)
    scaled = [[x * inverse[i] for x in row] for i, row in enumerate(back)]
    found: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    for i in range(n):
        for k in range(i + 1):
            found[i][k] = found[k][i] = sum((scaled[j][i] * back[j][k] for j in range(i, n)), ZERO)
    return Matrix(found, n)
