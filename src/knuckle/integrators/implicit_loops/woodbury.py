"""A x = b without iterations, where elements are few: A = P + WᵀW with the tree P (Woodbury; notes, algorithm 10)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .closed_loops import NOTHING, ClosedLoops, inverse
from .records import Factors, TreeState
from .tables import TreeTables
from .tree_products import joint_forces, solve

Array = NDArray[Any]

NONE = 1e-15
"""Directions along which an element does less than this part of what it does at most are none."""


class Woodbury:
    """Directions W of all elements, by which they add WᵀW to the inertia of the tree, and solutions with them."""

    def __init__(self, tables: TreeTables, s: TreeState, g: Factors, loops: ClosedLoops) -> None:
        self._tree, self._s, self._loops = tables.tree, s, loops
        self._F, self._row, self._z = np.zeros(6 * self._tree.bodies), np.zeros(self._tree.nv), np.zeros(self._tree.nv)
        self._transposed = joint_forces.bind(self._tree, s, self._F, self._row)
        self._solve = solve.bind(self._tree, s, g, self._row, self._z)

    def solved(self) -> Array:
        """x with A x = rhs + Kᵀλ and K x = k.

        x = P⁻¹(b − Uᵀμ) for the rows U of W and K, with (U P⁻¹ Uᵀ + 1) μ = U P⁻¹ b on the rows of W, and without the
        one and less k on those of K.
        """
        rows, signs = self._rows()
        U = np.concatenate([rows, self._loops.K]) if self._loops.count else rows
        Z = np.array([self._inverse(row) for row in U]).reshape(len(U), -1)
        x = self._inverse(self._s.rhs)
        if not len(U):
            return x
        more = np.concatenate([1 / signs, np.zeros(self._loops.count)])
        wanted = U @ x - np.concatenate([np.zeros(len(rows)), self._loops.closing.k[: self._loops.count]])
        M = U @ Z.T + np.diag(more)
        mu = inverse(M) @ wanted if (signs > 0).all() else np.linalg.lstsq(M, wanted, rcond=NOTHING**2)[0]
        return x - mu @ Z

    def _inverse(self, x: Array) -> Array:
        self._row[:] = x
        self._solve()
        return self._z.copy()

    def _rows(self) -> tuple[Array, Array]:
        """W, and the sign of each row: elements of one size are taken apart at once."""
        m, s = self._tree, self._s
        rows, signs = list[Array](), list[Array]()
        for count in np.unique(m.member_size):
            which = np.flatnonzero(m.member_size == count)
            n = 6 * int(count)
            Q = s.slopes[m.slopes_at[which, None] + np.arange(n * n)].reshape(-1, n, n)
            values, vectors = np.linalg.eigh((Q + Q.transpose(0, 2, 1)) / 2)
            most = np.abs(values).max(axis=1, initial=0.0)
            for e, own, directions, largest in zip(which, values, vectors, most, strict=True):
                members = m.member[m.member_at[e] : m.member_at[e] + count]
                for value, direction in zip(own, directions.T, strict=True):
                    if abs(value) > NONE * largest:
                        self._F[:] = 0.0
                        for b, f in zip(members, direction.reshape(-1, 6), strict=True):
                            self._F[6 * b : 6 * b + 6] = f
                        self._transposed()
                        rows.append(np.sqrt(abs(value)) * self._row)
                        signs.append(np.sign(value))
        return np.array(rows).reshape(-1, m.nv), np.array(signs)
