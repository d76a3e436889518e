"""H⁻¹ by the inverse of its sparse factor: H = LᵀDL, W = L⁻¹, H⁻¹ = W D⁻¹ Wᵀ (RBDA 6.3-6.5).

W has the pattern of L: row i has entries in the columns of i and its ancestors. One factorisation, with one division
per row, serves any number of right-hand sides, of which entries that are zero by structure cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from knuckle.algorithms.dynamics.branch_sparsity import Parents, by_inverse, ltdl
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Vector

Rows = list[dict[int, Any]]
"""The entries of the rows of a matrix that are not zero by structure, by column."""


class InverseFactor(NamedTuple):
    """W and W D⁻¹, row by row."""

    W: Rows
    scaled: Rows

    def solve(self, b: Iterable[Any]) -> Vector:
        """H⁻¹ b = W (D⁻¹ Wᵀ b)."""
        y: list[Any] = [ZERO] * len(self.W)
        for row, x in zip(self.scaled, b, strict=True):
            for k, w in row.items():
                y[k] = y[k] + w * x
        return Vector(sum((w * y[k] for k, w in row.items()), ZERO) for row in self.W)

    def solve_all(self, B: Matrix) -> Matrix:
        """H⁻¹ B, column by column."""
        return Matrix.columns((self.solve(B.column(k)) for k in range(B.ncols)), B.nrows)

    def inverse(self) -> Matrix:
        """H⁻¹, symmetric: each entry from the ancestors that two variables share."""
        n = len(self.W)
        lower = [[_product(self.W[i], self.scaled[j]) for j in range(i + 1)] for i in range(n)]
        return Matrix(([lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)), n)


def _product(a: dict[int, Any], b: dict[int, Any]) -> Any:
    return sum((x * b[k] for k, x in a.items() if k in b), ZERO)


def inverse_factor(H: Matrix, parents: Parents) -> InverseFactor:
    """W by rows, w_i = e_i − Σ l_ik w_k, and W D⁻¹."""
    L, D = ltdl(H, parents, by_inverse)
    W: Rows = []
    for i, row in enumerate(L.rows):
        w: dict[int, Any] = {i: ONE}
        k = parents[i]
        while k >= 0:
            for j, x in W[k].items():
                w[j] = w.get(j, ZERO) - row[k] * x
            k = parents[k]
        W.append(w)
    reciprocals = [ONE / d for d in D]
    return InverseFactor(W, [{k: x * reciprocals[k] for k, x in row.items()} for row in W])
