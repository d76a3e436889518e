"""The terms of constraints by kernels: as rows over the variables, and as forces on bodies for products in O(n)."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from knuckle.algorithms.dynamics import branch_sparsity, inertia_inverse
from knuckle.algorithms.loops import constrained_motion
from knuckle.algorithms.loops.constraint_rank import Constraints as Judged
from knuckle.algorithms.loops.constraint_rank import doubt_of
from knuckle.algorithms.loops.loop_constraints import corrected
from knuckle.engine.calls.function import Array, function
from knuckle.functions.dynamics import bias_force, mass_matrix, tree_parents
from knuckle.functions.loops.loop_terms import loop_constraints, stabilized_bias
from knuckle.functions.per_joint import as_vector
from knuckle.model import Model
from knuckle.public_names import public_in
from knuckle.scalar import ZERO, maximum
from knuckle.spatial import Matrix, Vector

from .base import Constraint, ConstraintState, Terms, jacobian, openness, sizes

Constraints = tuple[Constraint, ...]


def _measured(number: int, terms: Terms) -> list[tuple[Any, ...]]:
    """(φ, φ̇, φ̈ without acceleration, the constraint's number) of each row."""
    return [(*row, number) for row in zip(terms.error, terms.rate, terms.bias, strict=True)]


@function(q="q", v="v", loops=True)
def dense_terms(model: Model, q: ArrayLike, v: ArrayLike, *, constraints: Constraints) -> Array:
    """(..., m, nv + 4): the rows of Ḡ (notes 2.98); after each φ, φ̇, φ̈ without acceleration, and whose row it is."""
    state = ConstraintState.of(model, q, v)
    rows: list[list[Any]] = []
    for number, constraint in enumerate(constraints):
        terms = constraint.terms(state)
        rows += [[*row, *last] for row, last in zip(jacobian(state, terms), _measured(number, terms), strict=True)]
    return Matrix(rows, model.nv + 4)


@function(q="q", v="v", loops=True)
def body_terms(model: Model, q: ArrayLike, v: ArrayLike, *, constraints: Constraints) -> Array:
    """(..., m, 16): G_m by rows, as the forces on the two bodies of a constraint; then as `dense_terms`."""
    state = ConstraintState.of(model, q, v)
    rows: list[list[Any]] = []
    for number, constraint in enumerate(constraints):
        terms = constraint.terms(state)
        (_, on), (_, against) = terms.forces
        for f, g, last in zip(on, against, _measured(number, terms), strict=True):
            rows.append([*f.components, *g.components, *last])
    return Matrix(rows, 2 * model.algebra.dimension + 4)


@function(q="q", x="v", joint_space=True)
def whitened_force(model: Model, q: ArrayLike, x: ArrayLike) -> Array:
    """y (..., nv) with yᵀy = xᵀH⁻¹x in O(n), without H: rows of J made rows of J H^−½ (notes 2.13)."""
    if model.ties_branches:
        parents = tree_parents(model)
        return branch_sparsity.solve_transposed(
            branch_sparsity.ltl(mass_matrix.reference(model, q), parents), parents, as_vector(x)
        )
    parts = inertia_inverse.whitened(model, inertia_inverse.factors(model, model.positions(q)), model.velocities(q, x))
    return Vector(y for i in range(model.nb) for y in parts[i])


@function(q="q", v="v", loops=True)
def term_sizes(model: Model, q: ArrayLike, v: ArrayLike, *, constraints: Constraints) -> Array:
    """(..., m, nv + 1): the sizes of the terms of the rows; after each the square of how far it is open, or zero."""
    state = ConstraintState.of(model, q, v)
    rows: list[list[Any]] = []
    for constraint in constraints:
        terms = constraint.terms(state)
        rows += [[*row, d] for row, d in zip(sizes(state, terms), openness(constraint, state, terms), strict=True)]
    return Matrix(rows, model.nv + 1)


@public_in("constraints")
@function(q="q", v="v", tau="v", f_ext="f", loops=True)
def acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    constraints: Constraints,
    method: str = "dual",
    stabilization: float | None = None,
) -> Array:
    """The acceleration (..., nv) with equality constraints kept, compiled and over scalars of any kind.

    Args:
        model: the mechanism. Its loop joints are kept closed too.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces (..., nv).
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        constraints: a tuple of those of `kn.constraints`, with bound "=". Rows that follow from others are left out.
        method: "dual" by the multipliers (notes 2.119), "kkt" by the whole system (notes 2.96).
        stabilization: the time in seconds in which errors decay; None adds nothing.
    """
    if method not in ("dual", "kkt"):
        raise ValueError(f'method is "dual" or "kkt", not {method!r}')
    for constraint in constraints:
        if not constraint.is_equality:
            raise ValueError(f"acceleration keeps equalities, not {constraint}: see kn.constraints.dynamics")
    state, at_loops = ConstraintState.of(model, q, v), loop_constraints(model, q)
    rows, terms_of, doubt = list(at_loops.K.rows), list(at_loops.size.rows), at_loops.doubt
    k = list(stabilized_bias(model, q, v, stabilization))
    for constraint in constraints:
        terms = constraint.terms(state)
        rows += jacobian(state, terms)
        terms_of += sizes(state, terms)
        doubt = maximum(doubt, doubt_of(sum(openness(constraint, state, terms), ZERO)))
        k += corrected(-terms.bias, terms.rate, terms.error, stabilization)
    H, force = mass_matrix.reference(model, q), as_vector(tau) - bias_force.reference(model, q, v, f_ext)
    judged, targets = Judged(Matrix(rows, model.nv), Matrix(terms_of, model.nv), doubt), Vector(k)
    if method == "kkt":
        return constrained_motion.kkt(H, judged, targets, force, redundant=True)[0]
    return constrained_motion.multipliers(H, tree_parents(model), judged, targets, force, redundant=True)[0]
