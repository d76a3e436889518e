"""The deviation from free motion that constraints ask for: by matrices, by solves in O(n), or by products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.constrained import RANK
from knuckle.model import Model

from .constrained_rows import Rows, tree_of
from .constraint_terms import mass_matrix_inverse_product
from .dynamics import mass_matrix
from .iterative import bounded_gradients
from .qp import MOST, Status, least_distance
from .qp_solvers import solver_named

Array: TypeAlias = NDArray[Any]
Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Way:
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


def solve(way: Way, model: Model, q: Array, rows: Rows, free: Array, wanted: Array, acts: Flags) -> Solution:
    """x with the least ½ (x − free)ᵀ H (x − free), and J x = k or J x ≥ k in the rows that act."""
    states, m = wanted.shape
    tree = tree_of(model)
    H = np.asarray(mass_matrix(tree, q), float) if way.method == "dense" else None
    x, lam, status = free.copy(), np.zeros((states, m)), np.full(states, "solved", dtype="<U10")
    for s in range(states):
        if not (np.isfinite(free[s]).all() and np.isfinite(wanted[s]).all()):
            x[s], lam[s], status[s] = np.nan, np.nan, "undefined"
            continue
        order = np.flatnonzero(acts[s])
        order = order[np.argsort(~rows.equality[order], kind="stable")]
        if not len(order):
            continue
        equalities = int(rows.equality[order].sum())
        here = rows.at(s)
        miss = (wanted[s] - here.product(free[s]))[order]
        if way.method == "dense":
            found = _dense(here, H[s], order, miss, equalities, way)  # type: ignore[index]
        else:
            found = METHODS[way.method](tree, here, order, miss, equalities, way)
        x[s], lam[s, order], status[s] = free[s] + found.change, found.multipliers, found.status
    off = rows.product(x) - wanted
    size = 1 + np.abs(wanted) + np.abs(off)
    active = acts & (rows.equality | (np.abs(off) <= MOST * size))
    misses = np.where(acts, np.where(rows.equality, np.abs(off), np.maximum(-off, 0.0)), 0.0)
    return Solution(x, lam, active, status, misses.max(axis=1, initial=0.0))


def _dense(rows: Rows, H: Array, order: Array, miss: Array, equalities: int, way: Way) -> _Found:
    """By the mass matrix: y = Lᵀ(x − free) (notes 2.101, 2.121)."""
    L, J = np.linalg.cholesky(H), rows.G[order]
    B = np.linalg.solve(L, J.T).T
    found = least_distance(B, miss, equalities, solver_named(way.solver))
    return _Found(np.linalg.solve(L.T, found.y), _least(J, found.multipliers, equalities), found.status)


def _dual(tree: Model, rows: Rows, order: Array, miss: Array, equalities: int, way: Way) -> _Found:
    """By A = J H⁻¹ Jᵀ from one product and one solve for each row (notes 2.119, 2.123): B is a root of it."""
    J = rows.transposed(np.eye(len(rows.equality))[order])
    Y = np.asarray(mass_matrix_inverse_product(tree, rows.q, J), float)
    A = J @ Y.T
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    kept = values > RANK * RANK * values[-1]
    root: Array = vectors[:, kept] * np.sqrt(values[kept])
    found = least_distance(root, miss, equalities, solver_named(way.solver))
    lam = _least(J, found.multipliers, equalities)
    return _Found(lam @ Y, lam, found.status)


def _iterative(tree: Model, rows: Rows, order: Array, miss: Array, equalities: int, way: Way) -> _Found:
    """By products with J, H⁻¹ and Jᵀ only, each in O(n) (notes 2.123)."""

    def change(lam: Array) -> Array:
        all_of_them = np.zeros(len(rows.equality))
        all_of_them[order] = lam
        return np.asarray(mass_matrix_inverse_product(tree, rows.q, rows.transposed(all_of_them)), float)

    bounded = np.arange(len(order)) >= equalities
    found = bounded_gradients(lambda lam: rows.product(change(lam))[order], miss, bounded)
    status: Status = "infeasible" if found.bottomless else "solved" if found.converged else "inaccurate"
    return _Found(change(found.multipliers), found.multipliers, status)


def _least(J: Array, lam: Array, equalities: int) -> Array:
    """The multipliers of the least norm, where nothing but equalities determines them."""
    if equalities < len(lam):
        return lam
    return np.linalg.pinv(J, rcond=RANK).T @ (J.T @ lam)


METHODS: dict[str, Any] = {"dense": _dense, "dual": _dual, "iterative": _iterative}
