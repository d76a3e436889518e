"""Constraints in matrices of numbers, for mechanisms with so many that code would be long (RBDA 8.37-8.41)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.constrained import SQUARED_RANK

Array = NDArray[Any]

SOUND = 1e-9
"""A factor of A is sound if its smallest pivot is more than this of the largest; else its rank is in question."""


class Dense:
    """H (..., n, n) and K (..., nc, n), and the accelerations that satisfy K a = k.

    Constraints that say nothing anywhere, such as those across a plane in which everything moves, are left out.
    """

    def __init__(self, H: Array, K: Array) -> None:
        self.H = H
        self._said = np.flatnonzero(np.abs(K).max(axis=(*range(K.ndim - 2), -1), initial=0.0))
        self.K = K[..., self._said, :]

    def response(self, k: Array, force: Array | None = None) -> Array:
        """a with H a = τ + Kᵀλ and K a = k, once refined."""
        a = np.zeros_like(self.H[..., 0]) if force is None else np.linalg.solve(self.H, force[..., None])[..., 0]
        for _ in range(2):
            missing = (k[..., self._said] - (self.K @ a[..., None])[..., 0])[..., None]
            a = a + (self._toward @ self._solved(missing))[..., 0]
        return a

    @cached_property
    def _toward(self) -> Array:
        """H⁻¹Kᵀ."""
        return np.linalg.solve(self.H, np.swapaxes(self.K, -1, -2))

    def _solved(self, b: Array) -> Array:
        """A⁺ b, with A = K H⁻¹ Kᵀ."""
        if self._factor is not None:
            return np.linalg.solve(np.swapaxes(self._factor, -1, -2), np.linalg.solve(self._factor, b))
        values, vectors = self._spectrum
        kept = values > SQUARED_RANK * values[..., -1:]
        inverse = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)[..., None]
        return vectors @ (inverse * (np.swapaxes(vectors, -1, -2) @ b))

    @cached_property
    def _factor(self) -> Array | None:
        """The Cholesky factor of A; None where its rank is in question."""
        try:
            L = np.linalg.cholesky(self.K @ self._toward)
        except np.linalg.LinAlgError:
            return None
        pivots = np.square(np.diagonal(L, axis1=-2, axis2=-1))
        return L if np.all(pivots.min(axis=-1, initial=1.0) > SOUND * pivots.max(axis=-1, initial=0.0)) else None

    @cached_property
    def _spectrum(self) -> Any:
        return np.linalg.eigh(self.K @ self._toward)
