"""Incomplete factors of symmetric matrices of blocks: A ≈ (D + Uᵀ) D⁻¹ (D + U), on the pattern of A itself.

Where the factors are not positive, they are those of symmetric Gauss-Seidel, which always are: with D and U of A.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.routines import Reals, Record, Wholes, routine

from .block_matrix import BlockMatrix

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class IncompleteFactor(Record):
    """D⁻¹ and W = D⁻¹ U of a matrix, without the nodes that are held."""

    is_free: Wholes
    """(size,): 0 for nodes that are left out"""
    first: Wholes
    """(size + 1,): where the triples of each row begin"""
    triple: Wholes
    """(triples, 3): the blocks (i, j), (i, k) and (j, k) with i < j ≤ k"""
    blocks: Reals
    """(blocks, 3, 3): what is left of A"""
    W: Reals
    """(blocks, 3, 3)"""
    inverse: Reals
    """(size, 3, 3)"""

    @classmethod
    def of(cls, A: BlockMatrix, is_free: NDArray[np.int64]) -> IncompleteFactor:
        """Room for those of a matrix."""
        row = np.repeat(np.arange(A.size), np.diff(A.first))
        key = row * A.size + A.column  # in order
        used = np.flatnonzero((row != A.column) & (is_free[row] == 1) & (is_free[A.column] == 1))
        ends = np.searchsorted(row[used], row[used], side="right")
        counts = ends - np.arange(len(used))
        ij = np.repeat(np.arange(len(used)), counts)
        ik = ij + np.arange(len(ij)) - np.repeat(np.cumsum(counts) - counts, counts)
        ij, ik = used[ij], used[ik]
        sought = A.column[ij] * A.size + A.column[ik]
        jk = np.minimum(np.searchsorted(key, sought), len(key) - 1)
        there = key[jk] == sought
        triples = np.stack([ij, ik, jk], axis=1)[there]
        first = np.searchsorted(row[triples[:, 0]], np.arange(A.size + 1))
        return cls(
            is_free, first.astype(np.int64), np.append(triples.reshape(-1), [0, 0, 0]).astype(np.int64),
            np.zeros_like(A.blocks), np.zeros_like(A.blocks), np.zeros(9 * A.size),
        )  # fmt: skip


@routine
def factorize(A: BlockMatrix, f: IncompleteFactor) -> bool:
    """The factors of a matrix, incomplete ones where these are positive. Whether there are some."""
    return eliminate(A, f, 1) or eliminate(A, f, 0)


@routine
def eliminate(A: BlockMatrix, f: IncompleteFactor, updates: int) -> bool:
    """The factors with what rows before leave, or without. Whether all of D is positive."""
    blocks, W, inverse, triple = f.blocks, f.W, f.inverse, f.triple
    for i in range(9 * A.first[A.size]):
        blocks[i] = A.blocks[i]
    for row in range(A.size):
        if f.is_free[row] == 0:
            continue
        to = inverse[9 * row :]
        if not invert(blocks[9 * A.first[row] :], to):
            return False
        for k in range(A.first[row] + 1, A.first[row + 1]):
            u = blocks[9 * k :]
            w = W[9 * k :]
            for i in range(3):
                a = to[3 * i]
                b = to[3 * i + 1]
                c = to[3 * i + 2]
                w[3 * i] = a * u[0] + b * u[3] + c * u[6]
                w[3 * i + 1] = a * u[1] + b * u[4] + c * u[7]
                w[3 * i + 2] = a * u[2] + b * u[5] + c * u[8]
        if updates == 1:
            for t in range(f.first[row], f.first[row + 1]):
                u = blocks[9 * triple[3 * t] :]
                w = W[9 * triple[3 * t + 1] :]
                left = blocks[9 * triple[3 * t + 2] :]
                for i in range(3):
                    a = u[i]
                    b = u[3 + i]
                    c = u[6 + i]
                    left[3 * i] -= a * w[0] + b * w[3] + c * w[6]
                    left[3 * i + 1] -= a * w[1] + b * w[4] + c * w[7]
                    left[3 * i + 2] -= a * w[2] + b * w[5] + c * w[8]
    return True


@routine
def invert(b: Reals, to: Reals) -> bool:
    """The inverse of a symmetric block. Whether it is positive."""
    c00 = b[4] * b[8] - b[5] * b[7]
    c01 = b[5] * b[6] - b[3] * b[8]
    c02 = b[3] * b[7] - b[4] * b[6]
    minor = b[0] * b[4] - b[1] * b[3]
    det = b[0] * c00 + b[1] * c01 + b[2] * c02
    if not (b[0] > 0.0 and minor > 0.0 and det > 0.0):
        return False
    part = 1.0 / det
    to[0] = part * c00
    to[1] = part * c01
    to[2] = part * c02
    to[3] = part * c01
    to[4] = part * (b[0] * b[8] - b[2] * b[6])
    to[5] = part * (b[2] * b[3] - b[0] * b[5])
    to[6] = part * c02
    to[7] = to[5]
    to[8] = part * minor
    return True


@routine
def substitute(A: BlockMatrix, f: IncompleteFactor, r: Reals, z: Reals) -> None:
    """z of (D + Uᵀ) D⁻¹ (D + U) z = r; zero for nodes that are left out."""
    size, first, column, W, inverse, is_free = A.size, A.first, A.column, f.W, f.inverse, f.is_free
    for i in range(3 * size):
        z[i] = r[i]
    for row in range(size):
        y = z[3 * row :]
        if is_free[row] == 0:
            y[0] = 0.0
            y[1] = 0.0
            y[2] = 0.0
        else:
            y0 = y[0]
            y1 = y[1]
            y2 = y[2]
            for k in range(first[row] + 1, first[row + 1]):
                w = W[9 * k :]
                to = z[3 * column[k] :]
                to[0] -= w[0] * y0 + w[3] * y1 + w[6] * y2
                to[1] -= w[1] * y0 + w[4] * y1 + w[7] * y2
                to[2] -= w[2] * y0 + w[5] * y1 + w[8] * y2
    for back in range(size):
        row = size - 1 - back
        if is_free[row] == 0:
            continue
        y = z[3 * row :]
        d = inverse[9 * row :]
        y0 = d[0] * y[0] + d[1] * y[1] + d[2] * y[2]
        y1 = d[3] * y[0] + d[4] * y[1] + d[5] * y[2]
        y2 = d[6] * y[0] + d[7] * y[1] + d[8] * y[2]
        y[0] = y0
        y[1] = y1
        y[2] = y2
        for k in range(first[row] + 1, first[row + 1]):
            w = W[9 * k :]
            x = z[3 * column[k] :]
            y[0] -= w[0] * x[0] + w[1] * x[1] + w[2] * x[2]
            y[1] -= w[3] * x[0] + w[4] * x[1] + w[5] * x[2]
            y[2] -= w[6] * x[0] + w[7] * x[1] + w[8] * x[2]
