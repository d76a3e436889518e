"""Closed loops through time: how they are kept closed (RBDA 8.3), and what an integrator needs to know of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.loops import constrained_motion
from knuckle.algorithms.loops.independent_variables import Choice
from knuckle.errors import ModelError
from knuckle.functions import mass_matrix
from knuckle.functions.loops.closed_response import response
from knuckle.functions.loops.loop_terms import constraint_count, is_redundant, loop_constraints
from knuckle.functions.loops.loop_terms import error_rate as loop_error_rate
from knuckle.functions.loops.loop_terms import gap as loop_gap
from knuckle.joints import Free
from knuckle.model import Model
from knuckle.scalar import ZERO, constant
from knuckle.spatial import Matrix, Vector

if TYPE_CHECKING:
    from knuckle.maximal_coordinates.sparse_dynamics import SparseDynamics

Array: TypeAlias = NDArray[Any]
Stabilization: TypeAlias = float | Literal["projection"] | Choice | None
"""T_stab in seconds (RBDA 8.21-8.23), or projection onto the constraint manifold after every step, or independent
variables that are integrated alone while the others follow (8.56), or nothing."""

OPEN = 1e-6
"""How far open loops may be at the beginning, in radians and metres, and per second: projection closes them at once."""
MOST_IN_CODE = 60
"""Constraints that close at one body, beyond which a rollout would take minutes to compile."""
MOST_WORK = 200_000
"""Products between constraints, beyond which equations with matrices of their own are too long for code."""


def stabilization_of(value: Any) -> Stabilization:
    """The argument `stabilization`, if it is one."""
    if value is None or isinstance(value, Choice) or (isinstance(value, str) and value == "projection"):
        return value
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not 0 < float(value) < np.inf:
        raise ValueError(
            'stabilization is "projection", the seconds in which loop errors decay, what '
            f"kn.loops.independent_variables chose, or None, not {value!r}"
        )
    return float(value)


def must_be_closed(model: Model, q: Array, v: Array, stabilization: Stabilization, t: float = 0.0) -> None:
    """An error if projection would move the first state, (..., nq) and (..., nv), by more than rounding explains.

    States that are not numbers pass: they stay what they are, in a batch too.
    """
    if not model.loops or stabilization is None or isinstance(stabilization, float):
        return
    gaps, rate = _openness(model, q, v, t)
    worst = int(np.argmax(gaps))
    advice = "or use stabilization=0.1, with which loops close in so many seconds"
    if gaps[worst] > OPEN:
        raise ValueError(
            f"q0: loop {model.loops[worst].name!r} is open by {gaps[worst]:.3g} (m, rad); start from "
            f"kn.loops.close(model, q0).q, {advice}"
        )
    if rate > OPEN * (1 + np.nan_to_num(np.abs(v)).max(initial=0.0)):
        raise ValueError(
            f"v0: the loops open with {rate:.3g} (m/s, rad/s); start from kn.loops.project(model, q0, v0), {advice}"
        )


def _openness(model: Model, q: Array, v: Array, t: float) -> tuple[Array, float]:
    """How far each loop is open (loops,) in the worst of states (..., nq), (..., nv), and the largest rate."""
    if q.ndim == v.ndim == 1 and goes_sparse(model):
        return sparse_dynamics(model).openness(q, v)
    now = model.at_time(t) if model.depends_on_time else model
    gaps = np.nan_to_num(np.abs(loop_gap(now, q)))
    rate = float(np.nan_to_num(np.abs(loop_error_rate(now, q, v))).max(initial=0.0))
    return gaps.reshape(-1, *gaps.shape[-2:]).max(axis=(0, 2), initial=0.0), rate


def goes_sparse(model: Model) -> bool:
    """Whether a mechanism with loops is better off with sparse equations of all bodies, and can have them."""
    if not model.loops:
        return False
    from knuckle.maximal_coordinates import sparse_dynamics

    return sparse_dynamics.goes_sparse(model)


def can_be_held(model: Model) -> bool:
    """Whether sparse equations can hold what dry friction may: no variables of free joints."""
    return not any(
        isinstance(joint.type, Free) and any(constant(f) is not ZERO for f in joint.friction) for joint in model.joints
    )


def sparse_dynamics(model: Model, hold: float = 0.0) -> SparseDynamics:
    """The functions of dynamics by sparse equations; those that hold variables have an inertia `hold` for them."""
    from knuckle.maximal_coordinates.sparse_dynamics import SparseDynamics

    return SparseDynamics(model, hold=hold)


def takes_long(model: Model, evaluations: int) -> bool:
    """Whether a step with so many evaluations of the acceleration is too long for one piece of code."""
    return goes_sparse(model) or (is_long(model) and bool(model.couplings))


def is_long(model: Model) -> bool:
    """Whether a matrix with all constraints, and a solution with it, is too long for one piece of code."""
    return constraint_count(model) ** 2 * model.nv > MOST_WORK


def must_fit(model: Model, name: str, is_explicit: bool, stabilization: Stabilization) -> None:
    """An error for what only code can do, on mechanisms with too many loops for code."""
    if not is_long(model):
        return
    size = f"{model.name} has {constraint_count(model)} constraints on {model.nv} variables, too many for that"
    if not is_explicit:
        raise ModelError(f'{name} puts its equations into code, and {size}: use "rk4", "heun", "euler" or "adaptive"')
    if isinstance(stabilization, Choice):
        raise ModelError(f'independent variables are put into code, and {size}: use stabilization="projection"')
    if model.depends_on_time:
        raise ModelError(f"joints that move by a law of time need code for every instant, and {size}")


def must_be_short(model: Model) -> None:
    """An error for rollouts of mechanisms with very many loops."""
    if (is_long(model) and model.couplings) or (goes_sparse(model) and constraint_count(model) > MOST_IN_CODE):
        raise ModelError(
            f"a rollout puts a step into code, and {model.name} has {constraint_count(model)} constraints on "
            f"{model.nv} variables, too many for that: kn.simulate takes it, one trajectory at a time"
        )


def pulled(model: Model, q: Any, error: Any) -> Any:
    """H⁻¹Kᵀ(K H⁻¹ Kᵀ)⁺ e: the motion of least kinetic energy with K v = e."""
    return response(model, q, lambda: mass_matrix.reference(model, q))(error)[0]


def solve_with(model: Model, q: Any, A: Matrix, b: Vector, k: Vector) -> Vector:
    """x with A x = b + Kᵀλ and K x = k, for any A with a positive definite symmetric part."""
    return constrained_motion.solve_with(A, loop_constraints(model, q), k, b, redundant=is_redundant(model))
