"""Where within a step something happens, found by the dense output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from knuckle.integrators.base import Dense, State
from knuckle.simulation.steps.stepper import Stepper
from knuckle.simulation.stops.rigid_stops import Rigid

from .event import Event, root

Array = NDArray[Any]


@dataclass(frozen=True)
class Step:
    """A step that was done: from `old` at t to `new` at `end`, which is t + h but for rounding."""

    stepper: Stepper
    t: float
    end: float
    old: State
    new: State
    h: float

    @cached_property
    def dense(self) -> Dense:
        """(q, v) at t + θ h."""
        return self.stepper.dense(self.t, self.old, self.new, self.h)

    def time(self, theta: float) -> float:
        """t + θ h, the end exactly for θ = 1."""
        return self.end if theta == 1.0 else self.t + theta * self.h

    def state(self, theta: float) -> tuple[Array, Array]:
        """(q, v) within the step; at its ends the states themselves."""
        if theta in (0.0, 1.0):
            end = self.old if theta == 0.0 else self.new
            return end.q, end.v
        return self.dense(theta)


class Crossing(NamedTuple):
    """Something that happens at t + θ h: `kind` is "event", "gap" (a stop is reached), "push" (it is left),
    "stop" (a joint with dry friction comes to rest) or "slip" (one that stuck is held against too much).

    Of what happens at one instant, `rank` says what comes first: events that are only seen, those that act, those that
    end the simulation, stops.
    """

    theta: float
    rank: int
    kind: str
    which: int


def event_crossings(step: Step, events: Sequence[Event], old: Sequence[float], new: Sequence[float]) -> list[Crossing]:
    """The events whose functions reach zero or pass it."""
    found: list[Crossing] = []
    for k, event in enumerate(events):
        if event.counts(old[k], new[k]):

            def g(theta: float, event: Event = event) -> float:
                return event.value(step.time(theta), *step.state(theta))

            rank = 2 if event.stop else 1 if event.action is not None else 0
            found.append(Crossing(root(g, 0.0, 1.0, old[k], new[k]), rank, "event", k))
    return found


def stop_crossings(step: Step, rigid: Rigid, resting: Sequence[int]) -> tuple[list[Crossing], list[int]]:
    """The stops that are reached or left; and those that are passed from the very beginning, which have to hold."""
    found, held = list[Crossing](), list[int]()
    bounds = rigid.bounds
    old, new = bounds.gaps(step.old.q), bounds.gaps(step.new.q)
    for k in np.flatnonzero(new < -bounds.slack):
        if k in resting:
            continue

        def gap(theta: float, k: int = int(k)) -> float:
            return float(bounds.gaps(step.state(theta)[0])[k])

        start, end, value = (0.0, 1.0, float(old[k])) if old[k] > bounds.slack[k] else opened(gap)
        if value > 0:
            found.append(Crossing(root(gap, start, end, value, gap(end)), 3, "gap", int(k)))
        else:
            held.append(int(k))
    return found + _left(step, rigid, resting), held


def opened(gap: Any) -> tuple[float, float, float]:
    """A place where a gap that was closed at the beginning is open, and one twice as far where it is closed again."""
    theta = 0.5
    while theta > 1e-12:
        value = gap(theta)
        if value > 0:
            return theta, 2 * theta, value
        theta /= 2
    return 0.0, 1.0, 0.0


def _left(step: Step, rigid: Rigid, resting: Sequence[int]) -> list[Crossing]:
    """The stops that no longer have to push."""
    if not resting:
        return []
    old = rigid.pushes(step.t, step.old.q, step.old.v, resting)
    new = rigid.pushes(step.end, step.new.q, step.new.v, resting)
    found: list[Crossing] = []
    for place, k in enumerate(resting):
        if old[place] > 0 > new[place]:

            def push(theta: float, place: int = place) -> float:
                return float(rigid.pushes(step.time(theta), *step.state(theta), resting)[place])

            found.append(Crossing(root(push, 0.0, 1.0, float(old[place]), float(new[place])), 3, "push", k))
    return found


def in_order(found: Iterable[Crossing]) -> list[Crossing]:
    """By time, then by rank."""
    return sorted(found)
