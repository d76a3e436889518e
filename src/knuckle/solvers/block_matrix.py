"""Symmetric matrices of blocks of 3 by 3, of which most are zero: the upper half, row after row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.routines import Reals, Record, Wholes, routine

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class BlockMatrix(Record):
    """The blocks (a, b) with a ≤ b, by rows; the first of each row is on the diagonal."""

    size: int
    """nodes"""
    first: Wholes
    """(size + 1,): where rows begin"""
    column: Wholes
    """(blocks,)"""
    blocks: Reals
    """(blocks, 3, 3)"""

    @classmethod
    def of(cls, size: int, groups: list[NDArray[np.int64]]) -> tuple[BlockMatrix, list[NDArray[np.int64]]]:
        """A matrix of zeros for cells (count, nodes), whose nodes are in order, in groups.

        And which blocks the pairs a ≤ b of nodes of each cell have: (count, pairs).
        """
        own = np.arange(size)
        pairs = [np.stack([own, own])]
        for cells in groups:
            a, b = np.triu_indices(cells.shape[1])
            pairs.append(np.stack([cells[:, a].ravel(), cells[:, b].ravel()]))
        row, column = np.concatenate(pairs, axis=1)
        unique, slot = np.unique(row * size + column, return_inverse=True)
        rows, columns = unique // size, unique % size
        first = np.searchsorted(rows, np.arange(size + 1)).astype(np.int64)
        slots, at = list[NDArray[np.int64]](), size
        for cells in groups:
            count, n = len(cells), cells.shape[1] * (cells.shape[1] + 1) // 2
            slots.append(np.ascontiguousarray(slot[at : at + count * n].reshape(count, n), np.int64))
            at += count * n
        return cls(size, first, columns.astype(np.int64), np.zeros(9 * len(unique))), slots

    def dense(self) -> Array:
        """(3 size, 3 size)."""
        n, blocks = self.size, self.blocks.reshape(-1, 3, 3)
        A = np.zeros((n, 3, n, 3))
        row = np.repeat(np.arange(n), np.diff(self.first))
        A[self.column, :, row, :] = np.swapaxes(blocks, 1, 2)
        A[row, :, self.column, :] = blocks
        return A.reshape(3 * n, 3 * n)


@routine
def multiply(A: BlockMatrix, x: Reals, y: Reals) -> None:
    """y = A x."""
    size, first, column, blocks = A.size, A.first, A.column, A.blocks
    for i in range(3 * size):
        y[i] = 0.0
    for row in range(size):
        u = x[3 * row :]
        u0 = u[0]
        u1 = u[1]
        u2 = u[2]
        at = first[row]
        b = blocks[9 * at :]
        y0 = b[0] * u0 + b[1] * u1 + b[2] * u2
        y1 = b[3] * u0 + b[4] * u1 + b[5] * u2
        y2 = b[6] * u0 + b[7] * u1 + b[8] * u2
        for k in range(at + 1, first[row + 1]):
            b = blocks[9 * k :]
            at = 3 * column[k]
            w = x[at:]
            z = y[at:]
            y0 += b[0] * w[0] + b[1] * w[1] + b[2] * w[2]
            y1 += b[3] * w[0] + b[4] * w[1] + b[5] * w[2]
            y2 += b[6] * w[0] + b[7] * w[1] + b[8] * w[2]
            z[0] += b[0] * u0 + b[3] * u1 + b[6] * u2
            z[1] += b[1] * u0 + b[4] * u1 + b[7] * u2
            z[2] += b[2] * u0 + b[5] * u1 + b[8] * u2
        y[3 * row] += y0
        y[3 * row + 1] += y1
        y[3 * row + 2] += y2
