"""Public functions of the equation of motion τ = H(q) a + C(q, v) (RBDA chapters 5 to 7)."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from numpy.typing import ArrayLike

from knuckle.algorithms.dynamics import (
    aba,
    branch_sparsity,
    coriolis,
    crba,
    divide_and_conquer,
    inertia_inverse,
    operational_space,
    rnea,
)
from knuckle.algorithms.dynamics import joint_passive_force as resistance
from knuckle.algorithms.loops import constrained_motion
from knuckle.algorithms.loops.independent_variables import Choice, expressed
from knuckle.engine.calls.function import Array, function
from knuckle.engine.differentiate.derivative_rules import Implicit
from knuckle.engine.differentiate.own_slopes import OwnResponse, OwnSlopes
from knuckle.engine.trace.regions import MarkedModel
from knuckle.model import Model
from knuckle.public_names import public
from knuckle.spatial import Matrix, Vector, with_rule

from . import floating
from .base_frame import hovering
from .coupling_terms import coriolis_by_columns, inertia_by_columns, is_slender
from .kinematics import jacobian
from .line_inertia import added_coriolis, added_force, added_inertia
from .loops import loop_terms
from .loops.closed_response import closed_by_bodies, has_many_constraints, response, tree_parents
from .loops.loop_terms import is_redundant, loop_constraints, stabilized_bias
from .per_joint import all_wrenches, as_rows, as_vector, drift, minus, plus, wrenches

DENSE = 0.9
"""The part of a mass matrix that is not zero from which on it counts as full."""


SLOPES = "knuckle.functions.derivatives.dynamics_derivatives"
"""Where derivatives have equations of their own."""


@public
@function(
    q="q", v="v", a="v", f_ext="f", joint_space=True, derivatives_in=SLOPES,
    instead="kn.loops.actuator_forces gives the forces of its actuators",
)  # fmt: skip
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | None = None) -> Array:
    """Joint forces τ that give the acceleration `a`: recursive Newton-Euler (RBDA table 5.1).

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        a: their rates (..., nv).
        f_ext: a wrench (moment, force) on each body in its own coordinates (..., nb, 6); see `external_force`.

    Returns:
        τ (..., nv), which includes what joint damping, friction, springs, rotors and force elements take.
    """
    return _with_own_slopes(_inverse_dynamics, model, q, v, a, f_ext=f_ext)


def _inverse_dynamics(model: Model, q: Any, v: Any, a: Any, f_ext: Any) -> Any:
    Q, V, A = model.positions(q), model.velocities(q, v), model.accelerations(q, v, a)
    tau = rnea.inverse_dynamics(model, Q, V, A, all_wrenches(model, Q, V, f_ext))
    return model.forces(q, plus(tau, resistance.resistance(model, Q, V, A))) + added_force(model, q, v, a)


def _with_own_slopes(text: Callable[..., Any], model: Model, *motion: Any, f_ext: Any) -> Any:
    """Forces of a motion (q, v) or (q, v, a), with the derivatives that have equations of their own (`SLOPES`)."""
    if isinstance(model, MarkedModel):  # whose derivatives keep the loops over bodies
        return text(model, *motion, f_ext)
    nq, nv, count = model.nq, model.nv, len(motion) - 1

    def slopes(model: Model, x: Vector) -> tuple[Matrix, ...]:
        q, v, a = x[:nq], x[nq : nq + nv], x[nq + nv : nq + 2 * nv] if count > 1 else Vector.zero(nv)
        forces = _wrench_rows(model, x[nq + count * nv :]) if f_ext is not None else None
        return tuple(importlib.import_module(SLOPES).inverse_dynamics.reference(model, q, v, a, forces)[: 1 + count])

    return with_rule(partial(text, model), OwnSlopes(model, slopes, count))(*map(as_vector, motion), as_rows(f_ext))


def _wrench_rows(model: Model, numbers: Vector) -> Matrix:
    """Wrenches on all bodies from numbers in a row."""
    size = model.algebra.dimension
    return Matrix((numbers[k : k + size] for k in range(0, model.nb * size, size)), size)


@public
@function(q="q", v="v", tau="v", f_ext="f", loops=True, joint_space=True, derivatives_in=SLOPES)
def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    method: Literal["aba", "crba", "divide", "kkt", "independent"] = "aba",
    stabilization: float | None = None,
    choice: Choice | None = None,
) -> Array:
    """The acceleration a (..., nv) that the joint forces `tau` give, with closed loops kept closed.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces (..., nv).
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        method: "aba", the articulated-body algorithm (RBDA tables 7.1, 9.4); "crba", the mass matrix and its sparse
            factorisation (RBDA 6.1); "divide", divide and conquer (RBDA 7.5). Couplings (gears, mimic joints) and lines
            with armature always go by the mass matrix. Closed loops go by the constraint forces (RBDA 8.37-8.41), "kkt"
            by the whole system (8.36), "independent" by the independent variables of `choice` (8.42-8.46).
        stabilization: T_stab in seconds, the time in which loop errors decay (RBDA 8.21-8.23; a tenth of a second
            suits a large robot). None adds nothing: loops that are open stay as they are.
        choice: what `independent_variables` chose, for method "independent".
    """
    if method not in ("aba", "crba", "divide", "kkt", "independent"):
        raise ValueError(f'method is "aba", "crba", "divide", "kkt" or "independent", not {method!r}')
    if model.loops:
        return closed_loop_dynamics(model, q, v, tau, f_ext, stabilization, method, choice)[0]
    if method in ("kkt", "independent"):
        raise ValueError(f'method "{method}" is for closed loops, and this mechanism has none')
    if method == "divide":
        return _tree_dynamics(model, "divide", q, v, tau, f_ext)
    return with_rule(partial(_tree_dynamics, model, method), _by_inverse_dynamics(model, f_ext is not None))(
        as_vector(q), as_vector(v), as_vector(tau), as_rows(f_ext)
    )


def _tree_dynamics(model: Model, method: str, q: Any, v: Any, tau: Any, f_ext: Any) -> Any:
    """The acceleration of a mechanism without loops."""
    Q, V = model.positions(q), model.velocities(q, v)
    if model.ties_branches or method == "crba":
        C = bias_force.reference(model, q, v, f_ext)
        return _solve(model, mass_matrix.reference(model, q), as_vector(tau) - C)
    force = minus(model.velocities(q, tau), resistance.resistance(model, Q, V))
    f = all_wrenches(model, Q, V, f_ext)
    limbs = floating.limbs_of(model) if method == "aba" else None
    if limbs is not None:
        return model.forces(q, floating.forward_dynamics(model, limbs, Q, V, force, f))
    solver = aba if method == "aba" else divide_and_conquer
    return model.forces(q, solver.forward_dynamics(model, Q, V, force, f))


def _by_constraint_forces(model: Model, stabilization: float | None, has_forces: bool) -> Implicit:
    """Derivatives of (a, λ) from H a + C − Kᵀλ = τ and K a = k, whose rows are independent."""
    nq, nv = model.nq, model.nv
    free = _by_inverse_dynamics(model, has_forces)

    def residual(model: Model, x: Vector, y: Vector) -> Vector:
        q, v, a, lam = x[:nq], x[nq : nq + nv], y[:nv], y[nv:]
        K = loop_terms.jacobian.reference(model, q)
        closing = stabilized_bias(model, q, v, stabilization) - K @ a
        return Vector([*(free.residual(model, x, a) - K.T @ lam), *closing])

    def solve(model: Model, x: Vector, sides: list[Vector]) -> list[Vector]:
        q = x[:nq]
        responds = response(model, q, lambda: mass_matrix.reference(model, q))
        return [Vector([*a, *lam]) for a, lam in (responds(-side[nv:], side[:nv]) for side in sides)]

    return Implicit(model, residual, solve)


def _by_inverse_dynamics(model: Model, has_forces: bool) -> OwnResponse:
    """Derivatives of the acceleration a from τ = ID(q, v, a): H ȧ = τ̇ − ∂ID, with one factorisation for all."""
    nq, nv = model.nq, model.nv

    def residual(model: Model, x: Vector, y: Vector) -> Vector:
        f_ext = _wrench_rows(model, x[nq + 2 * nv :]) if has_forces else None
        force = inverse_dynamics.reference(model, x[:nq], x[nq : nq + nv], y, f_ext)
        return as_vector(force) - x[nq + nv : nq + 2 * nv]

    def solve(model: Model, x: Vector, sides: list[Vector]) -> list[Vector]:
        q = x[:nq]
        if len(sides) == 1 and not model.ties_branches:
            return [_response(model, q, sides[0])]
        factors = _factors(model, mass_matrix.reference(model, q))
        return [factors(b) for b in sides]

    def rates(model: Model, x: Vector, *of_arguments: Any) -> Any:
        q, v, tau = x[:nq], x[nq : nq + nv], x[nq + nv : nq + 2 * nv]
        f_ext = _wrench_rows(model, x[nq + 2 * nv :]) if has_forces else None
        return importlib.import_module(SLOPES).acceleration_rates(model, q, v, tau, f_ext, *of_arguments)

    return OwnResponse(model, residual, solve, rates)


def _response(model: Model, q: Any, force: Any) -> Any:
    """H⁻¹ f by articulated bodies: the acceleration from rest, without weight, for forces at the joints."""
    Q, weightless = model.positions(q), model.replace(gravity=(0.0, 0.0, 0.0))
    rest, F = tuple(Vector.zero(len(part)) for part in model.velocities(q, force)), model.velocities(q, force)
    limbs, nothing = floating.limbs_of(weightless), wrenches(model, None)
    if limbs is not None:
        return model.forces(q, floating.forward_dynamics(weightless, limbs, Q, rest, F, nothing))
    return model.forces(q, aba.forward_dynamics(weightless, Q, rest, F, nothing))


def _factors(model: Model, H: Any) -> Callable[[Any], Any]:
    """What solves H x = b: with the sparsity of the tree, or dense where couplings or armature destroy it."""
    parents = tree_parents(model)
    if model.ties_branches and branch_sparsity.cost(parents).density > DENSE:
        return H.solve
    return branch_sparsity.solver(H, parents, branch_sparsity.by_inverse)


def _solve(model: Model, H: Any, b: Any) -> Any:
    """H⁻¹ b."""
    return _factors(model, H)(b)


def closed_loop_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    f_ext: Any,
    stabilization: float | None,
    method: str = "aba",
    choice: Choice | None = None,
) -> tuple[Any, Any]:
    """(a, λ) of a mechanism with loops (RBDA 8.36); method 3 gives no λ."""
    if method == "aba" and not is_redundant(model):
        text, rule = (
            partial(_closed, model, stabilization),
            _by_constraint_forces(model, stabilization, f_ext is not None),
        )
        return with_rule(text, rule)(as_vector(q), as_vector(v), as_vector(tau), as_rows(f_ext))
    return _closed(model, stabilization, q, v, tau, f_ext, method, choice)


def _closed(
    model: Model,
    stabilization: float | None,
    q: Any,
    v: Any,
    tau: Any,
    f_ext: Any,
    method: str = "aba",
    choice: Choice | None = None,
) -> tuple[Any, Any]:
    if method == "aba" and has_many_constraints(model):
        return closed_by_bodies(model, q, v, tau, f_ext, stabilization)
    H, force = mass_matrix.reference(model, q), as_vector(tau) - bias_force.reference(model, q, v, f_ext)
    rows, k = loop_constraints(model, q), stabilized_bias(model, q, v, stabilization)
    if method == "kkt":
        return constrained_motion.kkt(H, rows, k, force, redundant=is_redundant(model))
    if method == "independent":
        if choice is None:
            raise TypeError('method "independent" needs a choice: kn.loops.independent_variables(model, q)')
        return constrained_motion.reduced(H, *expressed(rows.K, k, choice), force), None
    return constrained_motion.multipliers(H, tree_parents(model), rows, k, force, redundant=is_redundant(model))


@public
@function(q="q", joint_space=True)
def mass_matrix(model: Model, q: ArrayLike) -> Array:
    """The joint-space inertia matrix H (..., nv, nv): composite rigid bodies (RBDA table 6.2), with rotor inertia."""
    more = added_inertia(model, q)
    if is_slender(model):
        return inertia_by_columns(model, q) + more
    return model.square(q, crba.mass_matrix(model, model.positions(q))) + more


@public
@function(q="q", joint_space=True)
def mass_matrix_inverse(model: Model, q: ArrayLike) -> Array:
    """H⁻¹ (..., nv, nv) in O(n²), without forming H (notes, algorithm 10)."""
    if model.ties_branches:
        return mass_matrix.reference(model, q).inverse()
    return model.square(q, inertia_inverse.mass_matrix_inverse(model, model.positions(q)))


@public
@function(q="q", x="v", joint_space=True)
def mass_matrix_inverse_product(model: Model, q: ArrayLike, x: ArrayLike) -> Array:
    """H⁻¹ x (..., nv) in O(n), without H (notes 2.13, algorithm 10); through H where couplings tie branches."""
    if model.ties_branches:
        return mass_matrix.reference(model, q).solve(as_vector(x))
    shared = inertia_inverse.factors(model, model.positions(q))
    return model.forces(q, inertia_inverse.solve(model, shared, model.velocities(q, x)))


@public
@function(q="q", v="v", joint_space=True)
def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """C(q, v) (..., nv, nv) with C v the velocity-product force and Ḣ − 2C skew."""
    if is_slender(model):
        return coriolis_by_columns(model, q, v) + added_coriolis(model, q, v)
    Q, V = model.positions(q), hovering(model, model.velocities(q, v))
    C = model.square(q, coriolis.coriolis_matrix(model, Q, V)) + added_coriolis(model, q, v)
    return C + model.square_rate(q, v, crba.mass_matrix(model, Q)) if model.couplings else C


@public
@function(q="q", v="v", f_ext="f", joint_space=True)
def bias_force(model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | None = None) -> Array:
    """C (..., nv): the joint forces of no acceleration. Gravity, velocity, friction, force elements and external forces
    (RBDA 3.1)."""
    return _with_own_slopes(_bias_force, model, q, v, f_ext=f_ext)


def _bias_force(model: Model, q: Any, v: Any, f_ext: Any) -> Any:
    Q, V = model.positions(q), model.velocities(q, v)
    C = rnea.inverse_dynamics(model, Q, V, drift(model, q, v), all_wrenches(model, Q, V, f_ext))
    return model.forces(q, plus(C, resistance.resistance(model, Q, V))) + added_force(model, q, v)


@public
@function(q="q", v="v", joint_space=True)
def coriolis_force(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """The Coriolis and centrifugal joint forces (..., nv): RNEA without gravity and acceleration (RBDA 5.3)."""
    weightless = model.replace(gravity=(0.0, 0.0, 0.0))
    Q, V = model.positions(q), model.velocities(q, v)
    tau = rnea.inverse_dynamics(weightless, Q, V, drift(model, q, v), wrenches(model, None))
    return model.forces(q, tau) + added_force(model, q, v)


@public
@function(q="q", joint_space=True)
def gravity_force(model: Model, q: ArrayLike) -> Array:
    """The joint forces (..., nv) that hold the mechanism against gravity (RBDA 5.12-5.13)."""
    return model.forces(q, rnea.gravity_force(model, model.positions(q)))


@public
@function(q="q", v="v", loops=True)
def joint_passive_force(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """What damping, dry friction and springs at the joints ask for (..., nv). Friction at rest counts as none."""
    return model.forces(q, resistance.resistance(model, model.positions(q), model.velocities(q, v)))


@public
@function(q="q")
def operational_space_inverse_inertia(model: Model, q: ArrayLike, frame: str) -> Array:
    """Φ = J H⁻¹ Jᵀ (..., 6, 6) at a frame, in its coordinates: the acceleration per unit wrench (RBDA 7.9)."""
    place = model.frame(frame)
    if model.ties_branches:
        J = jacobian.reference(model, q, frame)
        return J @ mass_matrix_inverse.reference(model, q) @ J.T
    return operational_space.operational_inverse_inertia(model, model.positions(q), place)


@public
@function(q="q")
def operational_space_inertia(model: Model, q: ArrayLike, frame: str) -> Array:
    """Λ = (J H⁻¹ Jᵀ)⁻¹ (..., 6, 6) at a frame, in its coordinates: the inertia a hand feels there (RBDA 7.12).

    It is infinite in directions in which the frame cannot move: then use `operational_space_inverse_inertia`.
    """
    return operational_space_inverse_inertia.reference(model, q, frame).inverse()
