"""Time per evaluation: the best of many short repetitions, the candidates taking turns."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Case:
    """One way to compute a function.

    `call` does the work `evaluations` times over; `result` gives what it computes for the first states, in knuckle's
    variables, to be compared before anything is timed.
    """

    function: str
    library: str
    setting: str
    way: str
    call: Callable[[], Any]
    evaluations: int
    result: Callable[[], Any]


@dataclass(frozen=True)
class Time:
    """Seconds per evaluation: the best repetition, and the one in the middle, which shows the noise."""

    best: float
    middle: float


def time_of(cases: Sequence[Case], rounds: int, seconds: float) -> list[Time]:
    """The times of all cases. Each repetition takes about `seconds`; in every round each case has its turn."""
    counts = [_calls(case.call, seconds) for case in cases]
    found: list[list[float]] = [[] for _ in cases]
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for case, count, times in zip(cases, counts, found, strict=True):
                times.append(_repetition(case.call, count) / (count * case.evaluations))
    finally:
        if enabled:
            gc.enable()
    return [Time(min(times), median(times)) for times in found]


def _repetition(call: Callable[[], Any], count: int) -> float:
    turns = range(count)
    start = time.perf_counter()
    for _ in turns:
        call()
    return time.perf_counter() - start


def _calls(call: Callable[[], Any], seconds: float) -> int:
    """How many calls fill the time. The first call is not counted: it may compile."""
    call()
    count = 1
    while (taken := _repetition(call, count)) < seconds / 4 and count < 1 << 20:
        count *= 4
    return max(1, round(count * seconds / taken))
