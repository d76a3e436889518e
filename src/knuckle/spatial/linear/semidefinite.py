"""A triangular root of symmetric matrices that may be singular."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knuckle.scalar import ONE, ZERO, less, select, sqrt

from .dense import Matrix

SINGULAR = 1e-13
"""The part of an entry of the diagonal up to which what is left of it is rounding."""


def semidefinite_root(A: Sequence[Sequence[Any]]) -> Matrix:
    """L lower triangular with L Lᵀ = A, for a positive semidefinite A: columns that depend on others are zero."""
    n = len(A)
    L: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    for k in range(n):
        left = A[k][k] - sum((x * x for x in L[k][:k]), ZERO)
        if left is ZERO:
            continue
        counts = less(SINGULAR * A[k][k], left)
        root = sqrt(select(counts, left, 1.0))
        inverse = select(counts, ONE / root, 0.0)
        L[k][k] = select(counts, root, 0.0)
        for i in range(k + 1, n):
            L[i][k] = (A[i][k] - sum((x * y for x, y in zip(L[i][:k], L[k][:k], strict=True)), ZERO)) * inverse
    return Matrix(L, n)
