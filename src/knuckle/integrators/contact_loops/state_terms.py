"""The texts of a contact step that are about the mechanism: its terms in a state, and the motion straight ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.functions.dynamics import mass_matrix
from knuckle.functions.loops.loop_terms import jacobian as loop_jacobian
from knuckle.model import Model
from knuckle.spatial import Transform, Vector


@dataclass(frozen=True)
class StateTerms:
    """Free velocities, screws of all variables in base coordinates, blocks of H, rows of loops, placements of shapes.

    `parts` are the variables of each tree, `shapes` a body and a placement on it for each shape.
    """

    parts: tuple[tuple[int, ...], ...]
    shapes: tuple[tuple[int, Transform], ...]

    def __call__(self, model: Model, t: Any, q: Any, v: Any, a: Any, dt: Any) -> Vector:
        now = model.at_time(t) if model.depends_on_time else model
        at, old, pulled = now.positions(q), now.velocities(q, v), now.velocities(q, a)
        joints = zip(now.outward(), old, pulled, strict=True)
        free = [y for (_, _, joint), u, x in joints for y in u + dt * (x - joint.coasting_rate(u))]
        X0 = positions(now, at)
        screws = [X0[i].inverse() @ s for i, _, joint in now.outward() for s in joint.subspace(at[i]).columns]
        H = mass_matrix(now.without_loops() if now.loops else now, q)
        blocks = [H.rows[i][k] for part in self.parts for i in part for k in part]
        loops = [x for row in loop_jacobian(now, q).rows for x in row] if now.loops else []
        here = [X @ X0[i] for i, X in self.shapes]
        placed = [x for X in here for x in (*X.E[0], *X.E[1], *X.E[2], *X.r)]
        return Vector([*free, *(x for s in screws for x in s.components), *blocks, *loops, *placed])


def coasted(model: Model, t: Any, q: Any, v: Any, back: Any, dt: Any) -> Vector:
    """(q', v') in a row: straight ahead with v, and what `back` moves besides."""
    now = model.at_time(t) if model.depends_on_time else model
    at, new, apart = now.positions(q), now.velocities(q, v), now.velocities(q, back)
    states = [joint.coasted(at[i], new[i], dt) for i, _, joint in now.outward()]
    moved = [joint.integrate(states[i][0], dt * apart[i]) for i, _, joint in now.outward()]
    return Vector([*(x for place in moved for x in place), *(x for _, speed in states for x in speed)])
