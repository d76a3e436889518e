"""How a mechanism with closed loops responds: H a = τ + Kᵀλ with K a = k, by matrices or body by body."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import accumulate
from typing import Any

from knuckle.algorithms.dynamics import joint_passive_force
from knuckle.algorithms.loops import articulated_loops, constrained_motion, constraint_rank
from knuckle.algorithms.loops import loop_constraints as loops
from knuckle.algorithms.loops.loop_response import ArticulatedLoops
from knuckle.algorithms.loops.loop_sides import LoopRows
from knuckle.functions.line_inertia import moved_by_lines
from knuckle.functions.per_joint import all_wrenches, minus
from knuckle.model import ROOT, Model
from knuckle.model.connectivity import elimination_parents, expand_parents
from knuckle.model.loop_clusters import clusters
from knuckle.scalar import ZERO
from knuckle.spatial import Vector

from .loop_terms import constraint_count, is_redundant, loop_constraints, stabilized_bias

FEW = 20_000
"""Up to so many products between constraints and variables, matrices take fewer operations than bodies do."""

Response = Callable[..., tuple[Vector, Vector]]
"""(k, τ or None) → (a, λ)."""


def has_many_constraints(model: Model) -> bool:
    """Whether loops are closed body by body: the work of matrices would grow with the cube of their number.

    Couplings and lines with armature tie joints together wherever they are, and go by matrices.
    """
    return not model.ties_branches and constraint_count(model) ** 2 * model.nv > FEW


def response(model: Model, q: Any, H: Callable[[], Any]) -> Response:
    """The response at a position; `H` gives the mass matrix of the tree, where it is needed."""
    if has_many_constraints(model):
        factors = articulated(model, q)
        return partial(by_bodies, factors, q)
    rows = loop_constraints(model, q)
    return constrained_motion.orthogonal(H(), tree_parents(model), rows, redundant=is_redundant(model)).response


def tree_parents(model: Model) -> tuple[int, ...]:
    """λ' of the velocity variables. Where couplings or armature tie branches together, they stand in one line."""
    if model.ties_branches:
        return elimination_parents(model.nv, [*moved_together(model), *moved_by_lines(model)])
    return expand_parents(model.parents, [joint.type.nv for joint in model.joints])


def moved_together(model: Model) -> list[frozenset[int]]:
    """For each body the variables that move it."""
    moving: dict[int, frozenset[int]] = {ROOT: frozenset()}
    for i, parent in enumerate(model.parents):
        moving[i] = moving[parent] | {*model.variables(i)}
    return [moving[i] for i in range(model.nb)]


def articulated(model: Model, q: Any, held: Iterable[int] = ()) -> ArticulatedLoops:
    """The articulated bodies of a mechanism, its loops closed and some joints held."""
    Q = model.positions(q)
    rows, doubt = _loop_rows(model, Q)
    return articulated_loops.articulated(model, Q, rows, doubt, redundant=is_redundant(model), held=frozenset(held))


def _loop_rows(model: Model, Q: Any) -> tuple[list[LoopRows], Any]:
    """The constraints of all loops, and the part of their terms that says nothing."""
    alone = {c.loops[0] for c in clusters(model) if len(c.loops) == 1}
    rows, openness = list[LoopRows](), ZERO
    for number, loop in enumerate(model.loops):
        at = loops.closure(model, Q, loop)
        sizes, opened = loops.loop_sizes(model, Q, loop, at, at.T)
        openness = openness + sum(opened, ZERO)
        ours, theirs = loop.X_successor.T @ at.T, loop.X_predecessor.T @ (at.X.T @ at.T)
        rows.append(LoopRows(loop.successor, loop.predecessor, ours, theirs, sizes, number in alone))
    return rows, constraint_rank.doubt_of(openness)


def by_bodies(factors: ArticulatedLoops, q: Any, k: Vector, force: Vector | None = None) -> tuple[Vector, Vector]:
    """(a, λ) of joint forces alone: no velocities and no gravity."""
    model = factors.model
    nothing = Vector.zero(model.nv) if force is None else force
    still = dict.fromkeys(range(model.nb), model.zero_motion)
    weightless = dict.fromkeys(range(model.nb), model.zero_force)
    a, lam = factors.response(by_loop(model, k), model.velocities(q, nothing), weightless, still, model.zero_motion)
    return model.forces(q, a), Vector(x for part in lam for x in part)


def closed_by_bodies(
    model: Model, q: Any, v: Any, tau: Any, f_ext: Any, stabilization: float | None
) -> tuple[Vector, Vector]:
    """(a, λ) under joint forces, gravity and velocities: the articulated-body algorithm with closed loops."""
    factors, k = articulated(model, q), by_loop(model, stabilized_bias(model, q, v, stabilization))
    Q, V = model.positions(q), model.velocities(q, v)
    force = minus(model.velocities(q, tau), joint_passive_force.resistance(model, Q, V))
    f, speed, c, p = all_wrenches(model, Q, V, f_ext), {ROOT: model.zero_motion}, dict[int, Any](), dict[int, Any]()
    for i, parent, joint in model.outward():
        _, _, vJ, cJ = joint.motion(Q[i], V[i])
        speed[i] = factors.X[i] @ speed[parent] + vJ
        c[i] = cJ + speed[i].cross(vJ)
        p[i] = speed[i].cross(model.I[i] @ speed[i]) - f[i]
    a, lam = factors.response(k, force, p, c, -model.g)
    return model.forces(q, a), Vector(x for part in lam for x in part)


def by_loop(model: Model, k: Vector) -> list[Vector]:
    """The rows of all loops, loop by loop."""
    ends = [0, *accumulate(model.algebra.dimension - loop.type.nv for loop in model.loops)]
    return [k[ends[n] : ends[n + 1]] for n in range(len(model.loops))]
