"""The forces of actuators that give a mechanism with loops a motion (RBDA 8.12), for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from knuckle.algorithms import constrained
from knuckle.model import Model
from knuckle.model.reduction import rows as coupled_rows
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix, Vector

from .dynamics import inverse_dynamics
from .function import Array, function
from .loops import active_loop_jacobian, constraint_jacobian
from .mobility import RANK, rank_of


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
    free = _onto_freedoms(constraint_jacobian.reference(model, q))
    acting = Matrix([free(row) for row in _actuators(model, q, actuated)], model.nv)
    nothing = Vector.zero(acting.nrows)
    made = constrained.orthogonal(Matrix.identity(model.nv), (-1,) * model.nv, acting, redundant=True)
    return constrained.least_norm(acting, -made.response(nothing, free(tau))[1])


@dataclass(frozen=True)
class Actuation:
    """Which freedoms of a mechanism its actuators move, in one position (RBDA 8.12)."""

    mobility: int
    """n − r: the freedoms of the mechanism."""
    actuators: int
    """p: the freedoms that have an actuator."""
    rank: int
    """The freedoms that the actuators move independently of each other."""

    @property
    def is_underactuated(self) -> bool:
        """Whether some motions are beyond the actuators."""
        return self.rank < self.mobility

    @property
    def is_redundant(self) -> bool:
        """Whether actuators can work against each other without moving anything."""
        return self.actuators > self.rank

    @property
    def is_full(self) -> bool:
        """Whether every motion has exactly one set of forces."""
        return self.actuators == self.rank == self.mobility

    def __str__(self) -> str:
        parts = [f"actuators: {self.actuators}, freedoms: {self.mobility}"]
        if self.is_underactuated:
            parts.append(f"underactuated, freedoms beyond them: {self.mobility - self.rank}")
        if self.is_redundant:
            parts.append(f"redundant, ways to work against each other: {self.actuators - self.rank}")
        return "; ".join([*parts, "fully actuated"] if self.is_full else parts)


def actuation(model: Model, q: ArrayLike, actuated: Iterable[str]) -> Actuation:
    """Whether actuators at some joints, of the tree or loop joints, move all freedoms at the position `q` (nq,)."""
    at = np.asarray(q, float)
    if at.shape != (model.nq,):
        raise ValueError(f"q has shape {at.shape}, and must have shape ({model.nq},)")
    K = np.asarray(constraint_jacobian(model, at), float)
    r, (_, _, rows) = rank_of(K), np.linalg.svd(K)
    found = [[float(x) for x in row] for row in _actuators(model, at.tolist(), tuple(actuated))]
    acting = np.array(found).reshape(len(found), model.nv)
    moved = (acting / np.linalg.norm(acting, axis=1, keepdims=True)) @ rows[r:].T
    return Actuation(model.nv - r, len(acting), int(np.linalg.matrix_rank(moved, tol=RANK)) if moved.size else 0)


def _onto_freedoms(K: Matrix) -> Callable[[Vector], Vector]:
    """x less its part in the range of Kᵀ: what of a force does work on motions that keep the loops closed."""
    n = K.ncols
    made = constrained.orthogonal(Matrix.identity(n), (-1,) * n, K, redundant=K.nrows >= n)

    def free(x: Vector) -> Vector:
        return made.response(Vector.zero(K.nrows), x)[0]

    return free


def _actuators(model: Model, q: Any, actuated: Iterable[str]) -> list[Vector]:
    """The joint forces τ of a unit force at each actuated freedom: rows of G, or of K_a for loop joints."""
    names, moving = tuple(actuated), coupled_rows(model, q)
    sizes = [loop.kind.nv for loop in model.loops]
    ends = [0, *accumulate(sizes)]
    loops = {loop.name: slice(ends[k], ends[k + 1]) for k, loop in enumerate(model.loops)}
    K_a = active_loop_jacobian.reference(model, q) if not loops.keys().isdisjoint(names) else None
    found: list[Vector] = []
    for name in names:
        if K_a is not None and name in loops:
            found += map(Vector, K_a.rows[loops[name]])
        else:
            rows = moving[model.joint_index(name)]
            found += [Vector(row.get(k, ZERO) for k in range(model.nv)) for row in rows]
    return found
