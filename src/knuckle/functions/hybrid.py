"""Hybrid dynamics (RBDA 9.1 and 9.2): some joints with their force given, the others with their motion."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from knuckle.algorithms.dynamics import hybrid_dynamics as hybrid
from knuckle.algorithms.dynamics import joint_passive_force
from knuckle.algorithms.loops import constrained_motion
from knuckle.engine.calls.function import Array, function
from knuckle.errors import ModelError
from knuckle.model import Model
from knuckle.model.connectivity import expand_parents
from knuckle.public_names import public
from knuckle.scalar import ZERO, less, select
from knuckle.spatial import Matrix, Vector

from . import floating
from .dynamics import inverse_dynamics, mass_matrix
from .loops.closed_response import articulated, by_bodies, has_many_constraints
from .loops.loop_terms import loop_constraints, stabilized_bias
from .per_joint import all_wrenches, as_vector, minus

CONTRADICTION, NOISE = 1e-2, 1e-6
"""Prescribed accelerations count as impossible if they open the loops by more than this part of what moves there.

Loops that are not quite closed, and depend on each other, open by less; in rad/s² and m/s², rounding by less than the
second number.
"""


@public
def hybrid_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    forced: Iterable[str] | None = None,
    prescribed: Iterable[str] | None = None,
    method: Literal["aba", "crba"] = "aba",
    stabilization: float | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """(a, τ) of all joints, where each has either its force or its acceleration given (RBDA 9.1, 9.2).

    All forced, it is forward dynamics; all prescribed, inverse dynamics; a floating base forced and the rest
    prescribed, what a free-flying robot needs.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces (..., nv), read at the forced joints.
        a: accelerations (..., nv), read at the prescribed joints.
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        forced: names of the joints whose force is given; all others are prescribed.
        prescribed: names of the joints whose acceleration is given; all others are forced. Say one of the two.
        method: "aba", articulated bodies in O(n) (RBDA table 9.3); "crba", the mass matrix of the forced joints, as
            sparse as the tree leaves it (RBDA table 9.1). Couplings and loops always go by the mass matrix.
        stabilization: T_stab of closed loops, as for `forward_dynamics`.

    Returns:
        a and τ (..., nv) each. With closed loops the prescribed joints should be independent ones (see
        `independent_variables`): accelerations that no motion of the loops has give NaN, and where more joints are
        prescribed than the loops leave free, τ is one of many.
    """
    chosen = chosen_joints(model, forced, prescribed)
    if method not in ("aba", "crba"):
        raise ValueError(f'method is "aba" or "crba", not {method!r}')
    both: Any = hybrid_motion(model, q, v, tau, a, f_ext, prescribed=chosen, method=method, stabilization=stabilization)
    n = model.nv
    if isinstance(both, Vector):
        return both[:n], both[n:]  # pyright: ignore[reportReturnType]
    if hasattr(both, "ndim"):
        return both[..., :n], both[..., n:]
    return both[:n, :], both[n:, :]  # a column of a symbolic package


def chosen_joints(model: Model, forced: Iterable[str] | None, prescribed: Iterable[str] | None) -> tuple[int, ...]:
    """The numbers of the prescribed joints."""
    if (forced is None) == (prescribed is None):
        raise TypeError("hybrid_dynamics needs either forced or prescribed: the names of joints")
    names: Any = prescribed if forced is None else forced
    named = {_number(model, name) for name in ((names,) if isinstance(names, str) else names)}
    rest = {i for i in range(model.nb) if i not in model.coupled}
    return tuple(sorted(named if forced is None else rest - named))


def _number(model: Model, name: str) -> int:
    i = model.joint_index(name)
    if i in model.coupled:
        sources = ", ".join(model.joint_names[s] for s in model.coupled[i].sources)
        raise ModelError(f"it follows {sources}, and has neither a force nor an acceleration of its own", element=name)
    return i


@function(q="q", v="v", tau="v", a="v", f_ext="f", loops=True, joint_space=True)
def hybrid_motion(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    prescribed: tuple[int, ...],
    method: str,
    stabilization: float | None,
) -> Array:
    """a and τ, one after the other."""
    if model.loops or model.ties_branches:
        return Vector(x for part in _by_matrices(model, q, v, tau, a, f_ext, prescribed, stabilization) for x in part)
    Q, V, A = model.positions(q), model.velocities(q, v), model.velocities(q, a)
    own = joint_passive_force.resistance(model, Q, V)
    force, f = minus(model.velocities(q, tau), own), all_wrenches(model, Q, V, f_ext)
    limbs = floating.limbs_of(model) if method == "aba" and prescribed == tuple(range(1, model.nb)) else None
    if limbs is not None:
        base, needed = floating.inverse_dynamics(model, limbs, Q, V, force[0], A, f)
        accelerations, needed = {**dict(enumerate(A)), 0: base}, {0: force[0], **needed}
    else:
        solve = hybrid.hybrid_dynamics if method == "aba" else hybrid.by_mass_matrix
        accelerations, needed = solve(model, Q, V, force, A, f, frozenset(range(model.nb)) - set(prescribed))
    forces_given = model.velocities(q, tau)
    total = {i: needed[i] + own[i] if i in prescribed else forces_given[i] for i in needed}
    return Vector((*model.forces(q, accelerations), *model.forces(q, total)))


def _by_matrices(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    a: Any,
    f_ext: Any,
    prescribed: Sequence[int],
    stabilization: float | None,
) -> tuple[Vector, Vector]:
    """(a, τ) from H₁₁ a₁ = τ₁ − C'₁ + K₁ᵀλ and K₁ a₁ = k − K₂ a₂ (RBDA 9.2 with 8.36; notes 2.102)."""
    prescribed_a, forces = as_vector(a), as_vector(tau)
    two = sorted(k for i in prescribed for k in model.variables(i))
    one = [k for k in range(model.nv) if k not in two]
    moved = Vector(prescribed_a[k] if k in two else ZERO for k in range(model.nv))
    C = inverse_dynamics.reference(model, q, v, moved, f_ext)
    rows, k = loop_constraints(model, q), stabilized_bias(model, q, v, stabilization)
    left = k - rows.K @ moved
    accelerations, needed = moved, C
    if one and has_many_constraints(model):
        change, lam = by_bodies(articulated(model, q, prescribed), q, left, forces - C)
        accelerations = moved + change
        needed = inverse_dynamics.reference(model, q, v, accelerations, f_ext) - rows.K.T @ lam
    elif one:
        H = mass_matrix.reference(model, q)
        of_forced = rows.of(one)
        H11 = Matrix(([H[i][j] for j in one] for i in one), len(one))
        a1, lam = constrained_motion.multipliers(
            H11, _parents(model, prescribed, len(one)), of_forced, left, Vector(forces[i] - C[i] for i in one),
            redundant=len(left) >= len(one),
        )  # fmt: skip
        lam = constrained_motion.least_norm(of_forced, lam)
        accelerations = Vector(a1[one.index(i)] if i in one else prescribed_a[i] for i in range(model.nv))
        needed = needed + H @ (accelerations - moved) - rows.K.T @ lam
    pair = accelerations, Vector(needed[i] if i in two else forces[i] for i in range(model.nv))
    return _possible(*pair, rows.K, k) if model.loops and two else pair


def _possible(a: Vector, tau: Vector, K: Matrix, k: Vector) -> tuple[Vector, Vector]:
    """(a, τ), or NaN where the accelerations open the loops."""
    opening = K @ a - k
    size = sum((part @ part for part in (Vector(row) * a for row in K.rows)), k @ k)
    impossible = less(CONTRADICTION * CONTRADICTION * size + NOISE * NOISE, opening @ opening)
    return (
        Vector(select(impossible, math.nan, x) for x in a),
        Vector(select(impossible, math.nan, x) for x in tau),
    )


def _parents(model: Model, prescribed: Sequence[int], n: int) -> tuple[int, ...]:
    """λ' of the forced variables: a chain where couplings or armature tie branches together."""
    if model.ties_branches:
        return tuple(range(-1, n - 1))
    fd = [i for i in range(model.nb) if i not in prescribed]
    return expand_parents(hybrid.merged_parents(model.parents, fd), [model.joints[i].type.nv for i in fd])
