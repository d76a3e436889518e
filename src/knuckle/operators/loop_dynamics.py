"""Forward dynamics of a model with loop joints by the spatial operators (0.24, 0.37)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from knuckle.algorithms.loops import loop_constraints
from knuckle.algorithms.loops.loop_constraints import corrected
from knuckle.engine.calls.function import Array, function
from knuckle.functions.dynamics import bias_force
from knuckle.functions.loops.dense_constraints import spanning_tree
from knuckle.functions.loops.loop_terms import judged_constraints
from knuckle.functions.per_joint import drift
from knuckle.model import Model
from knuckle.solvers.numeric_rank import Factor, Judged
from knuckle.spatial import Matrix

from .array_operators import loop_points, on_arrays, real
from .operators_at import check
from .symbols import B, D_root, H, psi, whitening

_scale = D_root.inverse
"""D^−½."""


@function(q="q", v="v", loops=True)
def closure_rows(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Of each constraint: its row of A at the successor's and at the predecessor's point, k, Tᵀ(v_J − σ) and δ."""
    Q, V, g = model.positions(q), model.velocities(q, v), drift(model, q, v)
    rows: list[list[Any]] = []
    for loop in model.loops:
        at = loop_constraints.closure(model, Q, loop)
        motion = loop_constraints.loop_motion(model, Q, V, g, loop, at)
        for j, t in enumerate(at.T):
            rows.append([*t.components, *(-(at.X.T @ t)).components, motion.k[j], motion.error_rate[j], at.delta[j]])
    return Matrix(rows, 2 * model.algebra.dimension + 3)


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    stabilization: float | None = None,
) -> Any:
    """The acceleration a (..., nv) of a mechanism, its loops kept closed, by spatial operators.

    β̇ = [I − HψK]* D^−½* ([I − b b⁺] ν + (b*)⁺ U) with ν = D^−½ [I − HψK] T̄ and b = D^−½ HψB A* (0.37), which the paper
    gives for U = 0 and with (b*b)⁻¹ = (AΛA*)⁻¹. With the generalised inverse of b itself no condition is squared, and
    constraints that depend on each other do no harm.

    Args:
        model: the mechanism, without couplings.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces (..., nv).
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        stabilization: T_stab in seconds, as for `knuckle.forward_dynamics`.
    """
    tree = spanning_tree(model) if isinstance(model, Model) and model.loops else model
    check(tree)
    q, v, tau = real("q", q), real("v", v), real("tau", tau)
    T_bar = tau - bias_force(tree, q, v, f_ext)
    q = q if q.ndim == 1 else np.broadcast_to(q, (*T_bar.shape[:-1], model.nq))
    apply = on_arrays(tree, q, loop_points(model))
    nu = apply(_scale @ whitening, T_bar)
    if model.loops:
        A, U = _constraints(model, q, v, stabilization)
        b = np.swapaxes(apply(_scale @ H @ psi @ B, A), -1, -2)
        nu = _projected(b, nu, U, judged_constraints(model, q)) if A.shape[-2] else nu
    return apply(whitening.T @ _scale.T, nu)


def _constraints(model: Model, q: Any, v: Any, time: float | None) -> tuple[Any, Any]:
    """A (..., NE, points · 6) and U (..., NE), with stabilisation."""
    rows = np.asarray(closure_rows(model, q, v))
    n = 2 * model.algebra.dimension
    A = np.zeros((*rows.shape[:-1], len(model.loops), n))
    start = 0
    for k, loop in enumerate(model.loops):
        end = start + model.algebra.dimension - loop.type.nv
        A[..., start:end, k, :] = rows[..., start:end, :n]
        start = end
    U = corrected(rows[..., n], rows[..., n + 1], rows[..., n + 2], time)
    return A.reshape(*rows.shape[:-1], len(model.loops) * n), U


def _projected(b: Any, nu: Any, U: Any, rows: Judged) -> Any:
    """[I − b b⁺] ν + (b*)⁺ U, what of b is rounding being left out."""
    factor = Factor(*rows.through(np.swapaxes(b, -1, -2)), rows.doubt)
    return factor.freed(nu) + factor.least(U)
