"""What the turning of bodies does to the forces of elements in an implicit step: K with (∂Jᵀ/∂q) f (notes 2.75).

Loops over bodies solve with K = JᵀKJ of springs along directions, which leaves the turning out and is never negative.
The whole K = −∂τ/∂q differs from it by G. (A + dt² G) x = b − dt² G v is found in rounds, A x = b − dt² G (v + x), with
G of the last x: what is turned is small beside the inertia, or else steps are too long for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ConvergenceError

from .placing import element_torques, move, place_elements
from .records import TreeState
from .tree_products import product
from .tree_tables import TreeTables

Array = NDArray[Any]

ROUNDS = 60
"""How often a solution is improved at most."""
EPSILON = 1e-5
"""How far variables move for differences of forces, in radians and metres."""
NOISE = 1e-10
"""What these leave of a solution."""


class Turning:
    """Corrections of the right-hand side of the steps of one mechanism."""

    def __init__(self, tables: TreeTables, s: TreeState) -> None:
        m = tables.tree
        self._s, self._there, self._y = s, tables.state(), np.zeros(m.nv)
        self._still, self._out = np.zeros(m.nv), np.zeros(m.nv)
        self._move = move.bind(m, self._there, self._still, tables.moves)
        self._torques = element_torques.bind(m, self._there, tables.joints, tables.elements, self._out)
        self._slopes = place_elements.bind(m, self._there, tables.joints, tables.elements)
        self._product = product.bind(m, s, self._y, self._out)
        self._squares = np.zeros(len(s.slopes), bool)
        for at, count, d in zip(m.slopes_at, m.member_size, m.directions, strict=True):
            self._squares[at + 6 * count * d : at + (6 * count + d) * d] = True

    def begin(self) -> None:
        """A step from the state that is placed: K along the directions of elements, from dt D + dt² K for two dt."""
        s, there = self._s, self._there
        self._from(s.v)
        there.dt[0] = 2 * s.dt[0]
        self._slopes()
        self._b, self._K = s.rhs.copy(), (there.slopes - 2 * s.slopes) / (2 * s.dt[0] ** 2)

    def improved(self, change: Array, solve: Callable[[Array], tuple[Array, int, float]], tolerance: float) -> Any:
        """The change with turning, from one without, by a solver for the right-hand side that begins with a guess."""
        x, count = np.array(change), 0
        for _ in range(ROUNDS):
            self._s.rhs[:] = self._b + self._correction(self._s.v[:-1] + x)
            new, more, left = solve(x)
            count += more
            size = float(np.linalg.norm(new)) or 1.0
            off, x = float(np.linalg.norm(new - x)), np.array(new)
            if more < 0 or off <= max(tolerance, NOISE) * size:
                return x, count if more >= 0 else more, left
        raise ConvergenceError(
            f"what the turning of bodies does to forces of elements did not settle within {ROUNDS} rounds: take "
            'shorter steps, turning=False, or solver="dense"'
        )

    def _correction(self, y: Array) -> Array:
        """−dt² G y = dt² (JᵀKJ y + ∂τ/∂q y)."""
        s = self._s
        return s.dt[0] ** 2 * (self._along(y) + self._slope(y))

    def _slope(self, y: Array) -> Array:
        """∂τ/∂q y of all elements, by differences of their forces."""
        step = EPSILON / (float(np.abs(y).max(initial=0.0)) or 1.0)
        ends: list[Array] = []
        for sign in (1.0, -1.0):
            there = self._there
            self._from(sign * np.append(y, 0.0))
            there.dt[0] = step
            self._move()
            there.v[:] = self._s.v
            there.dt[0] = 0.0
            self._torques()
            ends.append(self._out.copy())
        return (ends[0] - ends[1]) / (2 * step)

    def _along(self, y: Array) -> Array:
        """JᵀKJ y."""
        s, kept, parts = self._s, self._s.slopes.copy(), list[Array]()
        self._y[:] = y
        for K in (self._K, 0.0 * self._K):
            s.slopes[self._squares] = K[self._squares]
            self._product()
            parts.append(self._out.copy())
        s.slopes[:] = kept
        return parts[0] - parts[1]

    def _from(self, v: Array) -> None:
        """The positions of the step, with other velocities."""
        self._there.t[:], self._there.q[:], self._there.v[:] = self._s.t, self._s.q, v
