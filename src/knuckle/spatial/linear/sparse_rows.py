"""Rows of matrices by the entries that are not always zero."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from knuckle.scalar import ZERO, kind_of
from knuckle.scalar.arrays.dense import Matrix

SparseRow = dict[int, Any]
"""Entries by columns."""


def inner(row: SparseRow, x: Any) -> Any:
    """A row times a vector."""
    return sum((part * x[k] for k, part in row.items()), ZERO)


def common(row: SparseRow, other: SparseRow) -> Any:
    """A row times another one."""
    return sum((x * other[k] for k, x in row.items() if k in other), ZERO)


def between(row: SparseRow, A: Sequence[SparseRow], other: SparseRow) -> Any:
    """xᵀ A y of two rows."""
    return sum((x * y * A[k][m] for k, x in row.items() for m, y in other.items() if m in A[k]), ZERO)


def transposed_times(rows: Sequence[SparseRow], x: Sequence[Any], columns: int) -> list[Any]:
    """Aᵀ x of a matrix with so many columns."""
    found: list[Any] = [ZERO] * columns
    for row, factor in zip(rows, x, strict=True):
        for k, part in row.items():
            found[k] = found[k] + part * factor
    return found


def rows_of(A: Matrix) -> list[SparseRow]:
    """The rows of a matrix by their entries that are not zero by structure."""
    return [{k: x for k, x in enumerate(row) if x is not ZERO} for row in A.rows]


def transposed(rows: Sequence[SparseRow], columns: int) -> list[SparseRow]:
    """The rows of Aᵀ, where A has so many columns."""
    found: list[SparseRow] = [{} for _ in range(columns)]
    for i, row in enumerate(rows):
        for k, x in row.items():
            found[k][i] = x
    return found


def product(A: Sequence[SparseRow], B: Sequence[SparseRow]) -> list[SparseRow]:
    """The rows of A B. A kind of scalars that keeps large products as one operation does."""
    return _kept(A, B, False) or [_combined(row, B) for row in A]


def symmetric_product(A: Sequence[SparseRow], B: Sequence[SparseRow]) -> list[SparseRow]:
    """The rows of A B where this is symmetric: what is below the diagonal is computed, and stands above it too."""
    half = _kept(A, B, True) or [_combined(row, B, i) for i, row in enumerate(A)]
    below = [{j: x for j, x in row.items() if j <= i} for i, row in enumerate(half)]
    return [row | {j: below[j][i] for j in range(i + 1, len(A)) if i in below[j]} for i, row in enumerate(below)]


def _kept(A: Sequence[SparseRow], B: Sequence[SparseRow], is_half: bool) -> list[SparseRow] | None:
    """The product as one operation; None where it is to be computed here."""
    scalars = (x for row in (*B, *A) for x in row.values())
    multiply = next((kind.sparse_product for kind in map(kind_of, scalars) if kind.sparse_product is not None), None)
    return multiply(A, B, is_half) if multiply else None


def _combined(row: SparseRow, B: Sequence[SparseRow], last: float = inf) -> SparseRow:
    """The sum of rows of B, each times an entry, up to a column."""
    total: SparseRow = {}
    for k, a in row.items():
        for j, x in B[k].items():
            if j <= last:
                total[j] = total[j] + a * x if j in total else a * x
    return total
