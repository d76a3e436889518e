"""Sparse symmetric equations of forces and constraints, M a + Kᵀ y = f and K a = k, with one pattern for all times.

K may have rows that follow from others: each row yields a little, ε y beside K a, and what that leaves is taken back in
a few rounds. Then M and −ε make the matrix quasi-definite, so that it has factors L D Lᵀ in any order.
"""

from __future__ import annotations

import importlib.util
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.extras import need

Array: TypeAlias = NDArray[Any]
YIELDING = 1e-10
"""How much a constraint yields, of what the bodies beside it do."""
ROUNDS, ENOUGH = 12, 1e-13
"""How often what is left is taken back, at most, and what need not be, of the right side."""
PACKAGES = ("qdldl", "scipy")


class QuasiDefinite:
    """Equations of one pattern. `place` says where the entries of its upper triangle are, as (rows, columns).

    Unknowns from `first` on are multipliers, and have no entries among themselves.
    """

    def __init__(self, size: int, first: int, place: tuple[Array, Array], package: str | None = None) -> None:
        if package is not None and package not in PACKAGES:
            raise ValueError(f"solver is {' or '.join(map(repr, PACKAGES))} or None, not {package!r}")
        self._sparse = _need("scipy.sparse")
        self.package = package or ("qdldl" if _has("qdldl") else "scipy")
        multipliers = np.arange(first, size)
        rows, columns = (np.concatenate([part, multipliers]) for part in place)
        order = np.lexsort((rows, columns))
        self.size, self.first, self._order = size, first, order
        self._rows = rows[order].astype(np.int32)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=size))]).astype(np.int32)
        self._solver: Any = None
        self._upper: Any = None
        self._lower: Any = None
        self._diagonal: Any = None

    def factor(self, values: Array, yielding: Array) -> None:
        """Takes the entries, in the order of `place`, and how much each multiplier yields."""
        self._upper = self._matrix(values, np.zeros_like(yielding))
        self._lower, self._diagonal = self._upper.T, self._upper.diagonal()
        softer = self._matrix(values, -YIELDING * yielding)
        self._solver = self._factored(softer)

    def _factored(self, softer: Any) -> Any:
        """A solver; SciPy's where M has no inverse, so that not every order will do."""
        if self.package == "qdldl":
            try:
                if not isinstance(self._solver, _need("qdldl").Solver):
                    return _need("qdldl").Solver(softer, upper=True)
                self._solver.update(softer, upper=True)
                return self._solver
            except RuntimeError:
                pass
        whole = (softer + self._sparse.triu(softer, 1).T).tocsc()
        try:
            return _need("scipy.sparse.linalg").splu(whole)
        except RuntimeError as error:
            raise np.linalg.LinAlgError(f"the equations have no solution: {error}") from None

    def solve(self, right: Array, rounds: int = ROUNDS) -> Array:
        """x, with what yielding left of the right side taken back; the best that was found where rows contradict."""
        x = self._solver.solve(right)
        left = right - self._product(x)
        size = float(np.abs(right).max(initial=0.0))
        for _ in range(rounds):
            if float(np.abs(left).max(initial=0.0)) <= ENOUGH * size:
                break
            y = x + self._solver.solve(left)
            after = right - self._product(y)
            if not np.abs(after).max() < 0.9 * np.abs(left).max():
                break
            x, left = y, after
        return x

    def _matrix(self, values: Array, diagonal: Array) -> Any:
        data = np.concatenate([values, diagonal])[self._order]
        return self._sparse.csc_matrix((data, self._rows, self._starts), shape=(self.size, self.size))

    def _product(self, x: Array) -> Array:
        return self._upper @ x + self._lower @ x - self._diagonal * x


def is_installed() -> bool:
    """Whether there is a package for sparse equations."""
    return _has("scipy")


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _need(package: str) -> Any:
    return need(package, "sparse equations need", "sparse")
