"""Couplings (RBDA 9.6): the tree's variables from the independent ones, and the forces that gears transmit."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from knuckle.algorithms.dynamics import coriolis, joint_passive_force, rnea
from knuckle.engine.calls.function import Array, function
from knuckle.model import Model
from knuckle.model.reduction import row_rates, rows
from knuckle.public_names import public_in
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix, Vector

from .base_frame import hovering
from .line_inertia import must_have_no_armature
from .per_joint import all_wrenches, drift, plus


@public_in("couplings")
@function(q="q", loops=True)
def tree_positions(model: Model, q: ArrayLike) -> Array:
    """The position variables of all joints of the tree (..., n), also of those that follow others: γ(q) (RBDA 8.11).

    It is the position of `model.without_couplings()`.
    """
    return Vector(x for part in model.positions(q) for x in part)


@public_in("couplings")
@function(q="q", loops=True)
def matrix(model: Model, q: ArrayLike) -> Array:
    """G (..., n, nv): the velocity variables of all joints of the tree are G v (RBDA 8.42, 9.26).

    Forces at the tree's joints become τ = Gᵀ τ_tree, and the mass matrix Gᵀ H G.
    """
    entries: list[list[Any]] = []
    for joint in rows(model, q):
        entries += [[row.get(k, ZERO) for k in range(model.nv)] for row in joint]
    return Matrix(entries, model.nv)


@public_in("couplings")
@function(q="q", v="v", loops=True)
def bias(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """g (..., n): the rates of the tree's velocity variables are G a + g, with g = Ġ v; zero for constant ratios."""
    return Vector(x for part in drift(model, q, v) for x in part)


@public_in("couplings")
@function(q="q", v="v", a="v", f_ext="f")
def forces(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, f_ext: ArrayLike | None = None) -> Array:
    """The forces (..., number of couplings) that make the joints that follow do so, in the order of `model.couplings`.

    It is what a gear's teeth transmit, as felt at the joint that follows; the joints it follows feel −γ' times that.
    With the forces τ applied to the other joints, H a + C = τ + K_cᵀ λ holds on the tree, K_c v = v_f − γ' v_s = 0.
    """
    must_have_no_armature(model, "forces of couplings")
    Q, V = model.positions(q), model.velocities(q, v)
    tau = rnea.inverse_dynamics(model, Q, V, model.accelerations(q, v, a), all_wrenches(model, Q, V, f_ext))
    needed = plus(tau, joint_passive_force.resistance(model, Q, V))
    return Vector(needed[c.joint][0] for c in model.couplings)


def is_slender(model: Model) -> bool:
    """Whether few variables move the tree: then columns cost less than all blocks of the tree's matrices."""
    return 2 * model.nv < sum(joint.type.nv for joint in model.joints)


def inertia_by_columns(model: Model, q: Any) -> Matrix:
    """Gᵀ H G, a column at a time: Gᵀ ID_δ(q, G e) (RBDA 6.4, 9.26), in O(n) for each variable."""
    Q = model.positions(q)
    units = (Vector(e) for e in Matrix.identity(model.nv).rows)
    columns = [model.forces(q, rnea.inertial_force(model, Q, model.velocities(q, e))) for e in units]
    n = range(model.nv)
    return Matrix([[columns[max(i, j)][min(i, j)] for j in n] for i in n], model.nv)


def coriolis_by_columns(model: Model, q: Any, v: Any) -> Matrix:
    """Gᵀ C G + Gᵀ H Ġ, a column at a time, in O(n) for each variable: with it Ḣ − 2C is skew, and C v has Gᵀ H g."""
    Q, V, rates = model.positions(q), hovering(model, model.velocities(q, v)), row_rates(model, q, v)
    columns: list[Vector] = []
    for k, e in enumerate(Matrix.identity(model.nv).rows):
        leaning = [Vector.zero(joint.type.nv) for joint in model.joints]
        for i, row in rates.items():
            leaning[i] = Vector((row.get(k, ZERO),))
        columns.append(model.forces(q, coriolis.coriolis_product(model, Q, V, model.velocities(q, e), leaning)))
    return Matrix.columns(columns, model.nv)
