"""Contact steps that are called again and again, with everything in its place in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .step_routine import StepRows, many_steps

if TYPE_CHECKING:
    from knuckle.engine.routines import Code

    from .step_room import StepRoom

Array = NDArray[Any]


class PreparedSteps:
    """So many steps of one state in a call, with `parameters` that are written to between calls."""

    def __init__(self, room: StepRoom, acceleration: Code, parameters: Array, count: int, much: float) -> None:
        self._room, self._acceleration, self._parameters, self._much = room, acceleration, parameters, much
        self._times, self._places = np.zeros(count), np.arange(count, dtype=float)
        self._left = np.zeros(3)
        self._bind(0)

    def _bind(self, done: int) -> None:
        room = self._room
        self._n, self._size = len(room.terms.q), len(room.outcome.impulses)
        self._rows = StepRows(*(np.zeros(k) for k in (self._n, room.mechanism.nv, self._size, 1, 1)))
        count = len(self._times)
        self._routine = many_steps.bind(
            room.mechanism, room.terms, room.pairs, room.cones, room.outcome, self._acceleration,
            list(room.scene.terms), list(room.scene.ahead), self._parameters, self._n, self._size, self._times, done,
            count, count, self._rows, self._left, self._much,
        )  # fmt: skip
        self._begin = done

    def __call__(
        self, t: float, q: Array, v: Array, impulses: Array, worst: float, unsolved: float, dt: float
    ) -> tuple[Array, ...]:
        """(q, v, impulses, worst, unsolved) after the steps from t on: arrays that the next call writes over."""
        if self._begin:
            self._bind(0)
        s, o, m, left = self._room.terms, self._room.outcome, self._room.mechanism, self._left
        self._times[:] = t + dt * self._places
        s.dt[0], s.q[:], s.v[:], o.impulses[:], m.held[:] = dt, q, v, impulses, 0.0
        left[0], left[1] = worst, unsolved
        while (done := self._routine()) < len(self._times):
            self._room.grow(int(left[2]))
            self._bind(done)
        rows = self._rows
        return rows.q, rows.v, rows.impulses, rows.worst, rows.unsolved
