"""Jacobians by dual numbers, and linear equations, over scalars of any kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knuckle.scalar import ONE, ZERO, Dual
from knuckle.spatial import Matrix, Vector


def along(x: Vector, direction: Vector) -> Vector:
    """x with a direction: what is computed of it carries its derivative."""
    return Vector(Dual(a, d) for a, d in zip(x, direction, strict=True))


def derivative_of(y: Vector) -> Vector:
    """The derivative that y carries."""
    return Vector(a.derivative if isinstance(a, Dual) else ZERO for a in y)


def jacobian(f: Callable[[Vector], Vector], x: Vector) -> Matrix:
    """∂f/∂x, column by column."""
    n = len(x)
    units = (Vector(ONE if i == k else ZERO for i in range(n)) for k in range(n))
    columns = [derivative_of(f(along(x, e))) for e in units]
    return Matrix.columns(columns, len(columns[0]) if columns else 0)


def solve(A: Matrix, b: Vector) -> Vector:
    """x with A x = b, eliminating from the last row to the first without pivots.

    On matrices with the sparsity of a kinematic tree, as H and what joints add to it, this order fills nothing in (RBDA
    6.3). It needs no pivots where A has a positive definite symmetric part.
    """
    n = A.nrows
    rows, x = [list(row) for row in A.rows], list(b)
    for k in reversed(range(n)):
        for i in range(k):
            if rows[i][k] is not ZERO:
                factor = rows[i][k] / rows[k][k]
                x[i] = x[i] - factor * x[k]
                rows[i][:k] = [a - factor * p for a, p in zip(rows[i][:k], rows[k][:k], strict=True)]
    for k in range(n):
        x[k] = (x[k] - sum((rows[k][j] * x[j] for j in range(k)), ZERO)) / rows[k][k]
    return Vector(x)
