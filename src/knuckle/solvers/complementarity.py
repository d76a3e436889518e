"""Forces between bounds that oppose motion: box-constrained complementarity."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ConvergenceError

Array: TypeAlias = NDArray[Any]

TOGETHER, PIVOTS = 20, 10_000
"""Rounds in which all wrong entries change at once, and after that one by one: that always ends, but for rounding."""


def boxed(A: Array, b: Array, lower: Array, upper: Array) -> Array:
    """x between bounds, with w = A x + b zero within them, w ≥ 0 at the lower and w ≤ 0 at the upper bound.

    A is symmetric and positive definite: entries are at a bound or free, and wrong ones change their side until none is
    wrong (block pivoting, and Murty's least index where that goes in circles). Constraints that say the same make A
    singular: a part of 1e-14 on its diagonal chooses among the solutions.
    """
    n = len(b)
    M = A + 1e-14 * np.max(np.diag(A), initial=0.0) * np.eye(n)
    side, x = np.zeros(n, int), np.zeros(n)
    side[lower == 0] = -1  # what only pushes begins with no force
    for turn in range(TOGETHER + PIVOTS):
        x = np.where(side < 0, lower, np.where(side > 0, upper, 0.0))
        free = side == 0
        if free.any():
            x[free] = np.linalg.solve(M[np.ix_(free, free)], -(b[free] + M[np.ix_(free, ~free)] @ x[~free]))
        w = M @ x + b
        small = 1e-12 * (np.abs(b) + np.abs(M) @ np.abs(x))
        new = np.where(free, np.where(x > upper, 1, np.where(x < lower, -1, 0)), side)
        new[(side < 0) & (w < -small)] = 0
        new[(side > 0) & (w > small)] = 0
        wrong = np.flatnonzero(new != side)
        if not len(wrong):
            return np.clip(x, lower, upper)
        which = wrong if turn < TOGETHER else wrong[:1]
        side[which] = new[which]
    raise ConvergenceError(f"{n} forces between bounds were not found by {PIVOTS} pivots")
