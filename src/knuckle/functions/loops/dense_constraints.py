"""Constraints in matrices of numbers, for mechanisms with so many that code would be long (RBDA 8.37-8.46)."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.loops.constraint_rank import ROUNDING
from knuckle.algorithms.loops.independent_variables import Choice
from knuckle.engine.kernels.per_model import per_model
from knuckle.functions.configuration import neutral
from knuckle.model import Model
from knuckle.solvers.numeric_rank import Factor, Judged, choice_of

from .loop_terms import gap as loop_gap
from .loop_terms import judged_constraints

Array = NDArray[Any]

WELL = 30.0
"""Variables determine others well that move by no more than so many times as much."""
MET = 1e-9
"""Constraints are met to this part of what is in them, if none is forgotten."""
CLOSED = 1e-9
"""What counts as closed, in metres and radians."""


@per_model
def spanning_tree(model: Model) -> Model:
    """The mechanism without its loops, always the same object: its kernels are looked up once."""
    return model.without_loops()


class DenseConstraints:
    """H (..., n, n) and constraints K (..., nc, n), and the accelerations that satisfy K a = k.

    With a `model`, the variables that are independent at its neutral position serve wherever they determine the others
    well (RBDA 8.42-8.46): that is the shorter way. Elsewhere the constraint forces come first (8.37-8.41). Each state
    goes its own way, whatever others are in the batch.
    """

    def __init__(self, H: Array, rows: Judged, model: Model | None = None) -> None:
        self.H, self.rows = H, rows
        self._choice = None if model is None else chosen(model)

    def response(self, k: Array, force: Array | None = None) -> Array:
        """a with H a = τ + Kᵀλ and K a = k."""
        if self._choice is None:
            return self._by_forces(k, force)
        a, right = self._by_variables(k, force)
        if not right.all():
            self._replace(a, np.flatnonzero(~right), k, force)
        return a

    def multipliers(self, force: Array) -> Array:
        """The least λ with Kᵀλ = f, for f in the range of Kᵀ."""
        return self._factor.multipliers(_solved(self._L, force[..., None])[..., 0])

    def _by_variables(self, k: Array, force: Array | None) -> tuple[Array, Array]:
        """a = G ÿ + g, and where that is right: no constraint is missed, as one that the choice does not know of is."""
        assert self._choice is not None
        G, well = self._G
        g = np.zeros(np.broadcast_shapes(k.shape[:-1], self.H.shape[:-2]) + self.H.shape[-1:], np.result_type(k, G))
        right_side = k[..., list(self._choice.constraints), None]
        g[..., list(self._choice.dependent)] = _solved(self._square, right_side)[..., 0]
        rest = -(self.H @ g[..., None]) if force is None else force[..., None] - self.H @ g[..., None]
        a = g + (G @ _solved(self._reduced, np.swapaxes(G, -1, -2) @ rest))[..., 0]
        K = self.rows.K
        missing = np.abs((K @ a[..., None])[..., 0] - k)
        sizes = np.abs(K) @ np.abs(a)[..., None]
        size = sizes[..., 0] + np.abs(k)
        met = missing <= MET * size + ROUNDING * size.max(axis=-1, keepdims=True, initial=0.0)
        return a, np.broadcast_to(well & met.all(-1), a.shape[:-1])

    def _replace(self, a: Array, states: Array, k: Array, force: Array | None) -> None:
        """The rows of a of some states by the constraint forces; in place. Those that are not finite stay so."""
        batch = a.shape[:-1]

        def some(x: Array, own: int) -> Array:
            return np.broadcast_to(x, (*batch, *x.shape[x.ndim - own :])).reshape(-1, *x.shape[x.ndim - own :])[states]

        few = DenseConstraints(some(self.H, 2), self.rows.at(states, batch))
        a.reshape(math.prod(batch), -1)[states] = few.response(some(k, 1), None if force is None else some(force, 1))

    @cached_property
    def _square(self) -> Array:
        """K of the dependent variables, for the constraints that determine them."""
        assert self._choice is not None
        return self.rows.K[..., list(self._choice.constraints), :][..., list(self._choice.dependent)]

    @cached_property
    def _G(self) -> tuple[Array, Array]:
        """G (..., n, m), and where the independent variables determine the others well."""
        assert self._choice is not None
        choice, K = self._choice, self.rows.K
        free = K[..., list(choice.constraints), :][..., list(choice.independent)]
        follow = -_solved(self._square, free)
        G = np.zeros((*follow.shape[:-2], K.shape[-1], len(choice.independent)), follow.dtype)
        G[..., list(choice.dependent), :] = follow
        G[..., list(choice.independent), range(len(choice.independent))] = 1.0
        return G, np.abs(follow).max(axis=(-2, -1), initial=0.0) <= WELL

    @cached_property
    def _reduced(self) -> Array:
        """GᵀHG."""
        G = self._G[0]
        return np.swapaxes(G, -1, -2) @ (self.H @ G)

    def _by_forces(self, k: Array, force: Array | None) -> Array:
        """By the constraint forces, once refined: with H = L Lᵀ, y = Lᵀa changes least, and B y = k for B = K L⁻ᵀ."""
        if any(np.iscomplexobj(x) for x in (self.H, self.rows.K, k, 0.0 if force is None else force)):
            return self._complex_step(k, force)
        n = self.H.shape[-1]
        y = np.zeros((*self.H.shape[:-2], n)) if force is None else _solved(self._L, force[..., None])[..., 0]
        right_side = self._factor.nearest(k)
        for _ in range(2):
            y = y + self._factor.least(right_side - (self._B @ y[..., None])[..., 0])
        return _solved(np.swapaxes(self._L, -1, -2), y[..., None])[..., 0]

    def _complex_step(self, k: Array, force: Array | None) -> Array:
        """The same for imaginary parts that are small changes: which constraints count is decided by the real ones."""
        nothing: Array = np.zeros(int(self.H.shape[-1]))
        f = nothing if force is None else force
        real = DenseConstraints(
            np.real(self.H), Judged(np.real(self.rows.K), lambda: (self.rows.size, self.rows.doubt))
        )
        a = real.response(np.real(k), np.real(f))
        H, K = np.imag(self.H), np.imag(self.rows.K)
        lam = real.multipliers((real.H @ a[..., None])[..., 0] - np.real(f))
        pull = np.imag(f) + (np.swapaxes(K, -1, -2) @ lam[..., None] - H @ a[..., None])[..., 0]
        return a + 1j * real.response(np.imag(k) - (K @ a[..., None])[..., 0], pull)

    @cached_property
    def _L(self) -> Array:
        """H = L Lᵀ."""
        return _rooted(self.H)

    @cached_property
    def _B(self) -> Array:
        """K L⁻ᵀ."""
        return np.swapaxes(_solved(self._L, np.swapaxes(self.rows.K, -1, -2)), -1, -2)

    @cached_property
    def _factor(self) -> Factor:
        return Factor(*self.rows.through(self._B), self.rows.doubt)


def _solved(A: Array, b: Array) -> Array:
    """A⁻¹ b; NaN for matrices that are singular, whatever the others of the batch are."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        if A.ndim == 2:
            return np.full(b.shape, np.nan)
        batch = np.broadcast_shapes(A.shape[:-2], b.shape[:-2])
        each = (np.broadcast_to(x, (*batch, *x.shape[-2:])).reshape(-1, *x.shape[-2:]) for x in (A, b))
        return np.array([_solved(*pair) for pair in zip(*each, strict=True)]).reshape(*batch, *b.shape[-2:])


def _rooted(H: Array) -> Array:
    """L with H = L Lᵀ; NaN for matrices that are not positive definite, whatever the others of the batch are."""
    try:
        return np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        if H.ndim == 2:
            return np.full(H.shape, np.nan)
        return np.array([_rooted(x) for x in H.reshape(-1, *H.shape[-2:])]).reshape(H.shape)


@per_model
def chosen(model: Model) -> Choice | None:
    """The independent variables at the neutral position, if that closes the loops: elsewhere the rank is another.

    They are always the same for a mechanism, so that runs repeat to the last bit.
    """
    q = neutral(model)
    is_closed = np.abs(loop_gap(model, q)).max(initial=0.0) <= CLOSED
    return choice_of(judged_constraints(model, q)) if is_closed else None
