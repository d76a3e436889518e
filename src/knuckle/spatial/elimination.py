"""Linear equations without symmetry, over scalars of any kind."""

from __future__ import annotations

from knuckle.scalar import ZERO

from .dense import Matrix, Vector


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
