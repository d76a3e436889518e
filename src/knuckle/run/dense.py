"""Constraints in matrices of numbers, for mechanisms with so many that code would be long (RBDA 8.37-8.41)."""

from __future__ import annotations

import weakref
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.constrained import SQUARED_RANK
from knuckle.model import Model

Array = NDArray[Any]

SOUND = 1e-9
"""A factor of A is sound if its smallest pivot is more than this of the largest; else its rank is in question."""


_trees: dict[int, tuple[Any, Model]] = {}
"""Spanning trees by the mechanism's object, forgotten with it."""


def spanning_tree(model: Model) -> Model:
    """The mechanism without its loops, always the same object: its kernels are looked up once."""
    number = id(model)
    if number not in _trees:
        _trees[number] = weakref.ref(model, lambda _: _trees.pop(number, None)), model.without_loops()
    return _trees[number][1]


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
        a = np.zeros(self.H.shape[:-1]) if force is None else np.linalg.solve(self.H, force[..., None])[..., 0]
        for _ in range(2):
            missing = k[..., self._said] - (self.K @ a[..., None])[..., 0]
            a = a + (self._toward @ (self._inverse @ missing[..., None]))[..., 0]
        return a

    @cached_property
    def _toward(self) -> Array:
        """H⁻¹Kᵀ."""
        return np.linalg.solve(self.H, np.swapaxes(self.K, -1, -2))

    @cached_property
    def _inverse(self) -> Array:
        """A⁺, with A = K H⁻¹ Kᵀ."""
        A = self.K @ self._toward
        if _is_sound(A):
            return np.linalg.inv(A)
        values, vectors = np.linalg.eigh(A)
        kept = values > SQUARED_RANK * values[..., -1:]
        weights = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
        return (vectors * weights[..., None, :]) @ np.swapaxes(vectors, -1, -2)


def _is_sound(A: Array) -> bool:
    """Whether there can be no doubt that A is definite: by the pivots of its Cholesky factor."""
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return False
    pivots = np.square(np.diagonal(L, axis1=-2, axis2=-1))
    return bool(np.all(pivots.min(axis=-1, initial=1.0) > SOUND * pivots.max(axis=-1, initial=0.0)))
