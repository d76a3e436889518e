"""A x = b without iterations, where elements are few: A = P + WᵀW with the tree P (Woodbury; notes, algorithm 10)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .closed_loops import ClosedLoops, inverse
from .records import TreeFactors, TreeState
from .tree_products import joint_forces, product, solve
from .tree_tables import TreeTables

Array = NDArray[Any]

NONE = 1e-15
"""Directions along which an element does less than this part of what it does at most are none."""
REFINED, SAME = 5, 1e-12
"""How often a solution is refined at most, and what that has to leave of the right-hand side."""


class Woodbury:
    """Directions W of all elements, by which they add WᵀW to the inertia of the tree, and solutions with them."""

    def __init__(self, tables: TreeTables, s: TreeState, g: TreeFactors, loops: ClosedLoops) -> None:
        self._tree, self._s, self._loops = tables.tree, s, loops
        self._F, self._row, self._z = np.zeros(6 * self._tree.bodies), np.zeros(self._tree.nv), np.zeros(self._tree.nv)
        self._transposed = joint_forces.bind(self._tree, s, self._F, self._row)
        self._solve = solve.bind(self._tree, s, g, self._row, self._z)
        self._product = product.bind(self._tree, s, self._row, self._z)

    def solved(self) -> tuple[Array, int, float]:
        """x with A x = rhs + Kᵀλ and K x = k, how often it was refined, and what is left of these, by its size."""
        rows, signs = self._rows()
        n, K = len(rows), self._loops.K
        U = np.concatenate([rows, K]) if self._loops.count else rows
        Z = np.array([self._inverse(row) for row in U]).reshape(len(U), self._tree.nv)
        M = U @ Z.T
        within, between = M[:n, :n] + np.diag(signs), M[:n, n:]
        across = np.linalg.solve(within, between)
        closing = inverse(M[n:, n:] - between.T @ across)

        def solution(b: Array, k: Array) -> tuple[Array, Array]:
            """x and λ: P⁻¹(b − Wᵀμ + Kᵀλ) with (W P⁻¹ Wᵀ + 1) μ = W (P⁻¹ (b + Kᵀλ)); rows of K may be dependent."""
            x = self._inverse(b)
            wanted = U @ x
            mu = np.linalg.solve(within, wanted[:n])
            lam = -closing @ (wanted[n:] - k - between.T @ mu)
            return x - (mu + across @ lam) @ Z[:n] + lam @ Z[n:], lam

        b, k = self._s.rhs.copy(), self._loops.closing.k[: self._loops.count].copy()
        size = float(np.linalg.norm(b)) or 1.0
        x, lam = solution(b, k)
        r = b + lam @ K - self._times(x)
        left, count = float(np.linalg.norm(r)) / size, 0
        while left > SAME and count < REFINED:
            more, force = solution(r, k - K @ x)
            better, forces = x + more, lam + force
            r = b + forces @ K - self._times(better)
            now = float(np.linalg.norm(r)) / size
            if not now < left / 2:
                break
            x, lam, left, count = better, forces, now, count + 1
        return x, count, left

    def _inverse(self, x: Array) -> Array:
        self._row[:] = x
        self._solve()
        return self._z.copy()

    def _times(self, x: Array) -> Array:
        self._row[:] = x
        self._product()
        return self._z.copy()

    def _rows(self) -> tuple[Array, Array]:
        """W, and the sign of each row."""
        m, s = self._tree, self._s
        rows, signs = list[Array](), list[float]()
        for e in range(m.elements):
            members = m.member[m.member_at[e] : m.member_at[e] + m.member_size[e]]
            n, d, at = 6 * len(members), int(m.directions[e]), int(m.slopes_at[e])
            G, C = s.slopes[at : at + n * d].reshape(d, n), s.slopes[at + n * d : at + n * d + d * d].reshape(d, d)
            values, vectors = np.linalg.eigh((C + C.T) / 2)
            for value, direction in zip(values, vectors.T @ G, strict=True):
                if abs(value) > NONE * np.abs(values).max(initial=0.0):
                    self._F[:] = 0.0
                    for b, f in zip(members, direction.reshape(-1, 6), strict=True):
                        self._F[6 * b : 6 * b + 6] = f
                    self._transposed()
                    rows.append(np.sqrt(abs(value)) * self._row)
                    signs.append(float(np.sign(value)))
        return np.array(rows).reshape(-1, m.nv), np.array(signs)
