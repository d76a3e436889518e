"""Rows of matrices by the entries that are not always zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knuckle.scalar import ZERO

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
