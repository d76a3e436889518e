"""The rows of closed loops in a state of a mechanism, and of couplings, as numbers (RBDA 8.2-8.7)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.routines import BoundRoutine, Code
from knuckle.joints import Joint
from knuckle.model import Model

from .loop_texts import loop_code
from .records import Closing, TreeFactors, TreeState
from .tied_variables import TiedVariables
from .tree_products import joint_forces, solve
from .tree_tables import TreeTables

Array = NDArray[Any]

NOTHING = 1e-10
"""Rows that the others determine but for this part of them say nothing."""


class ClosedLoops:
    """δ, rates, biases and rows of all loops of a mechanism, and what closes them."""

    def __init__(self, tables: TreeTables, s: TreeState, g: TreeFactors, ties: TiedVariables) -> None:
        model: Model = tables.model
        self._loops, self._s, self._ties, nv = model.loops, s, ties, tables.tree.nv
        kinds: dict[Joint, Code] = {}
        for loop in model.loops:
            if loop.type not in kinds:
                kinds[loop.type] = loop_code(loop)
        self._codes = [kinds[loop.type] for loop in model.loops]
        self._ends = [(1 + loop.successor, 1 + loop.predecessor) for loop in model.loops]
        self._frames = [
            np.array([float(x) for X in (loop.X_successor, loop.X_predecessor) for x in _flat(X)])
            for loop in model.loops
        ]
        self._closing = sum(6 - loop.type.nv for loop in model.loops)
        self.count = rows = self._closing + ties.count
        self.closing = Closing(
            rows, np.zeros(rows * nv + 1), np.zeros(rows + 1), np.zeros(rows * nv + 1), np.zeros(rows * rows + 1),
            np.zeros(rows + 1),
        )  # fmt: skip
        self.delta, self.rate, self.bias = np.zeros(rows), np.zeros(rows), np.zeros(rows)
        self.forces = np.zeros((rows, 2, 6))
        self.bodies = np.zeros((rows, 2), np.int64)
        self._F, self._row, self._z = np.zeros(6 * tables.tree.bodies), np.zeros(nv), np.zeros(nv)
        self._transposed: BoundRoutine = joint_forces.bind(tables.tree, s, self._F, self._row)
        self._solve: BoundRoutine = solve.bind(tables.tree, s, g, self._row, self._z)

    @property
    def K(self) -> Array:
        """The rows over all velocity variables."""
        return self.closing.K[:-1].reshape(self.count, len(self._row))

    def look(self) -> None:
        """δ, rates, biases and forces of the rows where the bodies are now placed."""
        s, first = self._s, 0
        for loop, code, ends, frames in zip(self._loops, self._codes, self._ends, self._frames, strict=True):
            X = np.concatenate([x for b in ends for x in (s.R[9 * b : 9 * b + 9], s.p[3 * b : 3 * b + 3])])
            V, A = (np.concatenate([x[6 * b : 6 * b + 6] for b in ends]) for x in (s.V, s.W))
            out, n = code(s.t, frames, X, V, A), 6 - loop.type.nv
            own = slice(first, first + n)
            self.delta[own], self.rate[own], self.bias[own] = out[: 3 * n].reshape(3, n)
            self.forces[own] = out[3 * n :].reshape(n, 2, 6)
            self.bodies[own] = ends
            first += n
        self.bias[self._closing :] = self._ties.bias

    def spread(self) -> None:
        """K of these rows, Z = P⁻¹Kᵀ and the inverse of K Z, for what is factored now."""
        c = self.closing
        if not self.count:
            return
        Z = c.Z[:-1].reshape(self.count, -1)
        for i in range(self.count):
            self._F[:] = 0.0
            for b, f in zip(self.bodies[i], self.forces[i], strict=True):
                self._F[6 * b : 6 * b + 6] += f
            if i < self._closing:
                self._transposed()
            else:
                self._row[:] = self._ties.rows[i - self._closing]
            self.K[i] = self._row
            self._solve()
            Z[i] = self._z
        c.inverse[:-1] = inverse(self.K @ Z.T).reshape(-1)

    def pull(self, y: Array) -> Array:
        """The motion of least energy with K x = y."""
        c = self.closing
        return (c.inverse[:-1].reshape(self.count, -1) @ y) @ c.Z[:-1].reshape(self.count, -1)


def inverse(A: Array) -> Array:
    """The inverse of a symmetric matrix that is not negative; of dependent rows, that of least size."""
    if not A.size or not np.isfinite(A).all():
        return np.full_like(A, np.nan)
    scale = np.sqrt(np.abs(np.diagonal(A)))
    scale = np.where(scale > NOTHING * scale.max(initial=0.0), scale, np.inf)
    values, vectors = np.linalg.eigh((A + A.T) / 2 / np.outer(scale, scale))
    kept = values > NOTHING
    part = vectors[:, kept] / scale[:, None]
    return (part / values[kept]) @ part.T


def _flat(X: Any) -> tuple[Any, ...]:
    return (*X.E[0], *X.E[1], *X.E[2], *X.r)
