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
from knuckle.spatial.linear.sparse_rows import SparseRow, product, rows_of, symmetric_product, transposed


class InverseFactor(NamedTuple):
    """W and W D⁻¹, row by row."""

    W: list[SparseRow]
    scaled: list[SparseRow]

    def solve(self, b: Iterable[Any]) -> Vector:
        """H⁻¹ b = W (D⁻¹ Wᵀ b)."""
        y: list[Any] = [ZERO] * len(self.W)
        for row, x in zip(self.scaled, b, strict=True):
            for k, w in row.items():
                y[k] = y[k] + w * x
        return Vector(sum((w * y[k] for k, w in row.items()), ZERO) for row in self.W)

    def solve_rows(self, B: list[SparseRow]) -> list[SparseRow]:
        """The rows of H⁻¹ B."""
        return product(self.W, product(transposed(self.scaled, len(B)), B))

    def solve_all(self, B: Matrix) -> Matrix:
        """H⁻¹ B."""
        rows = self.solve_rows(rows_of(B))
        return Matrix(([row.get(k, ZERO) for k in range(B.ncols)] for row in rows), B.ncols)

    def solve_both(self, B: Matrix, C: Matrix) -> tuple[Matrix, Matrix]:
        """H⁻¹ B and H⁻¹ C, by one product."""
        rows = self.solve_all(Matrix(([*b, *c] for b, c in zip(B.rows, C.rows, strict=True)), B.ncols + C.ncols)).rows
        return Matrix((row[: B.ncols] for row in rows), B.ncols), Matrix((row[B.ncols :] for row in rows), C.ncols)

    @property
    def opposite(self) -> InverseFactor:
        """The same of −H⁻¹."""
        return InverseFactor(self.W, [{k: -x for k, x in row.items()} for row in self.scaled])

    def inverse(self) -> Matrix:
        """H⁻¹ = W (W D⁻¹)ᵀ: each entry from the ancestors that two variables share."""
        n = len(self.W)
        rows = symmetric_product(self.W, transposed(self.scaled, n))
        return Matrix(([row.get(k, ZERO) for k in range(n)] for row in rows), n)


def inverse_factor(H: Matrix, parents: Parents) -> InverseFactor:
    """W by rows, w_i = e_i − Σ l_ik w_k, and W D⁻¹."""
    L, D = ltdl(H, parents, by_inverse)
    W: list[SparseRow] = []
    for i, row in enumerate(L.rows):
        w: SparseRow = {i: ONE}
        k = parents[i]
        while k >= 0:
            for j, x in W[k].items():
                w[j] = w.get(j, ZERO) - row[k] * x
            k = parents[k]
        W.append(w)
    reciprocals = [ONE / d for d in D]
    return InverseFactor(W, [{k: x * reciprocals[k] for k, x in row.items()} for row in W])
