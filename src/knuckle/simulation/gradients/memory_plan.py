"""How the states of a rollout are held for the way back: all of them, or some, and the others are found again."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

NEAR = 2**25
"""Bytes of states for each thread: more than that would not make calls longer that are long enough."""
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

        All states are held if there is memory for those of `lanes` for each thread, of more trajectories if it is
        enough. Else states are kept every p steps, and each of them begins a part of p steps that is held while it is
        gone back: every step is computed twice and not oftener. The parts are as long as memory allows, so that there
        are few calls; with p = √N they take the least.
        """
        least = max(1, min(lanes * threads, count))
        each = max(1, row * (steps + 1))
        if each * least <= memory:
            whole = min(memory, NEAR * threads) // each // least * least
            return cls(min(max(count, 1), max(least, whole)), max(steps, 1))
        return cls(least, _longest_part(steps, memory // (row * least) - 2))


def _longest_part(steps: int, rows: int) -> int:
    """The longest part p of some steps with p + steps / p rows or fewer; with √steps there are the fewest."""
    room = rows * rows - 4 * steps
    longest = (rows + math.isqrt(room)) // 2 if rows > 0 and room >= 0 else 0
    return max(min(steps - 1, longest), math.isqrt(steps - 1) + 1)


def memory_to_use() -> int:
    """Bytes for the states of a rollout, where nothing is said."""
    return min(MOST, _free() // SHARE)


def _free() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return SHARE * MOST
