"""How the states of a rollout are held for the way back: all of them, or some, from which the others are found again."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

MOST = 2**28
"""Bytes for states, where nothing is said: beyond that, memory is slower than what is computed again."""
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
    def of(cls, count: int, steps: int, row: int, memory: int, least: int) -> MemoryPlan:
        """For `count` trajectories of so many steps, whose states have `row` bytes, within so much memory.

        Fewer than `least` trajectories at a time would leave lanes or threads without work: before that, states are
        kept every so many steps only. Of √N of them each begins a part of √N steps, which is held while it is gone
        back; that is the least memory with which every step is computed twice and not more often.
        """
        some = min(count, max(least, memory // (row * (steps + 1))))
        if some * row * (steps + 1) <= memory:
            return cls(some, max(steps, 1))
        return cls(some, _longest_part(steps, memory // (some * row) - 2))


def _longest_part(steps: int, rows: int) -> int:
    """The longest part p of some steps with p + steps / p rows or fewer; with √steps there are the fewest."""
    room = rows * rows - 4 * steps
    longest = (rows + math.isqrt(room)) // 2 if rows > 0 and room >= 0 else 0
    return min(steps, max(longest, math.isqrt(steps - 1) + 1))


def memory_to_use() -> int:
    """Bytes for the states of a rollout, where nothing is said."""
    return min(MOST, _free() // SHARE)


def _free() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return SHARE * MOST
