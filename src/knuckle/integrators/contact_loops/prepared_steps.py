"""Contact steps of states in rows that are called again and again, with everything in its place in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.native.threads import get_threads, shared

from .step_routine import row_steps

if TYPE_CHECKING:
    from knuckle.engine.routines import BoundRoutine, Code

    from .step_room import StepRoom

Array = NDArray[Any]

PIECE = 64
"""States that a thread takes at a time."""


class PreparedSteps:
    """So many steps of `states` states in a call, shared by as many threads as there are rooms.

    `rows` (states, n) holds q, v, impulses, the worst residual, how often it was too large, and the steps done;
    `given` (states, width) the parameters, the `held` ones for these steps just before the last. Both are written to
    between calls.
    """

    def __init__(
        self, rooms: list[StepRoom], acceleration: Code, given: Array, states: int, steps: int, much: float
    ) -> None:
        first = rooms[0]
        size = len(first.terms.q) + first.mechanism.nv + len(first.outcome.impulses) + 3
        self.rows, self.given, self.clock = np.zeros((states, size)), np.tile(given, (states, 1)), np.zeros(2)
        self._workers = [_Worker(room, self, acceleration, steps, much) for room in rooms[: max(1, states // PIECE)]]
        self._pieces = [(k, min(k + PIECE, states)) for k in range(0, states, PIECE)]

    def __call__(self) -> None:
        """Takes the steps, from rows to rows."""
        if len(self._workers) == 1:
            self._workers[0].work(0, len(self.rows))
            return
        idle = [*self._workers]  # lists are safe between threads

        def work(piece: tuple[int, int], stop: Any) -> None:
            worker = idle.pop()
            worker.work(*piece)
            idle.append(worker)

        shared(self._pieces, min(len(self._workers), get_threads()), work)


class _Worker:
    """What takes steps of some of the states, in memory of its own."""

    def __init__(self, room: StepRoom, rows: PreparedSteps, acceleration: Code, steps: int, much: float) -> None:
        self._room, self._left, self._states = room, np.zeros(3), np.zeros(2, np.int64)
        self._made_of = rows, acceleration, steps, much
        self._routine: BoundRoutine = self._bound()

    def _bound(self) -> BoundRoutine:
        room, (shared, acceleration, steps, much) = self._room, self._made_of
        return row_steps.bind(
            room.mechanism, room.terms, room.pairs, room.cones, room.outcome, acceleration, list(room.scene.terms),
            list(room.scene.ahead), shared.given.reshape(-1), shared.given.shape[1], len(room.terms.q),
            len(room.outcome.impulses), shared.rows.reshape(-1), self._states, steps, shared.clock, self._left, much,
        )  # fmt: skip

    def work(self, begin: int, end: int) -> None:
        """The steps of the states from `begin` up to `end`."""
        states = self._states
        states[0], states[1] = begin, end
        self._room.mechanism.held[:] = 0.0
        self._routine()
        while states[0] < end:
            self._room.grow(int(self._left[2]))
            self._routine = self._bound()
            self._routine()
