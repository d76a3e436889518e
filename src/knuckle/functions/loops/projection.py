"""Onto the constraint manifold by a fixed number of steps, so that it can be part of any kernel."""

from __future__ import annotations

from numpy.typing import ArrayLike

from knuckle.engine.calls.function import Array, pair_function
from knuckle.functions.configuration import integrate
from knuckle.functions.dynamics import mass_matrix
from knuckle.functions.per_joint import as_vector
from knuckle.model import Model

from .closed_response import response
from .loop_terms import error as loop_error
from .loop_terms import error_rate as loop_error_rate

STEPS = 2
"""Each leaves the square of the error, or its product with the first: of a micrometre there is only rounding left."""


@pair_function(q="q", v="v", loops=True)
def onto_constraints(model: Model, q: ArrayLike, v: ArrayLike, *, steps: int = STEPS) -> tuple[Array, Array]:
    """The nearest state (q, v) with the loops closed, by so many Newton steps with the matrices of the first.

    dq = −H⁻¹Kᵀ(K H⁻¹ Kᵀ)⁺ δ, and the same of v for Tᵀ(v_J − σ): nearest in the sense of the kinetic energy. It is for
    states that are close already, of any batch shape, and inside of kernels; `project` is for others.
    """
    at, rate = as_vector(q), as_vector(v)
    responds = response(model, at, lambda: mass_matrix.reference(model, as_vector(q)))
    for _ in range(steps):
        at = integrate.reference(model, at, responds(-loop_error.reference(model, at))[0])
    for _ in range(steps):
        rate = rate + responds(-loop_error_rate.reference(model, at, rate))[0]
    return at, rate
