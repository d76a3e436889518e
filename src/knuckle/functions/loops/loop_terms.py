"""Public functions of closed loops (RBDA chapter 8): constraint Jacobians, biases and errors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from knuckle.algorithms.loops import constraint_rank
from knuckle.algorithms.loops import independent_variables as independence
from knuckle.algorithms.loops import loop_constraints as loops
from knuckle.algorithms.loops.independent_variables import Choice
from knuckle.engine.calls.function import Array, function
from knuckle.functions.configuration import random_configuration
from knuckle.functions.per_joint import drift
from knuckle.model import Model, reduction
from knuckle.model.loop_clusters import Cluster, clusters
from knuckle.public_names import public_in
from knuckle.scalar import ZERO, absolute, sqrt
from knuckle.solvers.numeric_rank import Judged, choice_of
from knuckle.spatial import Matrix, Vector, rotation


def _rows(model: Model, q: Any, blocks: dict[int, Matrix], count: int) -> list[list[Any]]:
    """K G from the blocks of one loop: rows over the velocity variables."""
    columns = model.columns(
        q, {j: map(block.column, range(block.ncols)) for j, block in blocks.items()}, Vector.zero(count)
    )
    return [[column[i] for column in columns] for i in range(count)]


def spread_sizes(model: Model, q: Any, blocks: dict[int, Matrix], count: int) -> list[list[Any]]:
    """`_rows` for sizes: what adds up to nothing has its size all the same."""
    total: list[list[Any]] = [[ZERO] * model.nv for _ in range(count)]
    G = reduction.rows(model, q)
    for j, block in blocks.items():
        for column, row in enumerate(G[j]):
            for k, ratio in row.items():
                for i in range(count):
                    total[i][k] = total[i][k] + block[i][column] * absolute(ratio)
    return total


def constraint_count(model: Model) -> int:
    """nc: how many constraints the loop joints make."""
    return sum(model.algebra.dimension - loop.type.nv for loop in model.loops)


def is_redundant(model: Model) -> bool:
    """Whether some loops have as many constraints as there are variables around them: not all can be independent.

    Constraints that say nothing in any position, such as those across a plane in which everything moves, do not count.
    """
    sizes = [model.algebra.dimension - loop.type.nv for loop in model.loops]
    suspects = [c for c in clusters(model) if sum(sizes[l] for l in c.loops) >= _freedoms(model, c)]
    if not suspects:
        return False
    try:
        plain = model.with_scalars(_some_number())
        at = loop_constraints(plain, random_configuration(plain, 0).tolist())
        pairs = zip(at.K.rows, at.size.rows, strict=True)
        says = [_length(row) > constraint_rank.ROUNDING * _length(terms) for row, terms in pairs]
    except TypeError:  # parameters of joints or loops that are symbols
        return True
    ends = [0, *accumulate(sizes)]
    loud = [sum(says[ends[l] : ends[l + 1]]) for l in range(len(sizes))]
    return any(sum(loud[l] for l in c.loops) >= _freedoms(model, c) for c in suspects)


def _some_number() -> Callable[[Any], Any]:
    """Numbers as they are, and for symbols some that nothing else is equal to."""
    count = itertools.count(1)
    return lambda x: x if isinstance(x, (int, float)) else 0.5 + 0.1 * math.sin(next(count))


def _length(row: Iterable[Any]) -> float:
    return math.hypot(*map(float, row))


def _freedoms(model: Model, cluster: Cluster) -> int:
    return len({k for j in cluster.joints for k in model.variables(j)})


@public_in("loops")
@function(q="q", loops=True)
def jacobian(model: Model, q: ArrayLike) -> Array:
    """K (..., nc, nv): K v is the velocity that the loop joints do not allow (RBDA 8.17, table 8.4)."""
    Q = model.positions(q)
    rows: list[list[Any]] = []
    for loop in model.loops:
        at = loops.closure(model, Q, loop)
        rows += _rows(model, q, loops.loop_jacobian(model, Q, loop, at.X, at.T), len(at.T))
    return Matrix(rows, model.nv)


def loop_constraints(model: Model, q: Any) -> constraint_rank.Constraints:
    """K with what tells its rows from rounding: the sizes of their terms, and how far the loops are open."""
    Q = model.positions(q)
    rows, sizes, openness = list[list[Any]](), list[list[Any]](), ZERO
    for loop in model.loops:
        at = loops.closure(model, Q, loop)
        blocks, opened = loops.loop_sizes(model, Q, loop, at, at.T)
        rows += _rows(model, q, loops.loop_jacobian(model, Q, loop, at.X, at.T), len(at.T))
        sizes += spread_sizes(model, q, blocks, len(at.T))
        openness = openness + sum(opened, ZERO)
    K, size = Matrix(rows, model.nv), Matrix(sizes, model.nv)
    return constraint_rank.Constraints(K, size, constraint_rank.doubt_of(openness), _groups(model))


def _groups(model: Model) -> tuple[tuple[int, ...], ...]:
    """The rows of K by loops that share joints: others cannot depend on each other."""
    ends = [0, *accumulate(model.algebra.dimension - loop.type.nv for loop in model.loops)]
    return tuple(tuple(row for l in c.loops for row in range(ends[l], ends[l + 1])) for c in clusters(model))


@function(q="q", loops=True)
def constraint_sizes(model: Model, q: ArrayLike) -> Array:
    """(..., nc, nv + 1): the sizes of the terms of K, and the part of them that says nothing: see `constraint_rank`."""
    rows = loop_constraints(model, q)
    return Matrix(([*row, sqrt(rows.doubt)] for row in rows.size.rows), model.nv + 1)


def sizes_at(model: Model, q: ArrayLike) -> tuple[Any, Any]:
    """The sizes of the terms of K in numbers (..., nc, nv), and the part of them that says nothing (...)."""
    columns = np.real(constraint_sizes(model, q))
    doubt = columns[..., 0, -1] if columns.shape[-2] else np.full(columns.shape[:-2], constraint_rank.ROUNDING)
    return columns[..., :-1], doubt


def judged_constraints(model: Model, q: ArrayLike) -> Judged:
    """K in numbers, with what tells its rows from rounding."""
    return Judged(np.asarray(jacobian(model, q)), lambda: sizes_at(model, q))


@function(q="q", loops=True)
def active_loop_sizes(model: Model, q: ArrayLike) -> Array:
    """(..., nl, nv): the sizes of the terms of `active_jacobian`."""
    Q = model.positions(q)
    rows: list[list[Any]] = []
    for loop in model.loops:
        at = loops.closure(model, Q, loop)
        rows += spread_sizes(model, q, loops.loop_sizes(model, Q, loop, at, at.T_a)[0], len(at.T_a))
    return Matrix(rows, model.nv)


@public_in("loops")
@function(q="q", v="v", loops=True)
def bias(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """k (..., nc) with K a = k where the loops stay closed (RBDA 8.15), without stabilisation."""
    Q, V, g = model.positions(q), model.velocities(q, v), drift(model, q, v)
    motions = (loops.loop_motion(model, Q, V, g, loop, loops.closure(model, Q, loop)) for loop in model.loops)
    return Vector(x for motion in motions for x in motion.k)


@public_in("loops")
@function(q="q", loops=True)
def active_jacobian(model: Model, q: ArrayLike) -> Array:
    """K_a (..., nl, nv): the velocities at the loop joints' own freedoms are K_a v (RBDA 8.28-8.33).

    Actuators at loop joints with the forces τ_l act on the tree as τ_a = K_aᵀ τ_l: add that to `tau`.
    """
    Q = model.positions(q)
    rows: list[list[Any]] = []
    for loop in model.loops:
        at = loops.closure(model, Q, loop)
        rows += _rows(model, q, loops.loop_jacobian(model, Q, loop, at.X, at.T_a), len(at.T_a))
    return Matrix(rows, model.nv)


@public_in("loops")
@function(q="q", loops=True)
def error(model: Model, q: ArrayLike) -> Array:
    """δ (..., nc): how far the loop joints are from closing, in radians and metres (RBDA 8.25-8.27, table 8.1)."""
    Q = model.positions(q)
    return Vector(x for loop in model.loops for x in loops.closure(model, Q, loop).delta)


@public_in("loops")
@function(q="q", loops=True)
def gap(model: Model, q: ArrayLike) -> Array:
    """(..., nl, 6): the turn and the distance, as vectors, from the nearest place that each loop joint allows.

    `error` has as many entries as there are constraints, and can vanish where a joint is half a turn away; this
    cannot.
    """
    Q = model.positions(q)
    rows: list[list[Any]] = []
    for loop in model.loops:
        at = loops.closure(model, Q, loop)
        miss = at.X @ loop.type.transform(at.q).inverse()
        rows.append([*rotation.log(miss.E), *miss.r])
    return Matrix(rows, 6)


@public_in("loops")
@function(q="q", v="v", loops=True)
def error_rate(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Tᵀ(v_J − σ) (..., nc): how fast the loops open; K v, less what joints that move by a law of time ask for."""
    Q, V, g = model.positions(q), model.velocities(q, v), drift(model, q, v)
    motions = (loops.loop_motion(model, Q, V, g, loop, loops.closure(model, Q, loop)) for loop in model.loops)
    return Vector(x for motion in motions for x in motion.error_rate)


def stabilized_bias(model: Model, q: Any, v: Any, time: float | None) -> Vector:
    """k + k_stab with k_stab = −2α Tᵀ(v_J − σ) − β² δ, α = β = 1/T_stab (RBDA 8.21-8.23)."""
    Q, V, g = model.positions(q), model.velocities(q, v), drift(model, q, v)
    entries: list[Any] = []
    for loop in model.loops:
        at = loops.closure(model, Q, loop)
        motion = loops.loop_motion(model, Q, V, g, loop, at)
        entries += loops.corrected(motion.k, motion.error_rate, at.delta, time)
    return Vector(entries)


@public_in("loops")
def independent_variables(model: Model, q: ArrayLike, joints: Iterable[str] = ()) -> Choice:
    """Velocity variables that determine all others at the position `q` (nq,), and how (RBDA 8.8).

    Args:
        model: the mechanism.
        q: one position, with the loops closed. A choice that is made here serves around it, until the loops come near a
            position in which these variables no longer determine the others.
        joints: names of joints whose variables should be independent.

    Raises:
        ValueError: the variables of these joints cannot all be independent; the message says which can.
    """
    preferred = tuple(k for name in joints for k in _variables(model, name))
    rows = judged_constraints(model, q)
    if rows.K.ndim != 2:
        raise ValueError(f"q has shape {np.shape(q)}: variables are chosen at one position, of shape ({model.nq},)")
    choice = choice_of(rows, preferred)
    lost = [name for name in joints if not set(_variables(model, name)) <= set(choice.independent)]
    if lost:
        able = [model.joint_names[i] for i in range(model.nb) if set(_indices(model, i)) & set(choice.independent)]
        raise ValueError(
            f"joints {', '.join(joints)} cannot all be independent here: {', '.join(lost)} would follow the others; "
            f"one choice that works is {', '.join(able)}"
        )
    return choice


def _indices(model: Model, joint: int) -> tuple[int, ...]:
    return model.variables(joint)


def _variables(model: Model, name: str) -> tuple[int, ...]:
    return _indices(model, model.joint_index(name))


@public_in("loops")
@function(q="q", loops=True)
def null_space(model: Model, q: ArrayLike, *, choice: Choice) -> Array:
    """G (..., nv, m): v = G ẏ for the independent variables of the choice, with K G = 0 (RBDA 8.42, 8.51)."""
    K = jacobian.reference(model, q)
    return independence.expressed(K, Vector.zero(K.nrows), choice)[0]


@public_in("loops")
@function(q="q", v="v", loops=True)
def null_space_bias(model: Model, q: ArrayLike, v: ArrayLike, *, choice: Choice) -> Array:
    """g (..., nv): a = G ÿ + g, with K g = k (RBDA 8.42, 8.51)."""
    return independence.expressed(jacobian.reference(model, q), stabilized_bias(model, q, v, None), choice)[1]
