"""The forces with which loop joints keep loops closed (RBDA 8.5)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from knuckle.algorithms.loops import constrained_motion
from knuckle.engine.calls.function import Array, function
from knuckle.functions.dynamics import closed_loop_dynamics
from knuckle.model import Model
from knuckle.public_names import public_in

from .loop_terms import loop_constraints


@public_in("loops")
@function(q="q", v="v", tau="v", f_ext="f", loops=True, joint_space=True)
def forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    stabilization: float | None = None,
) -> Array:
    """λ (..., nc): the forces of the loop joints along their T, which act on the tree as Kᵀλ (RBDA 8.36).

    Where constraints depend on each other, λ is not unique: this is the one of the least norm.
    """
    lam = closed_loop_dynamics(model, q, v, tau, f_ext, stabilization)[1]
    return constrained_motion.least_norm(loop_constraints(model, q), lam)
