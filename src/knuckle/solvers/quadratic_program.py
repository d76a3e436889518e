"""The quadratic program of constrained dynamics: the least deviation that constraints allow (notes 2.101, 2.123).

With H = L Lᵀ and y = Lᵀ(a − a*), Gauss's principle asks for the least |y|² with B y = c and B y ≥ c, B = J L⁻ᵀ. So
nothing of the mass matrix is left, and what a solver gets are rows of length one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.loops.constraint_rank import RANK, ROUNDING

from .numeric_rank import Factor
from .qp_packages import Solver

Array: TypeAlias = NDArray[Any]
Status = Literal["solved", "infeasible", "inaccurate", "undefined"]

TOLERANCE = 1e-8
"""Rows of length one are tight when they miss by no more than this part of the sizes in them."""
MOST = 1e-6
"""What they may miss by, and count as kept."""
MARGINS = (1e-11, 1e-8)
"""What a solver may leave of each row, tried in turn: what meets in one point meets in none after rounding."""
SOFT = 1e-4
"""How much a row of length one yields, against the variables, where constraints contradict each other."""


@dataclass(frozen=True)
class LeastDistance:
    """The least y, the multipliers with y = Bᵀλ, which rows are tight, and what became of it."""

    y: Array
    multipliers: Array
    tight: NDArray[np.bool_]
    status: Status


def least_distance(
    B: Array, c: Array, equalities: int, solver: Solver, scale: Array | None = None, doubt: float = ROUNDING
) -> LeastDistance:
    """The least |y| with B y = c in the first rows and B y ≥ c in the others.

    Rows that contradict each other are kept as well as can be, equalities first: the status says so, and nothing is
    infinite. Of rows whose terms have the sizes `scale` (m,), the part `doubt` says nothing (`constraint_rank`); rows
    are their own terms if none are given.
    """
    size = np.linalg.norm(B, axis=1)
    terms: Array = size if scale is None else scale
    alive: NDArray[np.bool_] = size > doubt * terms
    length = np.where(alive, size, 1.0)
    unit, wanted = np.where(alive[:, None], B, 0.0) / length[:, None], c / length
    held, others, least = unit[:equalities], unit[equalities:], wanted[equalities:]
    factor = Factor(held, (terms / length)[:equalities], np.array(doubt))
    y, basis = factor.least(wanted[:equalities]), factor.basis
    mu, contradicted = _unequal(others - (others @ basis.T) @ basis, least - others @ y, solver)
    push = others.T @ mu
    y = y + push - basis.T @ (basis @ push)
    lam = np.concatenate([factor.multipliers(y - push), mu])
    miss, sizes = unit @ y - wanted, 1 + np.abs(wanted) + np.abs(unit) @ np.abs(y)
    tight = np.abs(miss) <= TOLERANCE * sizes
    tight[:equalities] = True
    wrong = np.where(np.arange(len(c)) < equalities, np.abs(miss), -miss) > MOST * sizes
    infeasible = contradicted or bool(wrong[:equalities].any())
    status: Status = "infeasible" if infeasible else "inaccurate" if wrong.any() else "solved"
    return LeastDistance(y, lam / length, tight, status)


def _unequal(A: Array, b: Array, solver: Solver) -> tuple[Array, bool]:
    """The multipliers of the inequalities, and whether they contradict each other or the equalities."""
    size = np.linalg.norm(A, axis=1)
    free = size > RANK
    mu = np.zeros(len(b))
    contradicted = bool((b[~free] > MOST * (1 + np.abs(b[~free]))).any())
    rows, least = A[free] / size[free, None], b[free] / size[free]
    if not (least > 0).any():
        return mu, contradicted
    found = None
    for margin in MARGINS:
        found = solver(rows, least - margin * (1 + np.abs(least))) if found is None else found
    if found is None:
        contradicted = True
        rows = np.hstack([rows, SOFT * np.eye(len(rows))])
        found = solver(rows, least)
        if found is None:
            raise RuntimeError("the solver finds no solution of a problem that has one")
    mu[free] = _polished(rows, least, np.maximum(found, 0.0)) / size[free]
    return mu, contradicted


def _polished(A: Array, b: Array, mu: Array) -> Array:
    """The multipliers again, from the rows that push, if that is no worse: a solver's tolerance becomes rounding."""
    pushing = mu > 1e-9 * mu.max(initial=0.0)
    if not pushing.any():
        return mu
    better = np.zeros_like(mu)
    inverse = np.linalg.pinv(A[pushing], rcond=RANK)
    better[pushing] = inverse.T @ (inverse @ b[pushing])
    if better.min() < 0:
        return mu
    misses = [np.max(b - A @ (A.T @ x), initial=0.0) for x in (better, mu)]
    return better if misses[0] <= max(misses[1], MARGINS[0]) else mu
