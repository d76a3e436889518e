"""How the states of a rollout are held for the way back: all of them, or some, and the others are found again."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

NEAR = 2**22
"""Bytes of states for each thread that stay near the processor."""
MOST = 2**28
"""Bytes for all states, where nothing is said."""
SHARE = 4
"""One part in so many of the free memory, if that is less."""


@dataclass(frozen=True)
class MemoryPlan:
    """How many trajectories go there and back at a time, and how many steps of them are held at once.

    Attributes:
        trajectories: how many at a time.
        steps: every how many steps a state is kept on the way there; all of them, if it is as many as there are.
    """

    trajectories: int
    steps: int

    @classmethod
    def of(cls, count: int, steps: int, row: int, memory: int, lanes: int, threads: int) -> MemoryPlan:
        """For `count` trajectories of so many steps, whose states have `row` bytes, within so much memory.

        Of as many trajectories as stay near the processor, and `lanes` for each thread at least, all states are held
        if there is memory for that. Else states are kept every √N steps, and each of them begins a part of √N steps
        that is held while it is gone back: the least memory with which every step is computed twice and not oftener.
        """
        least, near = lanes * threads, min(memory, NEAR * threads)
        if row * (steps + 1) * min(least, count) <= memory:
            return cls(_whole(near // (row * (steps + 1)), least, count), max(steps, 1))
        part = math.isqrt(steps - 1) + 1
        return cls(_whole(near // (row * (part + 1 + -(-steps // part))), least, count), part)


def _whole(some: int, least: int, count: int) -> int:
    """So many trajectories, all lanes of all threads full."""
    return min(count, max(least, some // least * least))


def memory_to_use() -> int:
    """Bytes for the states of a rollout, where nothing is said."""
    return min(MOST, _free() // SHARE)


def _free() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return SHARE * MOST
