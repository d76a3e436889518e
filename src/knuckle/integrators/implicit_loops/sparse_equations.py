"""A x = b as sparse equations of all bodies and joints (notes 1.30, 1.70): nothing is filled in along a tree.

The unknowns are the change Φ of the bodies' velocities, x, and the forces λ that hold bodies at their joints and the
rows of closed loops:

    (M + dt D + dt² K) Φ + Gᵀλ = 0,   (joints) x − Sᵀλ = b,   Φ − X Φ_parent − S x = 0.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ConvergenceError
from knuckle.extras import install

from .closed_loops import ClosedLoops
from .records import TreeState
from .tree_tables import TreeTables

Array = NDArray[Any]

SOFT, REFINED = 1e-9, 20
"""What the diagonal of what is factored has besides, with a sign that makes it quasi-definite, in units of a mass; how
often the solution is refined at most."""
LIGHT = 1e-5
"""The same for joints, in parts of the inertia of their own bodies."""
SAME = 1e-13
"""What refinement leaves of the right-hand side."""


class SparseEquations:
    """The equations of one mechanism: their pattern stays, and so does the order in which they are eliminated."""

    def __init__(self, tables: TreeTables, s: TreeState, loops: ClosedLoops) -> None:
        try:
            from scipy import sparse
        except ImportError:
            raise ImportError(f'solver="kkt" needs SciPy, and qdldl to be fast: {install("sparse")}') from None
        self._sparse, self._m, self._s, self._loops = sparse, tables.tree, s, loops
        m = self._m
        self._n, nb = m.nv, m.bodies - 1
        self._phi, self._x, self._lam = 0, 6 * nb, 6 * nb + m.nv
        self._size = 12 * nb + m.nv + loops.count
        self._factored: Any = None

    def solved(self) -> tuple[Array, int, float]:
        """x, how often it was refined, and what is left of the equations, in parts of the right-hand side."""
        near, soft, mass = self._matrix()
        b = np.zeros(self._size)
        b[self._x : self._x + self._n] = self._s.rhs / mass
        if self._loops.count:
            b[self._size - self._loops.count :] = self._loops.closing.k[: self._loops.count]
        solve, size = self._factor(near), float(np.linalg.norm(b)) or 1.0

        def rest(y: Array) -> Array:
            return b - near @ y + soft * y

        y = solve(b)
        left, count = float(np.linalg.norm(rest(y))) / size, 0
        while left > SAME and count < REFINED:
            better = y + solve(rest(y))
            now = float(np.linalg.norm(rest(better))) / size
            if not now < left / 2:
                break
            y, left, count = better, now, count + 1
        if not np.isfinite(left):
            raise ConvergenceError("the sparse equations of an implicit step have no solution")
        return y[self._x : self._x + self._n], count, left

    def _matrix(self) -> tuple[Any, Array, float]:
        """The equations, symmetric, with a little on the diagonal; that, and the mass in units of which they are.

        Entries that are zero are kept, so that the pattern is always the same.
        """
        m, s, nb = self._m, self._s, self._m.bodies - 1
        rows, columns, values = list[Array](), list[Array](), list[Array]()

        def put(i: Array, j: Array, x: Array) -> None:
            i, j, x = np.broadcast_arrays(i, j, x)
            rows.append(i.reshape(-1))
            columns.append(j.reshape(-1))
            values.append(x.reshape(-1))

        def put_twice(i: Array, j: Array, x: Array) -> None:
            put(i, j, x)
            put(j, i, x)

        six, body = np.arange(6), np.arange(nb)
        at = self._phi + 6 * body[:, None] + six
        I = s.I.reshape(-1, 10)[1:]
        mass = float(np.median(I[:, 0])) or float(np.abs(I).max()) or 1.0
        put(at[:, :, None], at[:, None, :], _inertias(I) / mass)
        for count, d in {*zip(m.member_size.tolist(), m.directions.tolist(), strict=True)}:
            which, n = np.flatnonzero((m.member_size == count) & (m.directions == d)), 6 * count
            if not d:
                continue
            slopes = s.slopes[m.slopes_at[which, None] + np.arange(d * (n + d))]
            G, C = slopes[:, : n * d].reshape(-1, d, n), slopes[:, n * d :].reshape(-1, d, d)
            members = m.member[m.member_at[which, None] + np.arange(count)] - 1
            place = (self._phi + 6 * members[:, :, None] + six).reshape(-1, n)
            put(place[:, :, None], place[:, None, :], G.transpose(0, 2, 1) @ C @ G / mass)
        owner = np.repeat(np.arange(m.bodies), m.v_size)
        first = m.v_at[owner]
        size, variable = m.v_size[owner], np.arange(m.nv)
        for k in range(int(m.v_size.max(initial=0))):
            has = size > k
            i = variable[has]
            block = s.joint[m.block_at[owner[has]] + size[has] * (i - first[has]) + k]
            put(self._x + i, self._x + first[has] + k, block / mass)
        lam = self._lam + 6 * body[:, None] + six
        put_twice(lam, at, np.ones((nb, 6)))
        child = np.flatnonzero(m.parent[1:] > 0)
        up = self._phi + 6 * (m.parent[1:][child, None] - 1) + six
        put_twice(lam[child][:, :, None], up[:, None, :], -_shifts(s.r.reshape(-1, 3)[1:][child]))
        S = s.S[: 6 * m.nv].reshape(-1, 6)
        put_twice(self._lam + 6 * (owner[:, None] - 1) + six, self._x + variable[:, None], -S)
        if self._loops.count:
            row = self._size - self._loops.count + np.arange(self._loops.count)
            for side in range(2):
                b, f = self._loops.bodies[:, side], self._loops.forces[:, side]
                has = b > 0
                put_twice(row[has, None], self._phi + 6 * (b[has, None] - 1) + six, f[has])
        soft = np.where(np.arange(self._size) < self._lam, SOFT, -SOFT)
        own = np.einsum("ij,ijk,ik->i", S, _inertias(I)[owner - 1], S) / mass
        soft[self._x : self._lam] = LIGHT * np.where(own > 0, own, np.median(own) or 1.0)
        put(np.arange(self._size), np.arange(self._size), soft)
        entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        return self._sparse.coo_matrix(entries, (self._size, self._size)).tocsc(), soft, mass

    def _factor(self, near: Any) -> Any:
        """What solves with nearly these equations: by qdldl where it is installed, which keeps its order."""
        try:
            qdldl: Any = importlib.import_module("qdldl")
        except ImportError:
            from scipy.sparse.linalg import splu

            return splu(near).solve
        upper = self._sparse.triu(near, format="csc")
        if self._factored is None:
            self._factored = qdldl.Solver(upper, upper=True)
        else:
            self._factored.update(upper, upper=True)
        return self._factored.solve


def _inertias(I: Array) -> Array:
    """Inertias as matrices (RBDA 2.63)."""
    M = np.zeros((len(I), 6, 6))
    for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        M[:, i, j] = M[:, j, i] = I[:, 4 + k]
    M[:, 0, 4], M[:, 0, 5], M[:, 1, 3] = -I[:, 3], I[:, 2], I[:, 3]
    M[:, 1, 5], M[:, 2, 3], M[:, 2, 4] = -I[:, 1], -I[:, 2], I[:, 1]
    M[:, 3:, :3] = M[:, :3, 3:].transpose(0, 2, 1)
    M[:, 3, 3] = M[:, 4, 4] = M[:, 5, 5] = I[:, 0]
    return M


def _shifts(r: Array) -> Array:
    """What carries motions by r: v + ω × r."""
    X = np.broadcast_to(np.eye(6), (len(r), 6, 6)).copy()
    X[:, 3, 1], X[:, 3, 2] = r[:, 2], -r[:, 1]
    X[:, 4, 0], X[:, 4, 2] = -r[:, 2], r[:, 0]
    X[:, 5, 0], X[:, 5, 1] = r[:, 1], -r[:, 0]
    return X
