"""The memory of implicit steps of one mechanism, and a step with it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model

from .closed_loops import ClosedLoops
from .gradients import descend
from .placing import move, place, place_bodies
from .sparse_equations import SparseEquations
from .tied_variables import TiedVariables
from .tree_products import factor
from .tree_tables import TreeTables
from .turning import Turning
from .woodbury import Woodbury

Array = NDArray[Any]

PROJECTIONS = 2
"""Steps by which positions, and then velocities, are brought onto closed loops (`functions.loops.projection`)."""

FAR = 1_000_000
"""More iterations than any number that was enough."""


class Solved(NamedTuple):
    """A step: the state after it, the change of velocity, how many iterations and what is left of the equations."""

    q: Array
    v: Array
    change: Array
    iterations: int
    left: float


class ImplicitRoom:
    """Tables, arrays and bound loops: not for two threads at once."""

    def __init__(self, model: Model, solver: str, tolerance: float, iterations: int, turning: bool = False) -> None:
        self._solver, self._ties = solver, TiedVariables(model)
        self.tables = tables = TreeTables.of(self._ties.tree)
        self._tree, self._s = tables.tree, tables.state()
        self._g, self._d, self._rotor = tables.factors(), tables.descent(), self._s.rotor.copy()
        self.loops = ClosedLoops(tables, self._s, self._g, self._ties)
        tree, s, g = self._tree, self._s, self._g
        self._place = place.bind(tree, s, tables.joints, tables.elements)
        self._place_bodies = place_bodies.bind(tree, s, tables.joints)
        self._factor = [factor.bind(tree, s, g, with_elements) for with_elements in (0, 1)]
        self._move = move.bind(tree, s, self._d.x, tables.moves)
        self._descend = descend.bind(tree, s, g, self.loops.closing, self._d, tolerance, iterations)
        self._turning, self._tolerance = Turning(tables, s) if turning and model.elements else None, tolerance
        self._woodbury = Woodbury(tables, s, g, self.loops) if solver == "woodbury" else None
        self._sparse = SparseEquations(tables, s, self.loops) if solver == "kkt" else None

    def step(
        self, t: float, q: Array, v: Array, tau: Array, applied: Array | None, held: Any, dt: float, guess: Array,
        blocks: float, decay_time: float | None,
    ) -> Solved:  # fmt: skip
        """A step from a state under forces; `held` is inertia that holds joints.

        `guess` is a change of velocity to begin with, `blocks` is 1 where the preconditioner has what elements do to
        single bodies, and `decay_time` that of loop errors.
        """
        self.begin(t, q, v, tau, applied, held, dt)
        self._place()
        if self.loops.count:
            self._ask(decay_time, dt)
        if not np.isfinite(self._s.rhs).all():
            change, count, left = np.full(self._ties.size, np.nan), 0, 0.0
        else:
            if self._turning is not None:
                self._turning.begin()
            if self._sparse is None:
                self._factor[int(blocks) if self._woodbury is None else 0]()
                self.loops.spread()
            change, count, left = self._solved(guess)
            if self._turning is not None and count >= 0:
                change, count, left = self._turning.improved(change, self._solved, self._tolerance)
        self._d.x[:] = change
        change = np.array(change)
        self._move()
        return Solved(*self._state(), change, count, left)

    def begin(self, t: float, q: Array, v: Array, tau: Array, applied: Array | None, held: Any, dt: float) -> None:
        """A state and what acts there, in the arrays."""
        s = self._s
        (s.q[:-1], s.v[:-1]), s.tau[:] = self._ties.state(q, v), self._ties.spread(tau)
        s.t[0], s.dt[0] = t, dt
        s.applied[6:] = 0.0 if applied is None else np.reshape(applied, -1)
        s.rotor[:] = self._rotor
        s.rotor[:-1] += self._ties.spread(held)

    def _ask(self, decay_time: float | None, dt: float) -> None:
        """What rows of loops ask of the change: dt (k + k_stab) (RBDA 8.21-8.23)."""
        loops = self.loops
        loops.look()
        k = loops.bias.copy()
        if decay_time is not None:
            k -= 2 / decay_time * loops.rate + loops.delta / decay_time**2
        loops.closing.k[:-1] = dt * k

    def _solved(self, guess: Array) -> tuple[Array, int, float]:
        """The change for the right-hand side, how many iterations and what is left."""
        if self._sparse is not None:
            return self._sparse.solved()
        return self._iterated(guess) if self._woodbury is None else self._woodbury.solved()

    def _iterated(self, guess: Array) -> tuple[Array, int, float]:
        self._d.x[:] = guess
        count = self._descend()
        return self._d.x, count, float(self._d.left[0])

    def tried(
        self, t: float, q: Array, v: Array, tau: Array, applied: Array | None, held: Any, dt: float, guess: Array,
        decay_time: float | None,
    ) -> float:  # fmt: skip
        """1 if the preconditioner with what elements do to single bodies takes fewer iterations here, else 0."""
        self.begin(t, q, v, tau, applied, held, dt)
        self._place()
        if self.loops.count:
            self._ask(decay_time, dt)
        counts: list[int] = []
        for which in (0, 1):
            self._factor[which]()
            self.loops.spread()
            count = self._iterated(guess)[1]
            counts.append(count if count >= 0 else FAR - count)
        return float(counts[1] < counts[0])

    def closed(self, t: float, q: Array, v: Array, held: Any) -> tuple[Array, Array]:
        """The nearest state with closed loops, by kinetic energy, as `onto_constraints` has it."""
        loops, s = self.loops, self._s
        self.begin(t, q, v, np.zeros(len(v)), None, held, 0.0)
        self._look()
        self._factor[0]()
        loops.spread()
        for _ in range(PROJECTIONS):
            s.v[:-1], s.dt[0], self._d.x[:] = -loops.pull(loops.delta), 1.0, 0.0
            self._move()
            s.v[:-1], s.dt[0] = v, 0.0
            self._look()
        for _ in range(PROJECTIONS):
            s.v[:-1] -= loops.pull(loops.rate)
            self._look()
        return self._state()

    def _look(self) -> None:
        self._place_bodies()
        self.loops.look()

    def _state(self) -> tuple[Array, Array]:
        return self._ties.gathered(self._s.q[:-1], self._s.v[:-1])
