"""The forces of actuators that give a mechanism with loops a motion (RBDA 8.12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from knuckle.algorithms.loops import constrained_motion
from knuckle.algorithms.loops.constraint_rank import Constraints
from knuckle.engine.calls.function import Array, function
from knuckle.functions.dynamics import inverse_dynamics
from knuckle.model import Model
from knuckle.model.reduction import rows as coupled_rows
from knuckle.public_names import public_in
from knuckle.scalar import ZERO, absolute
from knuckle.solvers.numeric_rank import Judged
from knuckle.spatial import Matrix, Vector

from .loop_terms import active_jacobian, active_loop_sizes, judged_constraints, loop_constraints


@public_in("loops")
@function(q="q", v="v", a="v", f_ext="f", loops=True)
def actuator_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    actuated: tuple[str, ...],
) -> Array:
    """The forces u (..., p) of some joints that give the acceleration `a`: G_uᵀ u = Gᵀ τ_ID (RBDA 8.61-8.63).

    Args:
        model: the mechanism, with loops or without.
        q: positions (..., nq) that close the loops.
        v: velocity variables (..., nv) that keep them closed.
        a: their rates (..., nv), with K a = k.
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        actuated: the names of the joints with actuators, of the tree or loop joints, one force per freedom in this
            order. All others are passive.

    Returns:
        u. With more actuators than freedoms it is the one of the least norm. With too few, no forces may give this
        acceleration, and u comes nearest; `actuation` says which is the case.
    """
    tau = inverse_dynamics.reference(model, q, v, a, f_ext)
    free, doubt = _onto_freedoms(loop_constraints(model, q))
    rows, sizes = _actuators(model, q, actuated)
    acting = Constraints(Matrix(map(free, rows), model.nv), Matrix(sizes, model.nv), doubt)
    solver = constrained_motion.orthogonal(Matrix.identity(model.nv), (-1,) * model.nv, acting, redundant=True)
    return constrained_motion.least_norm(acting, -solver.response(Vector.zero(len(rows)), free(tau))[1])


@public_in("loops")
@dataclass(frozen=True)
class Actuation:
    """Which freedoms of a mechanism its actuators move, in one position (RBDA 8.12)."""

    freedoms: int
    """n − r: the freedoms of the mechanism."""
    actuators: int
    """p: the freedoms that have an actuator."""
    rank: int
    """The freedoms that the actuators move independently of each other."""

    @property
    def is_underactuated(self) -> bool:
        """Whether some motions are beyond the actuators."""
        return self.rank < self.freedoms

    @property
    def is_redundant(self) -> bool:
        """Whether actuators can work against each other without moving anything."""
        return self.actuators > self.rank

    @property
    def is_full(self) -> bool:
        """Whether every motion has exactly one set of forces."""
        return self.actuators == self.rank == self.freedoms

    def __str__(self) -> str:
        parts = [f"actuators: {self.actuators}, freedoms: {self.freedoms}"]
        if self.is_underactuated:
            parts.append(f"underactuated, freedoms beyond them: {self.freedoms - self.rank}")
        if self.is_redundant:
            parts.append(f"redundant, ways to work against each other: {self.actuators - self.rank}")
        return "; ".join([*parts, "fully actuated"] if self.is_full else parts)


@public_in("loops")
def actuation(model: Model, q: ArrayLike, actuated: Iterable[str]) -> Actuation:
    """Whether actuators at some joints, of the tree or loop joints, move all freedoms at the position `q` (nq,)."""
    at = np.asarray(q, float)
    if at.shape != (model.nq,):
        raise ValueError(f"q has shape {at.shape}, and must have shape ({model.nq},)")
    rows, names = judged_constraints(model, at), tuple(actuated)
    acting, sizes = (
        np.array([[float(x) for x in row] for row in part]).reshape(len(part), model.nv)
        for part in _actuators(model, at.tolist(), names)
    )
    moved = Judged(rows.factor.freed(acting), lambda: (sizes, rows.doubt))
    return Actuation(model.nv - int(rows.factor.rank), len(acting), int(moved.factor.rank))


def _onto_freedoms(rows: Constraints) -> tuple[Callable[[Vector], Vector], Any]:
    """x less its part in the range of Kᵀ: what of a force does work on motions that keep the loops closed.

    And the square of the part of the size of a force that says nothing.
    """
    n = rows.K.ncols
    solver = constrained_motion.orthogonal(Matrix.identity(n), (-1,) * n, rows, redundant=rows.K.nrows >= n)

    def free(x: Vector) -> Vector:
        return solver.response(Vector.zero(rows.K.nrows), x)[0]

    return free, rows.doubt


def _actuators(model: Model, q: Any, actuated: Iterable[str]) -> tuple[list[Vector], list[Vector]]:
    """The joint forces τ of a unit force at each actuated freedom, rows of G or of K_a; the sizes of their terms."""
    names, moving = tuple(actuated), coupled_rows(model, q)
    sizes = [loop.type.nv for loop in model.loops]
    ends = [0, *accumulate(sizes)]
    loops = {loop.name: slice(ends[k], ends[k + 1]) for k, loop in enumerate(model.loops)}
    at_loops = not loops.keys().isdisjoint(names)
    K_a = active_jacobian.reference(model, q) if at_loops else None
    size_a = active_loop_sizes.reference(model, q) if at_loops else None
    directions, sizes = list[Vector](), list[Vector]()
    for name in names:
        if K_a is not None and size_a is not None and name in loops:
            directions += map(Vector, K_a.rows[loops[name]])
            sizes += map(Vector, size_a.rows[loops[name]])
        else:
            rows = moving[model.joint_index(name)]
            own = [Vector(row.get(k, ZERO) for k in range(model.nv)) for row in rows]
            directions += own
            sizes += [Vector(map(absolute, row)) for row in own]
    return directions, sizes
