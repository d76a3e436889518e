"""Constraints in matrices of numbers, for mechanisms with so many that code would be long (RBDA 8.37-8.46)."""

from __future__ import annotations

import weakref
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.constrained import SQUARED_RANK
from knuckle.algorithms.independent import Choice
from knuckle.model import Model

from .configuration import neutral
from .loops import constraint_jacobian, loop_gap

Array = NDArray[Any]

SOUND = 1e-9
"""A factor of A is sound if its smallest pivot is more than this of the largest; else its rank is in question."""
WELL = 30.0
"""Variables determine others well that move by no more than so many times as much."""
MET = 1e-9
"""Constraints are met to this part of what is in them, if none is forgotten."""
CLOSED = 1e-9
"""What counts as closed, in metres and radians."""

_trees: dict[int, tuple[Any, Model]] = {}
_choices: dict[int, tuple[Any, Choice | None]] = {}
"""Spanning trees and independent variables by the mechanism's object, forgotten with it."""


def spanning_tree(model: Model) -> Model:
    """The mechanism without its loops, always the same object: its kernels are looked up once."""
    number = id(model)
    if number not in _trees:
        _trees[number] = weakref.ref(model, lambda _: _trees.pop(number, None)), model.without_loops()
    return _trees[number][1]


class Dense:
    """H (..., n, n) and K (..., nc, n), and the accelerations that satisfy K a = k.

    Constraints that say nothing anywhere, such as those across a plane in which everything moves, are left out. With a
    `model`, the variables that are independent at its neutral position serve wherever they determine the others well
    (RBDA 8.42-8.46): that is the shorter way. Else the constraint forces come first (8.37-8.41).
    """

    def __init__(self, H: Array, K: Array, model: Model | None = None) -> None:
        self.H, self._all = H, K
        self._choice = None if model is None else chosen(model)

    def response(self, k: Array, force: Array | None = None) -> Array:
        """a with H a = τ + Kᵀλ and K a = k."""
        found = self._by_variables(k, force) if self._G is not None else None
        return self._by_forces(k, force) if found is None else found

    def _by_variables(self, k: Array, force: Array | None) -> Array | None:
        """a = G ÿ + g; None if some constraint is not met, which these variables then do not know of."""
        assert self._choice is not None
        assert self._G is not None
        g = np.zeros(np.broadcast_shapes(k.shape[:-1], self.H.shape[:-2]) + self.H.shape[-1:])
        wanted = k[..., list(self._choice.constraints), None]
        g[..., list(self._choice.dependent)] = np.linalg.solve(self._square, wanted)[..., 0]
        rest = -(self.H @ g[..., None]) if force is None else force[..., None] - self.H @ g[..., None]
        G = self._G
        a = g + (G @ np.linalg.solve(self._reduced, np.swapaxes(G, -1, -2) @ rest))[..., 0]
        missing = np.abs((self._all @ a[..., None])[..., 0] - k).max(axis=-1, initial=0.0)
        size = np.abs(self._all).max(axis=(-2, -1)) * np.abs(a).max(axis=-1) + np.abs(k).max(axis=-1, initial=0.0)
        return a if np.all(missing <= MET * size) else None

    @cached_property
    def _square(self) -> Array:
        """K of the dependent variables, for the constraints that determine them."""
        assert self._choice is not None
        return self._all[..., list(self._choice.constraints), :][..., list(self._choice.dependent)]

    @cached_property
    def _G(self) -> Array | None:
        """G (..., n, m), if the independent variables determine the others well."""
        choice, K = self._choice, self._all
        if choice is None:
            return None
        free = K[..., list(choice.constraints), :][..., list(choice.independent)]
        try:
            follow = -np.linalg.solve(self._square, free)
        except np.linalg.LinAlgError:
            return None
        if not np.abs(follow).max(initial=0.0) <= WELL:
            return None
        G = np.zeros((*follow.shape[:-2], K.shape[-1], len(choice.independent)))
        G[..., list(choice.dependent), :] = follow
        G[..., list(choice.independent), range(len(choice.independent))] = 1.0
        return G

    @cached_property
    def _reduced(self) -> Array:
        """GᵀHG."""
        assert self._G is not None
        return np.swapaxes(self._G, -1, -2) @ (self.H @ self._G)

    def _by_forces(self, k: Array, force: Array | None) -> Array:
        """By the constraint forces, once refined."""
        K, said = self._said
        a = np.zeros(self.H.shape[:-1]) if force is None else np.linalg.solve(self.H, force[..., None])[..., 0]
        for _ in range(2):
            missing = k[..., said] - (K @ a[..., None])[..., 0]
            a = a + (self._toward @ (self._inverse @ missing[..., None]))[..., 0]
        return a

    @cached_property
    def _said(self) -> tuple[Array, Array]:
        """The constraints that say something, and which they are."""
        K = self._all
        said = np.flatnonzero(np.abs(K).max(axis=(*range(K.ndim - 2), -1), initial=0.0))
        return K[..., said, :], said

    @cached_property
    def _toward(self) -> Array:
        """H⁻¹Kᵀ."""
        return np.linalg.solve(self.H, np.swapaxes(self._said[0], -1, -2))

    @cached_property
    def _inverse(self) -> Array:
        """A⁺, with A = K H⁻¹ Kᵀ."""
        A = self._said[0] @ self._toward
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


def chosen(model: Model) -> Choice | None:
    """The independent variables at the neutral position, if that closes the loops: elsewhere the rank is another.

    They are always the same for a mechanism, so that runs repeat to the last bit.
    """
    number = id(model)
    if number not in _choices:
        q = neutral(model)
        closed = np.abs(loop_gap(model, q)).max(initial=0.0) <= CLOSED
        found = choice_of(np.asarray(constraint_jacobian(model, q), float)) if closed else None
        _choices[number] = weakref.ref(model, lambda _: _choices.pop(number, None)), found
    return _choices[number][1]


def choice_of(K: Array, tolerance: float = 1e-9) -> Choice:
    """`algorithms.independent.choose` for matrices of numbers: elimination with complete pivoting (RBDA 8.8)."""
    size = np.abs(K).max(axis=1, initial=0.0)
    left = np.where(size[:, None] > 0, K / np.where(size > 0, size, 1.0)[:, None], 0.0)
    constraints, dependent = list[int](), list[int]()
    for _ in range(min(K.shape)):
        i, j = divmod(int(np.argmax(np.abs(left))), K.shape[1])
        if not abs(left[i, j]) > tolerance:
            break
        constraints.append(i)
        dependent.append(j)
        left = left - np.outer(left[:, j] / left[i, j], left[i])
        left[i], left[:, j] = 0.0, 0.0
    return Choice(tuple(constraints), tuple(dependent), tuple(k for k in range(K.shape[1]) if k not in dependent))
