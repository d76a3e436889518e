"""The rows of a trajectory while it is being computed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Recorder:
    """Times and states in arrays that grow."""

    def __init__(self, nq: int, nv: int, states: int = 0) -> None:
        self.count = 0
        self._times = np.empty(256)
        self._q, self._v, self._z = (np.empty((256, n)) for n in (nq, nv, states))

    def add(self, t: float, q: Array, v: Array, z: Array) -> None:
        """One row: time, positions, velocities, and states of muscles."""
        k = self.count
        if k == len(self._times):
            self._grow(k + 1)
        self._times[k], self._q[k], self._v[k], self._z[k] = t, q, v, z
        self.count = k + 1

    def extend(self, times: Array, q: Array, v: Array, z: Array) -> None:
        """Several rows."""
        start, end = self.count, self.count + len(times)
        if end > len(self._times):
            self._grow(end)
        self._times[start:end], self._q[start:end], self._v[start:end], self._z[start:end] = times, q, v, z
        self.count = end

    def rows(self, start: int = 0) -> tuple[Array, Array, Array, Array]:
        """Times, q, v and states of muscles of the rows from `start` on: copies."""
        part = slice(start, self.count)
        times, q, v, z = (x[part].copy() for x in (self._times, self._q, self._v, self._z))
        return times, q, v, z

    @property
    def last_time(self) -> float:
        """The time of the last row; −∞ if there is none."""
        return float(self._times[self.count - 1]) if self.count else -np.inf

    def _grow(self, needed: int) -> None:
        size = max(needed, 2 * len(self._times))
        for name in ("_times", "_q", "_v", "_z"):
            old: Array = getattr(self, name)
            new = np.empty((size, *old.shape[1:]))
            new[: self.count] = old[: self.count]
            setattr(self, name, new)
