"""The wrenches that loop joints transmit (RBDA 8.2)."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from knuckle.algorithms.loops import constrained_motion
from knuckle.algorithms.loops import loop_constraints as loops
from knuckle.engine.calls.function import Array, function
from knuckle.functions.dynamics import closed_loop_dynamics
from knuckle.functions.per_joint import as_vector
from knuckle.model import Model
from knuckle.public_names import public_in
from knuckle.spatial import Matrix, Vector

from .loop_terms import active_jacobian, loop_constraints


@public_in("loops")
@function(q="q", v="v", tau="v", f_ext="f", tau_loop="l", loops=True)
def wrenches(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    tau_loop: ArrayLike | None = None,
    *,
    stabilization: float | None = None,
) -> Array:
    """The wrench (..., nl, 6) through each loop joint, T λ + T_a τ_l: on the successor, in the joint's frame on it.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces of the tree (..., nv).
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        tau_loop: forces of actuators at the freedoms of the loop joints, in their order. They act on the tree too; do
            not add them to `tau`.
        stabilization: T_stab in seconds, as for `forward_dynamics`.

    Where constraints depend on each other, λ is the one of the least norm: real joints share such forces by how stiff
    they are.
    """
    acting = as_vector(tau)
    if tau_loop is not None:
        acting = acting + active_jacobian.reference(model, q).T @ as_vector(tau_loop)
    multipliers = closed_loop_dynamics(model, q, v, acting, f_ext, stabilization)[1]
    lam, own = (
        list(constrained_motion.least_norm(loop_constraints(model, q), multipliers)),
        None if tau_loop is None else list(as_vector(tau_loop)),
    )
    Q = model.positions(q)
    rows: list[Any] = []
    for loop in model.loops:
        at = loops.closure(model, Q, loop)
        wrench = at.T @ Vector(lam.pop(0) for _ in range(len(at.T)))
        if own is not None:
            wrench = wrench + at.T_a @ Vector(own.pop(0) for _ in range(len(at.T_a)))
        rows.append(wrench.components)
    return Matrix(rows, model.algebra.dimension)
