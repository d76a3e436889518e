"""The rows of constraints for a batch of states: φ, φ̇, φ̈, and products with J and Jᵀ, by a matrix or without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.loops.constraint_rank import ROUNDING, doubt_of
from knuckle.algorithms.loops.loop_constraints import corrected
from knuckle.functions.frame_jacobian_products import body_product as body_jacobian_product
from knuckle.functions.frame_jacobian_products import body_transpose_product as body_jacobian_transpose_product
from knuckle.functions.loops.dense_constraints import spanning_tree
from knuckle.functions.loops.loop_terms import (
    bias as loop_bias,
)
from knuckle.functions.loops.loop_terms import (
    error as loop_error,
)
from knuckle.functions.loops.loop_terms import (
    error_rate as loop_error_rate,
)
from knuckle.functions.loops.loop_terms import (
    jacobian as loop_jacobian,
)
from knuckle.functions.loops.loop_terms import (
    sizes_at,
)
from knuckle.model import Model

from .base import ACCELERATION, POSITION, Constraint
from .constraint_terms import body_terms, dense_terms, term_sizes

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Rows:
    """m rows for a batch of states: those `on_variables` are rows of G, those `on_bodies` forces G_mᵀ on `bodies`.

    Products with the latter go through the velocities of the bodies, and forces on them, in O(n) (notes 2.10).
    """

    model: Model
    q: Array
    v: Array
    measured: Array
    equality: NDArray[np.bool_]
    level: Array
    G: Array
    on_variables: Array
    on_bodies: Array
    bodies: Array
    wrenches: Array
    sizes: Array
    doubt: Array

    def at(self, s: int) -> Rows:
        """The rows of one state, without a batch axis: products take any batch then."""
        return Rows(
            self.model, self.q[s], self.v[s], self.measured[s], self.equality, self.level,
            self.G[s], self.on_variables, self.on_bodies, self.bodies, self.wrenches[s], self.sizes[s], self.doubt[s],
        )  # fmt: skip

    def product(self, x: Array) -> Array:
        """J x (..., m)."""
        products = np.zeros((*x.shape[:-1], len(self.equality)))
        products[..., self.on_variables] = np.einsum("...mn,...n->...m", self.G, x)
        if len(self.on_bodies):
            moved = np.asarray(body_jacobian_product(self.model, self.q, x), float)
            moved = np.concatenate([moved, np.zeros_like(moved[..., :1, :])], axis=-2)  # ROOT is the last
            both = moved[..., self.bodies, :].reshape(*moved.shape[:-2], len(self.on_bodies), -1)
            products[..., self.on_bodies] = (self.wrenches * both).sum(-1)
        return products

    def transposed(self, y: Array) -> Array:
        """Jᵀ y (..., nv)."""
        total = np.einsum("...mn,...m->...n", self.G, y[..., self.on_variables])
        if len(self.on_bodies):
            each = (self.wrenches * y[..., self.on_bodies, None]).reshape(*y.shape[:-1], *self.bodies.shape, -1)
            f = np.zeros((*y.shape[:-1], self.model.nb + 1, self.model.algebra.dimension))
            for row, pair in enumerate(self.bodies):
                for side, body in enumerate(pair):
                    f[..., body, :] += each[..., row, side, :]
            total = total + body_jacobian_transpose_product(self.model, self.q, f[..., :-1, :])
        return total

    def accelerations(self, time: float | None, tolerance: float) -> tuple[Array, NDArray[np.bool_]]:
        """(k, whether each row acts): J a = k and J a ≥ k (notes 2.96, 2.101), with Baumgarte's pull (RBDA 8.21)."""
        error, rate, bias = (self.measured[..., i] for i in range(3))
        if time is None:
            touching = (error <= tolerance) & (rate <= tolerance)
            return -bias, self.equality | touching | (self.level == ACCELERATION)
        if not time > 0:
            raise ValueError(f"stabilization is {time}, and must be a positive time in seconds, or None")
        return corrected(-bias, rate, error, time), np.ones(error.shape, bool)

    def velocities(self, step: float, time: float | None) -> Array:
        """The least J v at the end of a step (notes 2.95, 2.97, 2.103): where inequalities are not passed by then."""
        error, rate, bias = (self.measured[..., i] for i in range(3))
        still = self.product(self.v) - rate
        back = -error / time if time is not None else 0.0 * error
        apart = np.where(self.equality | (error < 0), back, -error / step)
        of_positions = still + np.where(self.level == POSITION, apart, 0.0)
        return np.where(self.level == ACCELERATION, self.product(self.v) - step * bias, of_positions)


def tree_of(model: Model) -> Model:
    """The mechanism itself, or its spanning tree."""
    return spanning_tree(model) if model.loops else model


def rows_of(model: Model, constraints: tuple[Constraint, ...], q: Array, v: Array, *, dense: bool) -> Rows:
    """The rows of a model's loop joints and of constraints, in order, for states (s, nq) and (s, nv)."""
    for constraint in constraints:
        if not isinstance(constraint, Constraint):  # pyright: ignore[reportUnnecessaryIsInstance]
            kind = type(constraint).__name__
            raise TypeError(f"constraints are those of kn.constraints, not {kind}: {constraint!r}")
    tree, states = tree_of(model), len(q)
    on_bodies = [i for i, constraint in enumerate(constraints) if not dense and constraint.bodies(tree) is not None]
    on_variables = [i for i in range(len(constraints)) if i not in on_bodies]
    loops = _loop_rows(model, q, v) if model.loops else np.zeros((states, 0, tree.nv + 3))
    G, whose = _terms(dense_terms, tree, q, v, constraints, on_variables, tree.nv)
    W, whose_too = _terms(body_terms, tree, q, v, constraints, on_bodies, 2 * tree.algebra.dimension)
    owner = np.concatenate([np.full(loops.shape[1], -1), whose, whose_too])
    order = np.argsort(owner, kind="stable")
    measured = np.concatenate([part[..., -3:] for part in (loops, G, W)], axis=1)[:, order]
    equality_and_level = [(True, POSITION), *((constraint.is_equality, constraint.level) for constraint in constraints)]
    pairs = [constraints[i].bodies(tree) or (-1, -1) for i in map(int, whose_too)]
    return Rows(
        tree, q, v, measured,
        np.array([equality_and_level[i + 1][0] for i in owner[order]], bool),
        np.array([equality_and_level[i + 1][1] for i in owner[order]], int),
        np.concatenate([loops[..., :-3], G[..., :-3]], axis=1),
        np.flatnonzero(order < len(owner) - len(whose_too)),
        np.flatnonzero(order >= len(owner) - len(whose_too)),
        np.array(pairs, int).reshape(-1, 2),
        W[..., :-3],
        *_judged(model, tree, constraints, q, v),
    )  # fmt: skip


def _judged(model: Model, tree: Model, constraints: tuple[Constraint, ...], q: Array, v: Array) -> tuple[Array, Array]:
    """The sizes of the terms of all rows (s, m, nv), and the part of them that says nothing (s,)."""
    parts, doubt = [np.zeros((len(q), 0, tree.nv))], np.full(len(q), ROUNDING)
    if model.loops:
        size, doubt = sizes_at(model, q)
        parts.append(size)
    if constraints:
        sizes = np.asarray(term_sizes(tree, q, v, constraints=constraints), float)
        parts.append(sizes[..., :-1])
        doubt = np.maximum(doubt, np.sqrt(np.asarray(doubt_of(sizes[..., -1].sum(-1)), float)))
    return np.concatenate(parts, axis=1), doubt


def _loop_rows(model: Model, q: Array, v: Array) -> Array:
    """The rows of the loop joints (s, nc, nv + 3): K, δ, its rate and −k (RBDA 8.15-8.27)."""
    last = [loop_error(model, q), loop_error_rate(model, q, v), -np.asarray(loop_bias(model, q, v))]
    return np.concatenate([np.asarray(loop_jacobian(model, q), float), np.stack(last, -1)], -1)


def _terms(
    text: Any, model: Model, q: Array, v: Array, constraints: tuple[Constraint, ...], which: list[int], width: int
) -> tuple[Array, Array]:
    """The rows of some constraints (s, m, width + 3), and whose they are."""
    if not which:
        return np.zeros((len(q), 0, width + 3)), np.zeros(0, int)
    terms = np.asarray(text(model, q, v, constraints=tuple(constraints[i] for i in which)), float)
    numbers = terms[0, :, -1].astype(int) if len(terms) else np.zeros(terms.shape[1], int)
    return terms[..., :-1], np.array(which)[numbers]
