"""Events of the user as a mode switch: their last values, and what is recorded and done when they occur."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model
from knuckle.simulation.crossings import dip, may_dip, root
from knuckle.simulation.mode_switch import ACTS, ENDS, LOOKS, Crossing, ModeSwitch, Run, Step
from knuckle.simulation.steps.native_steps import StateRows
from knuckle.simulation.steps.stepper import Stepper

from .event import Event

Array = NDArray[Any]
SMALL = 1e-5
"""The part of a step over which slopes are measured."""
CLOSE = 1e-12
"""Seconds, for a step of 1 s, within which an event that has just occurred does not occur again."""


class EventMonitor(ModeSwitch):
    """The events of a simulation. `values` are those of their functions where it stands."""

    def __init__(self, events: tuple[Event, ...], model: Model, step: float) -> None:
        self.events, self.values = events, list[float]()
        self._model, self._close = model, CLOSE * step
        self._occurred: dict[int, float] = {}
        self._pending: tuple[int, ...] = ()
        self._next = list[float]()
        self._before = list[float]()
        """The values a step before, where it was of the same length"""

    def begin(self, run: Run) -> None:
        self._before = self.values = self._look(run.t, run.state.q, run.state.v)
        self._pending = tuple(k for k, g in enumerate(self.values) if g == 0)

    @property
    def memory(self) -> Any:
        """The events that have been at zero since the beginning."""
        return self._pending

    def restore(self, memory: Any) -> None:
        self._pending = tuple(memory)

    def allows_many(self, state: Any) -> bool:
        return not self._pending

    def undisturbed(self, run: Run, stepper: Stepper, times: Array, rows: StateRows, dt: float) -> int:
        passed = [self._before, self.values]
        for k, t in enumerate(times.tolist()):
            values = self._look(t, rows.q[k], rows.v[k])
            good = k if any(map(Event.counts, self.events, passed[-1], values)) else len(times)
            if any(map(_may_turn, passed[-2], passed[-1], values)):
                good = max(0, k - 1)
            elif (k == 0 and passed[0] is passed[1]) or k == len(times) - 1:  # no state before, or none after it yet
                old = rows.state(k - 1) if k else run.state
                step = Step(stepper, t - dt, t, old, rows.state(k), dt)
                if any(map(partial(self._may_dip, step), self.events, passed[-1], values)):
                    good = min(good, k)
            if good < len(times):
                self._before, self.values = passed[good : good + 2]
                return good
            passed.append(values)
        self._before, self.values = passed[-2:]
        self._occurred = {}
        return len(times)

    def crossings(self, run: Run, step: Step) -> Sequence[Crossing]:
        """The events whose functions reach zero or pass it."""
        self._next = self._look(step.end, step.new.q, step.new.v)
        self._leave_zero(run, step)
        crossings: list[Crossing] = []
        for k, (event, old, new) in enumerate(zip(self.events, self.values, self._next, strict=True)):
            if event.counts(old, new):

                def g(theta: float, event: Event = event) -> float:
                    return event.value(step.time(theta), *step.state(theta))

                crossings.append(self._crossing(k, root(g, 0.0, 1.0, old, new)))
            elif self._may_dip(step, event, old, new):
                crossings += self._crossed_twice(step, k, old, new)
        return crossings

    def _crossing(self, k: int, theta: float) -> Crossing:
        event = self.events[k]
        rank = ENDS if event.stop else ACTS if event.action is not None else LOOKS
        return Crossing(theta, rank, "event", k, self)

    def _may_dip(self, step: Step, event: Event, old: float, new: float) -> bool:
        """Whether a function may pass zero and come back in a step, by its slopes at both ends.

        They are those of the motion at a constant acceleration.
        """
        if old * new <= 0:
            return False
        side, dv, slopes = math.copysign(1.0, old), step.new.v - step.old.v, list[float]()
        for state, t, value, part in ((step.old, step.t, old, SMALL), (step.new, step.end, new, -SMALL)):
            q = step.stepper.system.moved(state.q, part * step.h * state.v)
            slopes.append(side * (event.value(t + part * step.h, q, state.v + part * dv) - value) / part)
        return bool(may_dip(side * old, slopes[0], side * new, slopes[1]))

    def _crossed_twice(self, step: Step, k: int, old: float, new: float) -> list[Crossing]:
        """Where a function passes zero within a step, and where it comes back."""
        event, side = self.events[k], math.copysign(1.0, old)

        def g(theta: float) -> float:
            return event.value(step.time(theta), *step.state(theta))

        beyond = dip(lambda theta: side * g(theta))
        if beyond is None:
            return []
        value, crossings = g(beyond), list[Crossing]()
        if event.counts(old, value):
            crossings.append(self._crossing(k, root(g, 0.0, beyond, old, value)))
        if value != 0 and event.counts(value, new):
            crossings.append(self._crossing(k, root(g, beyond, 1.0, value, new)))
        return crossings

    def act(self, run: Run, step: Step, crossing: Crossing) -> bool:
        t, (q, v) = step.time(crossing.theta), step.state(crossing.theta)
        new = self._occur(run, crossing.index, t, q, v, v)
        if new is None:
            return False
        run.continue_from(t, q, v)
        run.jump((q, v), new)
        return True

    def restarted(self, run: Run) -> None:
        """What has just occurred is at zero, and does not occur again."""
        self._before = self.values = self._look(run.t, run.state.q, run.state.v)
        for k, when in self._occurred.items():
            if run.t - when <= self._close:
                self.values[k] = 0.0
        self._occurred = {}

    def jumped(self, run: Run, v_before: Array) -> None:
        """A sign that changes in a jump is an event."""
        t, q, v = run.t, run.state.q, run.state.v
        old, self.values = self.values, self._look(t, q, v)
        self._before = self.values
        for k, event in enumerate(self.events):
            if not event.counts(old[k], self.values[k]):
                continue
            new = self._occur(run, k, t, q, v, v_before)
            if new is not None:
                run.replace_state(*new)
                self._before = self.values = self._look(t, *new)
                return

    def accept(self, step: Step) -> None:
        self._before, self.values, self._occurred = self.values, self._next, {}

    def _leave_zero(self, run: Run, step: Step) -> None:
        """Events that were at zero at the beginning are recorded if they leave it in their direction."""
        for k in self._pending:
            event, value = self.events[k], self._next[k]
            if value != 0 and event.direction * value >= 0:
                run.record(event.name, "event", step.old.q, step.old.v, step.old.v, step.t)
        self._pending = ()

    def _look(self, t: float, q: Array, v: Array) -> list[float]:
        """The values of all functions in a state."""
        return [event.value(t, q, v) for event in self.events]

    def _occur(self, run: Run, k: int, t: float, q: Array, v: Array, v_before: Array) -> tuple[Array, Array] | None:
        """An event is recorded and acted upon, and may end the run. The state to go on from, if that is another."""
        event = self.events[k]
        run.record(event.name, "event", q, v, v_before, t)
        self._occurred[k] = t
        result = None if event.action is None else event.action(t, q.copy(), v.copy())
        new = None if result is None else self._state_from(event, t, result)
        if event.stop:
            run.end("event", f"event {event.name!r} at t = {t:.9g} s", (t, q, v))
        return new

    def _state_from(self, event: Event, t: float, result: Any) -> tuple[Array, Array]:
        """The state that an action returns."""
        title = f"the action of event {event.name!r}"
        try:
            q, v = (np.array(x, float) for x in result)
        except (TypeError, ValueError):
            raise TypeError(f"{title} gives {result!r}, not None or a state (q, v)") from None
        for name, x, n in (("q", q, self._model.nq), ("v", v, self._model.nv)):
            if x.shape != (n,):
                raise ValueError(f"{title} gives {name} of shape {x.shape}, not ({n},)")
            if not np.isfinite(x).all():
                raise ValueError(f"{title} at t = {t:.9g} s gives a {name} that is not finite: {x}")
        return q, v


def _may_turn(first: float, middle: float, last: float) -> bool:
    """Whether a function with these values at three states may pass zero and come back between them, as a parabola."""
    if first * middle <= 0 or middle * last <= 0:
        return False
    a, b, c = abs(first), abs(middle), abs(last)
    return b <= a and b <= c and a + c > 2 * b and (c - a) ** 2 > 4 * b * (a - 2 * b + c)
