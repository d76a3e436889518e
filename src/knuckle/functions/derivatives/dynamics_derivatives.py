"""Public functions: the derivatives of inverse and forward dynamics by their own equations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import ArrayLike

from knuckle.algorithms.derivatives import coupling_slopes, passive_slopes
from knuckle.algorithms.derivatives.coupling_slopes import ReducedSlopes
from knuckle.algorithms.derivatives.inverse_factor import InverseFactor, inverse_factor
from knuckle.algorithms.derivatives.inverse_slopes import (
    BodySlopes,
    body_slopes,
    joint_forces,
    joint_slopes,
    with_blocks,
)
from knuckle.algorithms.dynamics import joint_passive_force
from knuckle.algorithms.elements import element_forces
from knuckle.engine.calls.function import Array, named_function
from knuckle.engine.differentiate.derivative_rules import add_to, chained
from knuckle.engine.differentiate.sweep import Columns
from knuckle.functions.dynamics import mass_matrix
from knuckle.functions.line_inertia import added_force, added_inertia
from knuckle.functions.loops.closed_response import tree_parents
from knuckle.functions.per_joint import all_wrenches, as_vector, plus, wrenches
from knuckle.joints import Free
from knuckle.model import Model
from knuckle.public_names import public_in
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix, Vector
from knuckle.spatial.linear.sparse_rows import rows_of

from .dual_jacobians import slopes_of

Rates: TypeAlias = Sequence[Columns]
"""Derivatives of scalars in some directions."""


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


@public_in("derivatives")
@named_function(q="q", v="v", a="v", f_ext="f", joint_space=True)
def inverse_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | None = None
) -> InverseDynamicsDerivatives:
    """The derivatives of `kn.inverse_dynamics`, in body coordinates (Singh, Russell, Wensing 2022).

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
    tree = _Tree.of(model, q, v, a)
    bodies = body_slopes(model, tree.q, tree.v, tree.a, wrenches(model, f_ext))
    return InverseDynamicsDerivatives(*_slopes(model, q, v, a, tree, bodies))


@public_in("derivatives")
@named_function(q="q", v="v", tau="v", f_ext="f", joint_space=True)
def forward_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | None = None
) -> ForwardDynamicsDerivatives:
    """The derivatives of `kn.forward_dynamics`: −H⁻¹ times those of inverse dynamics at its acceleration, and H⁻¹.

    Arguments are those of `kn.forward_dynamics`; derivatives in q are along the velocity variables, as those of
    `kn.derivatives.inverse_dynamics`.

    Returns:
        `q`, `v` and `tau`: ∂a/∂q, ∂a/∂v and ∂a/∂τ (..., nv, nv).
    """
    factor, by_q, by_v, own_q, own_v = _Response.of(model, q, v, tau, f_ext)
    found_q, found_v = factor.opposite.solve_both(by_q, by_v)
    return ForwardDynamicsDerivatives(found_q - own_q, found_v - own_v, factor.inverse())


def acceleration_rates(
    model: Model, q: Any, v: Any, tau: Any, f_ext: Any, of_q: Rates, of_v: Rates, of_tau: Rates
) -> list[dict[int, Any]]:
    """The derivatives of the acceleration in some directions, by those of q along the velocity variables, v and τ.

    They are solved for together, so that forces which change in all directions take no more than others.
    """
    response = _Response.of(model, q, v, tau, f_ext)
    sides: list[dict[int, Any]] = [{c: -x for c, x in row.items()} for row in of_tau]
    own: list[dict[int, Any]] = [{} for _ in sides]
    for by, itself, rates in ((response.by_q, response.own_q, of_q), (response.by_v, response.own_v, of_v)):
        add_to(sides, chained(rows_of(by), rates))
        add_to(own, chained(rows_of(-itself), rates))
    found = [dict(row) for row in response.factor.opposite.solve_rows(sides)]
    add_to(found, own)
    return found


class _Response(NamedTuple):
    """What accelerations take: those of free joints by themselves, and all others −H⁻¹ times the change of forces.

    Attributes:
        factor: H⁻¹.
        by_q: the change of forces with q, but for what accelerations of free joints take.
        by_v: that with v.
        own_q: the change of these accelerations with q.
        own_v: that with v.
    """

    factor: InverseFactor
    by_q: Matrix
    by_v: Matrix
    own_q: Matrix
    own_v: Matrix

    @classmethod
    def of(cls, model: Model, q: Any, v: Any, tau: Any, f_ext: Any) -> _Response:
        factor = inverse_factor(mass_matrix.reference(model, q), tree_parents(model))
        a = factor.solve(as_vector(tau) - _bias_force(model, q, v, f_ext))
        tree, free = _Tree.of(model, q, v, a), _free_joints(model)
        bodies = body_slopes(model, tree.q, tree.v, tree.a, wrenches(model, f_ext))
        by_q, by_v, _ = _slopes(model, q, v, a, tree, bodies.without_accelerations(free, model.algebra.Motion))
        own = (model.square(q, {(i, i): part[i].matrix for i in free}) for part in (bodies.R, bodies.W))
        return cls(factor, by_q, by_v, *own)


class _Tree(NamedTuple):
    """The tree's variables for some of the independent ones."""

    q: tuple[Vector, ...]
    v: tuple[Vector, ...]
    a: tuple[Vector, ...]

    @classmethod
    def of(cls, model: Model, q: Any, v: Any, a: Any) -> _Tree:
        return cls(model.positions(q), model.velocities(q, v), model.accelerations(q, v, a))


def _bias_force(model: Model, q: Any, v: Any, f_ext: Any) -> Vector:
    """What `bias_force` gives, by the operations that the derivatives have too."""
    tree = _Tree.of(model, q, v, Vector.zero(model.nv))
    bodies = body_slopes(model, tree.q, tree.v, tree.a, all_wrenches(model, tree.q, tree.v, f_ext))
    tau, _ = joint_forces(model, bodies, tree.a)
    resisted = plus(tau, joint_passive_force.resistance(model, tree.q, tree.v))
    return model.forces(q, resisted) + added_force(model, q, v)


def _slopes(model: Model, q: Any, v: Any, a: Any, tree: _Tree, bodies: BodySlopes) -> ReducedSlopes:
    """The derivatives of τ along the independent variables, with those of dampers, springs and force elements."""
    tau, F = joint_forces(model, bodies, tree.a)
    tau = plus(tau, joint_passive_force.resistance(model, tree.q, tree.v, tree.a))
    in_q, in_v, H = joint_slopes(model, bodies, F)
    in_q = with_blocks(in_q, passive_slopes.stiffness(model, tree.q))
    in_v = with_blocks(in_v, passive_slopes.damping(model))
    by_q, by_v, by_a = coupling_slopes.reduced(model, q, v, a, tau, in_q, in_v, H)
    if model.elements:
        of_v, of_q = (Matrix.columns([*columns], model.nv) for columns in _element_slopes(model, q, v, a))
        by_q, by_v, by_a = by_q - of_q, by_v - of_v, by_a + added_inertia(model, q)
    return ReducedSlopes(by_q, by_v, by_a)


def _element_slopes(model: Model, q: Any, v: Any, a: Any) -> tuple[Iterator[Vector], Iterator[Vector]]:
    """The columns of the derivatives in v and in q of the forces of all elements at the joints, less what the armature
    of lines takes."""

    def forces(q: Any, v: Any) -> Vector:
        Q, V = model.positions(q), model.velocities(q, v)
        own = element_forces.joint_forces(model, Q, element_forces.body_forces(model, Q, V))
        return model.forces(q, own) - added_force(model, q, v, a)

    return slopes_of(forces, model, as_vector(q), as_vector(v))


def _free_joints(model: Model) -> list[int]:
    """The joints that hold nothing, without rotors: S = 1, and H has columns of the accelerations of their bodies.

    Forces I Ψ̈ of these columns of inverse dynamics are H Ψ̈, and accelerations Ψ̈ of forward dynamics: gravity, attitude
    and linear velocity of a floating base take no solving. Lines with armature tie them to others.
    """
    if any(element.armature for element in model.elements):
        return []
    return [i for i, joint in enumerate(model.joints)
            if type(joint.type) is Free and all(x is ZERO for x in model.rotor[i])]  # fmt: skip
