"""The deviation from free motion that constraints ask for: by matrices, by solves in O(n), or by products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.functions.dynamics import mass_matrix, mass_matrix_inverse_product
from knuckle.model import Model
from knuckle.solvers.conjugate_gradients import bounded_gradients
from knuckle.solvers.numeric_rank import Judged
from knuckle.solvers.qp_packages import solver_named
from knuckle.solvers.quadratic_program import MOST, Status, least_distance

from .constraint_rows import Rows, tree_of
from .constraint_terms import whitened_force

Array: TypeAlias = NDArray[Any]
Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class SolveOptions:
    """How to solve it."""

    method: str
    solver: str

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method is {' or '.join(map(repr, METHODS))}, not {self.method!r}")
        solver_named(self.solver)


class Solution(NamedTuple):
    """For a batch: accelerations or velocities, multipliers, tight rows, statuses, the most that a row misses."""

    x: Array
    multipliers: Array
    active: Flags
    status: Array
    violation: Array


class _Found(NamedTuple):
    """For one state: the change of x, the multipliers, and what became of it."""

    change: Array
    multipliers: Array
    status: Status


def solve(
    options: SolveOptions, model: Model, q: Array, rows: Rows, free: Array, targets: Array, acts: Flags
) -> Solution:
    """x with the least ½ (x − free)ᵀ H (x − free), and J x = k or J x ≥ k in the rows that act."""
    states, m = targets.shape
    tree = tree_of(model)
    H = np.asarray(mass_matrix(tree, q), float) if options.method == "dense" else None
    x, lam, status = free.copy(), np.zeros((states, m)), np.full(states, "solved", dtype="<U10")
    for s in range(states):
        if not (np.isfinite(free[s]).all() and np.isfinite(targets[s]).all()):
            x[s], lam[s], status[s] = np.nan, np.nan, "undefined"
            continue
        order = np.flatnonzero(acts[s])
        order = order[np.argsort(~rows.equality[order], kind="stable")]
        if not len(order):
            continue
        equalities = int(rows.equality[order].sum())
        here = rows.at(s)
        miss = (targets[s] - here.product(free[s]))[order]
        if options.method == "dense":
            solution = _dense(here, H[s], order, miss, equalities, options)  # type: ignore[index]
        else:
            solution = METHODS[options.method](tree, here, order, miss, equalities, options)
        x[s], lam[s, order], status[s] = free[s] + solution.change, solution.multipliers, solution.status
    off = rows.product(x) - targets
    size = 1 + np.abs(targets) + np.abs(off)
    active = acts & (rows.equality | (np.abs(off) <= MOST * size))
    misses = np.where(acts, np.where(rows.equality, np.abs(off), np.maximum(-off, 0.0)), 0.0)
    return Solution(x, lam, active, status, misses.max(axis=1, initial=0.0))


def _dense(rows: Rows, H: Array, order: Array, miss: Array, equalities: int, options: SolveOptions) -> _Found:
    """By the mass matrix: y = Lᵀ(x − free) (notes 2.101, 2.121)."""
    L, J = np.linalg.cholesky(H), rows.G[order]
    judged = _judged(rows, order, J)
    B, scale = judged.through(np.linalg.solve(L, J.T).T)
    nearest = least_distance(B, miss, equalities, solver_named(options.solver), scale, float(judged.doubt))
    return _Found(np.linalg.solve(L.T, nearest.y), _least(judged, nearest.multipliers, equalities), nearest.status)


def _dual(tree: Model, rows: Rows, order: Array, miss: Array, equalities: int, options: SolveOptions) -> _Found:
    """By J H⁻¹ Jᵀ from a product and two solves for each row (notes 2.119, 2.123): B is a root of it."""
    J = rows.transposed(np.eye(len(rows.equality))[order])
    Y, judged = np.asarray(mass_matrix_inverse_product(tree, rows.q, J), float), _judged(rows, order, J)
    B, scale = judged.through(np.asarray(whitened_force(tree, rows.q, J), float))
    nearest = least_distance(B, miss, equalities, solver_named(options.solver), scale, float(judged.doubt))
    lam = _least(judged, nearest.multipliers, equalities)
    return _Found(lam @ Y, lam, nearest.status)


def _iterative(tree: Model, rows: Rows, order: Array, miss: Array, equalities: int, way: SolveOptions) -> _Found:
    """By products with J, H⁻¹ and Jᵀ only, each in O(n) (notes 2.123); of rows that say nothing there is no part."""
    judged = _judged(rows, order, rows.transposed(np.eye(len(rows.equality))[order]))
    says = np.linalg.norm(judged.K, axis=1) > judged.doubt * judged.scale

    def change(lam: Array) -> Array:
        all_of_them = np.zeros(len(rows.equality))
        all_of_them[order] = np.where(says, lam, 0.0)
        return np.asarray(mass_matrix_inverse_product(tree, rows.q, rows.transposed(all_of_them)), float)

    def product(lam: Array) -> Array:
        return np.where(says, rows.product(change(lam))[order], 0.0)

    bounded = np.arange(len(order)) >= equalities
    multipliers = bounded_gradients(product, np.where(says, miss, 0.0), bounded)
    unmet = np.where(bounded, miss, np.abs(miss))[~says] > MOST
    bottomless = multipliers.bottomless or bool(unmet.any())
    status: Status = "infeasible" if bottomless else "solved" if multipliers.converged else "inaccurate"
    return _Found(change(multipliers.multipliers), np.where(says, multipliers.multipliers, 0.0), status)


def _judged(rows: Rows, order: Array, J: Array) -> Judged:
    """The rows of J that act, with what tells them from rounding."""
    return Judged(J, lambda: (rows.sizes[order], rows.doubt))


def _least(judged: Judged, lam: Array, equalities: int) -> Array:
    """The multipliers of the least norm, where nothing but equalities determines them."""
    return lam if equalities < len(lam) else judged.factor.multipliers(judged.K.T @ lam)


METHODS: dict[str, Any] = {"dense": _dense, "dual": _dual, "iterative": _iterative}
