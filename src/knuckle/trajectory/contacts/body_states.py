"""Where the bodies of a mechanism are in many states, and how fast: the book's texts on arrays of states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.kinematics.body_motions import positions, velocities
from knuckle.model import Model
from knuckle.spatial import Transform, Vector

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class BodyStates:
    """Bodies in n states, by number, ROOT for the base."""

    E: dict[int, Array]
    """(n, 3, 3): from base to body axes"""
    r: dict[int, Array]
    """(n, 3): the origins in base coordinates"""

    @classmethod
    def of(cls, model: Model, t: Array, q: Array) -> BodyStates:
        """The bodies at times (n,) and positions (n, nq)."""
        now = model.at_time(t)
        X0 = positions(now, now.positions(Vector(list(q.T))))
        n = len(q)
        return cls(
            {i: np.stack([columns(row, n) for row in X.E], axis=1) for i, X in X0.items()},
            {i: columns(X.r, n) for i, X in X0.items()},
        )

    def transform(self, i: int, which: Array) -> Transform:
        """From base to body coordinates in some of the states, as scalars of the texts."""
        E, r = self.E[i][which], self.r[i][which]
        a, b, c = ((E[:, k, 0], E[:, k, 1], E[:, k, 2]) for k in range(3))
        return Transform((a, b, c), (r[:, 0], r[:, 1], r[:, 2]))


def columns(entries: Any, n: int) -> Array:
    """(n, k): scalars of the texts, which may be arrays of n states, as columns."""
    return np.stack([np.broadcast_to(np.asarray(x, float), n) for x in entries], axis=-1)


def body_twists(model: Model, t: Array, q: Array, v: Array, since: Array | float = 0.0) -> dict[int, Array]:
    """(n, 6): the velocity of each body in base coordinates, about the base's origin, angular part first.

    With `since`, v belongs to axes into which bodies that coast have turned since then (`Joint.coasted`): it is turned
    back, so that these are the velocities before.
    """
    now = model.at_time(t)
    Q = Vector(list(q.T))
    at, moving = now.positions(Q), list(now.velocities(Q, Vector(list(v.T))))
    for i, _, joint in now.outward():
        if i not in now.coupled:
            moving[i] = joint.coasted(at[i], moving[i], -since)[1]
    X0 = positions(now, at)
    V = velocities(now, at, moving)
    return {i: columns((X0[i].inv @ x).components, len(q)) for i, x in V.items()}


def velocities_at(twists: dict[int, Array], first: int, second: int, which: Array, point: Array) -> Array:
    """(n, 3): the velocity of a point of the first body against that of the second."""
    V = twists[first][which] - twists[second][which]
    return V[:, 3:] + np.cross(V[:, :3], point)
