"""Small linear equations without symmetry, with pivots that are chosen without branches."""

from __future__ import annotations

from typing import Any

import numpy as np

from knuckle.scalar.elementary import absolute, less, select
from knuckle.scalar.structural import ONE, ZERO

MOST = 16
"""Unknowns whose operations stand in a row."""
INSTEAD = (
    f"equations of {MOST} unknowns at most; kn.forward_dynamics, kn.constraints and, for a positive definite A, "
    "knuckle.spatial.linear.elimination.solve(A, b) know larger ones"
)


def solve(A: Any, b: Any) -> Any:
    """x with A x = b, for one right-hand side or a column for each; NaN or infinite where A is singular."""
    if b.ndim not in (1, 2) or len(b) != len(A):
        raise ValueError(f"np.linalg.solve: a right-hand side of shape {b.shape} does not fit {len(A)} equations")
    rows, _ = _eliminated([[*row, *right] for row, right in zip(A, b.reshape(len(b), -1), strict=True)])
    n, x = len(rows), list[list[Any]]()
    for k in reversed(range(n)):
        known = rows[k][n:]
        for entry, later in zip(rows[k][k + 1 : n], x, strict=True):
            known = [r - entry * s for r, s in zip(known, later, strict=True)]
        x.insert(0, [r / rows[k][k] for r in known])
    result = np.empty((n, b.size // max(1, n)), object)
    for k, row in enumerate(x):
        result[k, :] = row
    return result.reshape(b.shape)


def inv(A: Any) -> Any:
    """The inverse of a matrix."""
    unit = np.full(A.shape, ZERO, object)
    np.fill_diagonal(unit, ONE)
    return solve(A, unit)


def det(A: Any) -> Any:
    """The determinant of a matrix."""
    rows, sign = _eliminated([list(row) for row in A])
    product: Any = sign
    for k, row in enumerate(rows):
        product = product * row[k]
    return product


def _eliminated(rows: list[list[Any]]) -> tuple[list[list[Any]], Any]:
    """Rows without entries below the diagonal, and the sign of their order.

    The largest entry of a column comes up by exchanges of two rows at a time.
    """
    sign: Any = 1.0
    for k in range(len(rows)):
        for i in range(k + 1, len(rows)):
            if rows[i][k] is ZERO:
                continue
            larger = less(absolute(rows[k][k]), absolute(rows[i][k]))
            pairs = list(zip(rows[k], rows[i], strict=True))
            rows[k] = [*rows[k][:k], *(select(larger, y, x) for x, y in pairs[k:])]
            rows[i] = [*rows[i][:k], *(select(larger, x, y) for x, y in pairs[k:])]
            sign = select(larger, -sign, sign)
        for i in range(k + 1, len(rows)):
            if rows[i][k] is ZERO:
                continue
            factor = rows[i][k] / rows[k][k]
            rest = (x - factor * y for x, y in zip(rows[i][k + 1 :], rows[k][k + 1 :], strict=True))
            rows[i] = [*rows[i][:k], ZERO, *rest]
    return rows, sign
