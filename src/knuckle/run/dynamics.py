"""The equation of motion τ = H(q) a + C(q, v) (RBDA chapters 5 to 7), for people."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import ArrayLike

from knuckle.algorithms import aba, coriolis, crba, divide, minverse, operational, resistance, rnea, sparse
from knuckle.model import Model
from knuckle.model.connectivity import expand_parents

from .function import Array, function
from .kinematics import jacobian
from .per_joint import as_vector, minus, nothing, plus, wrenches


@function(q="q", v="v", a="v", f_ext="f", joint_space=True)
def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | None = None) -> Array:
    """Joint forces τ that give the acceleration `a`: recursive Newton-Euler (RBDA table 5.1).

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        a: their rates (..., nv).
        f_ext: a wrench (moment, force) on each body in its own coordinates (..., nb, 6); see `external_force`.

    Returns:
        τ (..., nv), which includes what joint damping, friction, springs and rotors take.
    """
    Q, V, A = model.positions(q), model.velocities(v), model.velocities(a)
    tau = rnea.inverse_dynamics(model, Q, V, A, wrenches(model, f_ext))
    return model.forces(plus(tau, resistance.resistance(model, Q, V)))


@function(q="q", v="v", tau="v", f_ext="f", joint_space=True)
def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    method: Literal["aba", "crba", "divide"] = "aba",
) -> Array:
    """The acceleration a (..., nv) that the joint forces `tau` give.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces (..., nv).
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        method: "aba", the articulated-body algorithm (RBDA table 7.1); "crba", the mass matrix and its sparse
            factorisation (RBDA 6.1); "divide", divide and conquer (RBDA 7.5). Couplings (mimic joints) always go by the
            mass matrix.
    """
    if method not in ("aba", "crba", "divide"):
        raise ValueError(f'method is "aba", "crba" or "divide", not {method!r}')
    Q, V = model.positions(q), model.velocities(v)
    if model.mimics or method == "crba":
        C = bias_force.reference(model, q, v, f_ext)
        return _solve(model, mass_matrix.reference(model, q), as_vector(tau) - C)
    force = minus(model.velocities(tau), resistance.resistance(model, Q, V))
    solver = aba if method == "aba" else divide
    return model.forces(solver.forward_dynamics(model, Q, V, force, wrenches(model, f_ext)))


def _solve(model: Model, H: Any, b: Any) -> Any:
    """H⁻¹ b: with the sparsity of the tree, or dense where couplings destroy it."""
    if model.mimics:
        return H.solve(b)
    return sparse.solve(H, expand_parents(model.parents, [joint.kind.nv for joint in model.joints]), b)


@function(q="q", joint_space=True)
def mass_matrix(model: Model, q: ArrayLike) -> Array:
    """The joint-space inertia matrix H (..., nv, nv): composite rigid bodies (RBDA table 6.2), with rotor inertia."""
    return model.square(crba.mass_matrix(model, model.positions(q)))


@function(q="q", joint_space=True)
def mass_matrix_inverse(model: Model, q: ArrayLike) -> Array:
    """H⁻¹ (..., nv, nv) in O(n²), without forming H (notes, algorithm 10)."""
    if model.mimics:
        return mass_matrix.reference(model, q).inverse()
    return model.square(minverse.mass_matrix_inverse(model, model.positions(q)))


@function(q="q", v="v", joint_space=True)
def coriolis_matrix(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """C(q, v) (..., nv, nv) with C v the velocity-product force and Ḣ − 2C skew."""
    return model.square(coriolis.coriolis_matrix(model, model.positions(q), model.velocities(v)))


@function(q="q", v="v", f_ext="f", joint_space=True)
def bias_force(model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | None = None) -> Array:
    """C (..., nv): the joint forces of no acceleration. Gravity, velocity, friction and external forces (RBDA 3.1)."""
    Q, V = model.positions(q), model.velocities(v)
    C = rnea.inverse_dynamics(model, Q, V, nothing(model), wrenches(model, f_ext))
    return model.forces(plus(C, resistance.resistance(model, Q, V)))


@function(q="q", v="v", joint_space=True)
def coriolis_force(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """The Coriolis and centrifugal joint forces (..., nv): RNEA without gravity and acceleration (RBDA 5.3)."""
    weightless = model.replace(gravity=(0.0, 0.0, 0.0))
    Q, V = model.positions(q), model.velocities(v)
    return model.forces(rnea.inverse_dynamics(weightless, Q, V, nothing(model), wrenches(model, None)))


@function(q="q", joint_space=True)
def gravity_force(model: Model, q: ArrayLike) -> Array:
    """The joint forces (..., nv) that hold the mechanism against gravity (RBDA 5.12-5.13)."""
    return model.forces(rnea.gravity_force(model, model.positions(q)))


@function(q="q", v="v")
def joint_resistance(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """What damping, smoothed Coulomb friction and springs at the joints ask for (..., nv)."""
    return model.forces(resistance.resistance(model, model.positions(q), model.velocities(v)))


@function(q="q")
def operational_space_mobility(model: Model, q: ArrayLike, frame: str) -> Array:
    """Φ = J H⁻¹ Jᵀ (..., 6, 6) at a frame, in its coordinates: the acceleration per unit wrench (RBDA 7.9)."""
    place = model.frame(frame)
    if model.mimics:
        J = jacobian.reference(model, q, frame)
        return J @ mass_matrix_inverse.reference(model, q) @ J.T
    return operational.operational_mobility(model, model.positions(q), place)


@function(q="q")
def operational_space_inertia(model: Model, q: ArrayLike, frame: str) -> Array:
    """Λ = (J H⁻¹ Jᵀ)⁻¹ (..., 6, 6) at a frame, in its coordinates: the inertia a hand feels there (RBDA 7.12).

    It is infinite in directions in which the frame cannot move: then use `operational_space_mobility`.
    """
    return operational_space_mobility.reference(model, q, frame).inverse()
