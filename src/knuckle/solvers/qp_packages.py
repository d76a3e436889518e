"""Solvers of quadratic programs that other people wrote, each for the least |z|² with A z ≥ b."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.extras import install

Array: TypeAlias = NDArray[Any]
Solver: TypeAlias = Callable[[Array, Array], "Array | None"]
"""(A, b) → the multipliers of the least |z|² with A z ≥ b, or None where there is no such z."""


def solver_named(name: str) -> Solver:
    """One of `SOLVERS`; the package is looked for when it is first needed."""
    if name not in SOLVERS:
        raise ValueError(f"solver is {' or '.join(map(repr, SOLVERS))}, not {name!r}")
    return SOLVERS[name]


def _need(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] != package:
            raise
        message = (
            f"inequality constraints need a solver, and {package} is not installed: {install('qp')}, "
            f"or take solver= another of {', '.join(SOLVERS)}, or method='iterative', which needs none"
        )
        raise ImportError(message, name=package) from None


def _quadprog(A: Array, b: Array) -> Array | None:
    """Goldfarb and Idnani's dual active set."""
    n = A.shape[1]
    try:
        return _need("quadprog").solve_qp(np.eye(n), np.zeros(n), np.ascontiguousarray(A.T), b, 0)[4]
    except ValueError as error:
        if "inconsistent" in str(error):
            return None
        raise


def _daqp(A: Array, b: Array) -> Array | None:
    """Arnström's dual active set, with the factor of its least-distance problem."""
    m, n = A.shape
    above, sense = np.full(m, 1e30), np.zeros(m, np.int32)
    _, _, flag, info = _need("daqp").solve(np.eye(n), np.zeros(n), np.ascontiguousarray(A), above, b, sense)
    return None if flag == -1 else -np.asarray(info["lam"], float)


def _clarabel(A: Array, b: Array) -> Array | None:
    """An interior-point method: multipliers of rows that do not push are small, not zero."""
    clarabel, sparse = _need("clarabel"), _need("scipy.sparse")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    m, n = A.shape
    cones = [clarabel.NonnegativeConeT(m)]
    one, rows = sparse.identity(n, format="csc"), sparse.csc_matrix(-A)
    found = clarabel.DefaultSolver(one, np.zeros(n), rows, -b, cones, settings).solve()
    return None if "Infeasible" in str(found.status) else np.asarray(found.z, float)


SOLVERS: dict[str, Solver] = {"daqp": _daqp, "quadprog": _quadprog, "clarabel": _clarabel}
