"""Onto the constraint manifold by a fixed number of steps, so that it can be part of any kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from knuckle.algorithms.loops import constrained_motion
from knuckle.engine.calls.function import Array, Stages, function
from knuckle.functions.configuration import integrate
from knuckle.functions.dynamics import is_long, mass_matrix, tree_parents
from knuckle.functions.per_joint import as_vector
from knuckle.model import Model
from knuckle.spatial import Vector

from .dense_constraints import Dense, spanning_tree
from .loop_terms import is_redundant, judged_constraints, loop_constraints, loop_error, loop_error_rate

STEPS = 2
"""Each leaves the square of the error, or its product with the first: of a micrometre there is only rounding left."""


def onto_constraints(model: Model, q: ArrayLike, v: ArrayLike, *, steps: int = STEPS) -> tuple[Array, Array]:
    """The nearest state (q, v) with the loops closed, by so many Newton steps with the matrices of the first.

    dq = −H⁻¹Kᵀ(K H⁻¹ Kᵀ)⁺ δ, and the same of v for Tᵀ(v_J − σ): nearest in the sense of the kinetic energy. It is for
    states that are close already, of any batch shape, and inside of kernels; `project` is for others.
    """
    both: Any = _onto_constraints(model, q, v, steps=steps)
    if isinstance(both, Vector):
        return both[: model.nq], both[model.nq :]
    return both[..., : model.nq], both[..., model.nq :]


LONG = Stages(lambda model, options: is_long(model), lambda *args, **options: _by_stages(*args, **options))


@function(q="q", v="v", loops=True, stages=LONG)
def _onto_constraints(model: Model, q: ArrayLike, v: ArrayLike, *, steps: int) -> Array:
    at, rate = as_vector(q), as_vector(v)
    H, rows = mass_matrix.reference(model, at), loop_constraints(model, at)
    made = constrained_motion.orthogonal(H, tree_parents(model), rows, redundant=is_redundant(model))
    for _ in range(steps):
        at = integrate.reference(model, at, made.response(-loop_error.reference(model, at))[0])
    for _ in range(steps):
        rate = rate + made.response(-loop_error_rate.reference(model, at, rate))[0]
    return Vector([*at, *rate])


def _by_stages(model: Model, q: Any, v: Any, *, steps: int) -> Any:
    """The same with many loops, in matrices of numbers."""
    made = Dense(mass_matrix(spanning_tree(model), q), judged_constraints(model, q), model)
    at, rate = np.asarray(q), np.asarray(v)
    for _ in range(steps):
        at = integrate(model, at, made.response(-loop_error(model, at)))
    for _ in range(steps):
        rate = rate + made.response(-loop_error_rate(model, at, rate))
    return _joined(at, rate)


def _joined(q: Any, v: Any) -> Any:
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v)], axis=-1)
