"""Public functions: the derivatives of inverse and forward dynamics by their own equations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from knuckle.algorithms.derivatives import coupling_slopes, passive_slopes
from knuckle.algorithms.derivatives.coupling_slopes import ReducedSlopes
from knuckle.algorithms.derivatives.inverse_factor import inverse_factor
from knuckle.algorithms.derivatives.inverse_slopes import BodySlopes, body_slopes, joint_slopes, with_blocks
from knuckle.algorithms.dynamics import crba, joint_passive_force
from knuckle.algorithms.elements import element_forces
from knuckle.engine.calls.function import Array, function
from knuckle.joints import Free
from knuckle.model import Model
from knuckle.public_names import public
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix, Vector

from .dual_jacobians import slopes_of
from .dynamics import bias_force
from .loops.closed_response import tree_parents
from .per_joint import as_vector, plus, wrenches


class InverseDynamicsDerivatives(NamedTuple):
    """∂τ/∂q along the velocity variables, ∂τ/∂v and ∂τ/∂a = H, each (..., nv, nv)."""

    q: Array
    v: Array
    a: Array


class ForwardDynamicsDerivatives(NamedTuple):
    """∂a/∂q along the velocity variables, ∂a/∂v and ∂a/∂τ = H⁻¹, each (..., nv, nv)."""

    q: Array
    v: Array
    tau: Array


@public
@function(q="q", v="v", a="v", f_ext="f", joint_space=True)
def inverse_dynamics_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | None = None
) -> InverseDynamicsDerivatives:
    """The derivatives of `inverse_dynamics`, in body coordinates (Singh, Russell, Wensing 2022).

    Those in q are along the velocity variables: column k is the rate of τ while q moves with v = e_k
    (`velocity_to_qdot`). Dry friction counts as constant.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        a: their rates (..., nv).
        f_ext: a wrench on each body in its own coordinates (..., nb, 6), in which it does not change.

    Returns:
        `q`, `v` and `a`: ∂τ/∂q, ∂τ/∂v and ∂τ/∂a (..., nv, nv).
    """
    bodies = _bodies(model, q, v, a, f_ext)
    return InverseDynamicsDerivatives(*_slopes(model, q, v, a, bodies))


@public
@function(q="q", v="v", tau="v", f_ext="f", joint_space=True)
def forward_dynamics_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | None = None
) -> ForwardDynamicsDerivatives:
    """The derivatives of `forward_dynamics`: −H⁻¹ times those of inverse dynamics at its acceleration, and H⁻¹.

    Arguments are those of `forward_dynamics`, and derivatives in q those of `inverse_dynamics_derivatives`.

    Returns:
        `q`, `v` and `tau`: ∂a/∂q, ∂a/∂v and ∂a/∂τ (..., nv, nv).
    """
    H = model.square(q, crba.mass_matrix(model, model.positions(q)))
    factor = inverse_factor(H, tree_parents(model))
    a = factor.solve(as_vector(tau) - bias_force.reference(model, q, v, f_ext))
    bodies, free = _bodies(model, q, v, a, f_ext), _free_joints(model)
    by_q, by_v, _ = _slopes(model, q, v, a, bodies.without_accelerations(free, model.algebra.Motion))
    own_q, own_v = (model.square(q, {(i, i): part[i].matrix for i in free}) for part in (bodies.R, bodies.W))
    return ForwardDynamicsDerivatives(
        -(factor.solve_all(by_q) + own_q), -(factor.solve_all(by_v) + own_v), factor.inverse()
    )


def _bodies(model: Model, q: Any, v: Any, a: Any, f_ext: Any) -> BodySlopes:
    """The bodies of the tree in a state of the independent variables."""
    Q, V, A = model.positions(q), model.velocities(q, v), model.accelerations(q, v, a)
    return body_slopes(model, Q, V, A, wrenches(model, f_ext))


def _slopes(model: Model, q: Any, v: Any, a: Any, bodies: BodySlopes) -> ReducedSlopes:
    """The derivatives of τ along the independent variables, with those of dampers, springs and force elements."""
    Q, V, A = model.positions(q), model.velocities(q, v), model.accelerations(q, v, a)
    tree = joint_slopes(model, bodies, A)
    tau = plus(tree.tau, joint_passive_force.resistance(model, Q, V, A))
    dq, dv = with_blocks(tree.q, passive_slopes.stiffness(model, Q)), with_blocks(tree.v, passive_slopes.damping(model))
    by_q, by_v, by_a = coupling_slopes.reduced(model, q, v, a, tau, dq, dv, tree.a)
    if model.elements:
        in_v, in_q = (Matrix.columns([*columns], model.nv) for columns in _element_slopes(model, q, v))
        by_q, by_v = by_q - in_q, by_v - in_v
    return ReducedSlopes(by_q, by_v, by_a)


def _element_slopes(model: Model, q: Any, v: Any) -> tuple[Iterator[Vector], Iterator[Vector]]:
    """The columns of the derivatives in v and in q of the forces of all elements at the joints."""

    def forces(q: Any, v: Any) -> Vector:
        Q, V = model.positions(q), model.velocities(q, v)
        return model.forces(q, element_forces.joint_forces(model, Q, element_forces.body_forces(model, Q, V)))

    return slopes_of(forces, model, as_vector(q), as_vector(v))


def _free_joints(model: Model) -> list[int]:
    """The joints that hold nothing, without rotors: S = 1, and H has columns of the accelerations of their bodies.

    Forces I Ψ̈ of these columns of inverse dynamics are H Ψ̈, and accelerations Ψ̈ of forward dynamics: gravity, attitude
    and linear velocity of a floating base take no solving.
    """
    return [i for i, joint in enumerate(model.joints)
            if type(joint.type) is Free and all(x is ZERO for x in model.rotor[i])]  # fmt: skip
