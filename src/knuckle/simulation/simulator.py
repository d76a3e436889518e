"""The way through time: steps, and what interrupts them."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ConvergenceError
from knuckle.integrators.base import State
from knuckle.trajectory.occurrence import Occurrence
from knuckle.trajectory.recorder import Recorder

from .divergence import advice
from .events.crossings import Crossing, Step, event_crossings, in_order, stop_crossings
from .events.event_monitor import Watch
from .run_settings import End, Plan, Position
from .singular_states import singularity
from .steps.native_steps import Chunks, Rows
from .steps.step_size import Pace, StalledError, advance, first_pace
from .steps.stepper import Stepper
from .stops.rigid_stops import Rigid

Array = NDArray[Any]

SHORTEST, LONGEST, PATIENCE = 16, 4096, 0.05
"""Steps in one native call: more while nothing happens, fewer if it takes more than so many seconds."""
BOUNCES, HITS, CHANGES = 1000, 3000, 100
"""Interruptions of one step after which impacts no longer bounce, after which it is the end, and after which joints
begin to slide and to stick at the ends of steps only."""
MANY, MOST = 100_000, 1e12
"""After so many adaptive steps the pace is looked at; if the whole would take so many of them, it is the end."""


@dataclass
class March:
    """A simulation under way. `go` does a piece of it."""

    plan: Plan
    at: Position
    recorder: Recorder
    occurrences: list[Occurrence] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chunks, self._length = Chunks(self.plan.stepper), SHORTEST
        self._watch = Watch(self.plan.events, self.plan.model, self.occurrences)
        self._watch.accept(self._watch.look(self.at.t, self.at.state.q, self.at.state.v))
        self._hits, self._released, self._held = 0, frozenset[int](), frozenset[int]()
        self._milestone = -math.inf
        self._slipping: dict[int, float] = {}
        """Directions in which joints with dry friction have just begun to slide, 0 for those that have to stick"""

    @classmethod
    def begin(cls, plan: Plan, q: Array, v: Array) -> March:
        """At the first state, which is the first row."""
        modes = None if plan.sticking is None else plan.sticking.modes(0.0, q, v, {})
        state = plan.stepper.start(0.0, q, v, plan.step, modes)
        pace = first_pace(plan.stepper, 0.0, state) if plan.is_adaptive else None
        recorder = Recorder(plan.model.nq, plan.model.nv)
        recorder.add(0.0, q, v)
        march = cls(plan, Position(0, 0.0, state, pace=pace), recorder)
        march.at.pending = tuple(k for k, g in enumerate(march._watch.values) if g == 0)
        return march

    @property
    def is_done(self) -> bool:
        return self.at.t >= self.plan.duration if self.plan.is_adaptive else self.at.n >= self.plan.steps

    @property
    def part(self) -> float:
        """How much of the way is done."""
        return min(1.0, self.at.t / self.plan.duration)

    @property
    def is_between(self) -> bool:
        """Whether it stands inside of a step, where it cannot be stored."""
        return self._hits > 0 or (not self.plan.is_adaptive and self.at.t != self.plan.time(self.at.n))

    def go(self) -> None:
        """Some steps, or one of them or a part of it where something may happen. Raises End if that ends it."""
        touched = self.plan.stops is not None and self.plan.stops.is_touched(self.at.state.q)
        native = self.plan.stepper.is_compiled and not self.plan.is_adaptive
        if not native or touched or self.is_between or self.at.pending or not self._chunk():
            self._step()

    def finish(self) -> None:
        """The state at which it ends is its last row."""
        if self.at.t > self.recorder.last_time:
            self.recorder.add(self.at.t, self.at.state.q, self.at.state.v)

    # many steps at once

    def _chunk(self) -> bool:
        """Steps in native code up to one in which something happens; whether nothing does."""
        at, plan = self.at, self.plan
        full = plan.even_steps - at.n
        if full < 1:  # the last step, which is shorter
            return self._run(1, 1, plan.duration - at.t)
        count = min(self._length, full)
        if plan.events or plan.stops is not None or plan.sticking is not None:
            return self._run(count, 1, plan.step)
        if at.n % plan.keep or count < plan.keep:
            count = min(count, plan.keep - at.n % plan.keep)
            return self._run(count, count, plan.step)
        return self._run(count // plan.keep * plan.keep, plan.keep, plan.step)

    def _run(self, count: int, every: int, dt: float) -> bool:
        at, plan, began = self.at, self.plan, time.monotonic()
        times = np.arange(at.n, at.n + count) * plan.step
        rows = self._chunks.run(times, at.state, dt, every)
        if every > 1 and not self._is_sound(rows, -1, dt):
            every, rows = 1, self._chunks.run(times, at.state, dt, 1)
        good = self._undisturbed(rows, dt) if every == 1 else len(rows.q)
        done = at.n + every * np.arange(1, good + 1)
        kept = np.flatnonzero((done % plan.keep == 0) | (done == plan.steps))
        self.recorder.extend(
            np.where(done < plan.steps, done * plan.step, plan.duration)[kept], rows.q[kept], rows.v[kept]
        )
        if good:
            at.n, at.t, at.state = int(done[-1]), plan.time(int(done[-1])), rows.state(good - 1)
        is_slow = time.monotonic() - began > PATIENCE
        self._length = max(1, self._length // 2) if is_slow else min(LONGEST, 2 * self._length)
        if good < len(rows.q):
            self._length = min(self._length, SHORTEST)
        return good == len(rows.q)

    def _is_sound(self, rows: Rows, k: int, dt: float) -> bool:
        """Whether a state is finite, and the integrator content with the steps up to it."""
        try:
            self.plan.stepper.integrator.check(self.at.t, rows.state(k), dt)
        except ConvergenceError:
            return False
        return bool(np.isfinite(rows.q[k]).all() and np.isfinite(rows.v[k]).all())

    def _undisturbed(self, rows: Rows, dt: float) -> int:
        """How many states follow before one that is not sound, beyond a stop, or beyond an event."""
        fine = np.ones(len(rows.q), bool)
        if not self._is_sound(rows, -1, dt):  # then one of them is the first
            fine[:] = [self._is_sound(rows, k, dt) for k in range(len(fine))]
        if self.plan.stops is not None:
            bounds = self.plan.stops.bounds
            fine &= np.all(bounds.gaps(rows.q) > bounds.slack, axis=-1)
        if self.plan.sticking is not None:
            fine &= np.all(rows.memory[0] == self.at.state.memory[0], axis=-1)
        good = len(fine) if fine.all() else int(np.argmin(fine))
        for k in range(good if self.plan.events else 0):
            values = self._watch.look(self.plan.time(self.at.n + k + 1), rows.q[k], rows.v[k])
            if not self._watch.is_quiet(values):
                return k
            self._watch.accept(values)
        return good

    # one step

    def _step(self) -> None:
        """One step, or the part of it up to where something happens."""
        at, plan = self.at, self.plan
        if plan.stops is not None:
            self._settle(plan.stops)
            plan.stops.modes = at.state.memory[0] if plan.sticking is not None else None
        step, pace = self._taken(self._stepper())
        values = self._watch.look(step.end, step.new.q, step.new.v)
        found, held = event_crossings(step, plan.events, self._watch.values, values), []
        if plan.stops is not None:
            stopped, held = stop_crossings(step, plan.stops, at.resting)
            found += stopped
        if held:
            self._held |= frozenset(held)
            self._hit()
            return
        if plan.sticking is not None and self._hits < CHANGES:
            found += plan.sticking.crossings(step)
        self._watch.left_zero(at.pending, step.t, step.old.q, step.old.v, values)
        at.pending = ()
        for crossing in in_order(found):
            if self._cross(step, crossing):
                return
        self._accept(step, pace, values)

    def _stepper(self) -> Stepper:
        """What moves the mechanism now: the stops that it rests on push."""
        return self.plan.stepper if self.plan.stops is None else self.plan.stops.stepper(self.at.resting)

    def _taken(self, stepper: Stepper) -> tuple[Step, Pace | None]:
        """A step from here, as long as it may be."""
        at, plan, pace = self.at, self.plan, None
        try:
            if at.pace is not None:
                new, h, pace = advance(stepper, at.t, at.state, at.pace, plan.duration)
                end = at.t + h if at.t + h < plan.duration else plan.duration
            else:
                end = plan.time(at.n + 1)
                h = plan.step if at.n < plan.even_steps and not self.is_between else end - at.t
                new = self._stepped(stepper, h)
                if plan.sticking is not None and self._hits < CHANGES and np.any(new.memory[0] != at.state.memory[0]):
                    new = stepper.slid(at.t, at.state, h)
        except StalledError as error:
            self._stall(str(error))
        except ConvergenceError as error:
            raise End("diverged", f"at t = {at.t:.9g} s: {error}") from None
        self._check(new, end)
        if at.resting and plan.stops is not None:
            q, v = plan.stops.held(new.q, new.v, end, at.resting)
            new = State(q, v if plan.sticking is None else plan.sticking.still(v, new), new.memory)
        return Step(stepper, at.t, end, at.state, new, h), pace

    def _stepped(self, stepper: Stepper, h: float) -> State:
        """One step, by the native code for many where there is some: the same to the last bit, and compiled already."""
        if not stepper.is_compiled:
            return stepper.step(self.at.t, self.at.state, h)
        new = self._chunks.run(np.array([self.at.t]), self.at.state, h, 1).state(0)
        return stepper.checked(self.at.t, self.at.state, new, h)

    def _check(self, new: State, end: float) -> None:
        """The march is over where the state is no longer finite."""
        model, old = self.plan.model, self.at.state
        for name, x, before, slices in (("v", new.v, old.v, model.v_slices), ("q", new.q, old.q, model.q_slices)):
            if not np.isfinite(x).all():
                k = int(np.argmin(np.isfinite(x)))
                joint = next(j.name for j, s in zip(model.joints, slices, strict=True) if s.start <= k < s.stop)
                raise End(
                    "diverged",
                    f"at t = {end:.9g} s: {name} of joint {joint!r} became {x[k]:g}, from {before[k]:.6g} at "
                    f"t = {self.at.t:.9g} s. {advice(self.plan.stepper.integrator)}",
                )

    def _cross(self, step: Step, crossing: Crossing) -> bool:
        """Something happens within a step; whether the motion goes on from there."""
        t, (q, v), sticking = step.time(crossing.theta), step.state(crossing.theta), self.plan.sticking
        self._rows_within(step, t)
        if crossing.kind == "event":
            new = self._fire(crossing.which, t, q, v, v)
            if new is None:
                return False
            self._go_on_from(t, q, v)
            self._jump(q, v, *new)
            return True
        if crossing.kind == "push":
            self._released |= {crossing.which}
        if sticking is not None and crossing.kind == "stop":
            v = sticking.stopped(v, crossing.which)
            self._slipping.pop(crossing.which, None)
            if crossing.theta == 0:
                self._slipping[crossing.which] = 0.0
        if sticking is not None and crossing.kind == "slip":
            self._slipping[crossing.which] = sticking.way(t, q, v, step.old, crossing.which)
        self._go_on_from(t, q, v)
        return True

    def _fire(self, k: int, t: float, q: Array, v: Array, v_before: Array) -> tuple[Array, Array] | None:
        """An event occurs, and may end the march. Gives the state to go on from, if that is another."""
        new, event = self._watch.fire(k, t, q, v, v_before), self.plan.events[k]
        if event.stop:
            self.at.t, self.at.state = t, State(q, v)
            raise End("event", f"event {event.name!r} at t = {t:.9g} s")
        return new

    def _hit(self) -> None:
        self._hits += 1
        if self._hits > HITS:
            self._stall(f"the step was interrupted {HITS} times by stops and events")

    def _stall(self, why: str) -> NoReturn:
        """The march is over: time does not advance."""
        at, model = self.at, self.plan.model
        raise End("stalled", f"at t = {at.t:.9g} s: {why}{singularity(model, at.t, at.state.q)}")

    def _must_get_on(self) -> None:
        """The march is over if adaptive steps have become so short that it would never end."""
        at, plan = self.at, self.plan
        if plan.is_adaptive and at.n % MANY == 0:
            if (at.t - self._milestone) * MOST < MANY * plan.duration:
                self._stall(
                    f"the last {MANY} steps took {at.t - self._milestone:.3g} s of {plan.duration:.6g} s together"
                )
            self._milestone = at.t

    def _go_on_from(self, t: float, q: Array, v: Array) -> None:
        """The march goes on from within a step."""
        self._hit()
        at, plan = self.at, self.plan
        end = plan.duration if plan.is_adaptive else plan.time(at.n + 1)
        at.t = t
        if end - t <= 4 * math.ulp(end):  # no more than rounding is left of it
            at.n, at.t = at.n + 1, end
            if not plan.is_adaptive and at.n % plan.keep == 0:
                self.recorder.add(at.t, q, v)
        self._restart(q, v)
        self._watch.begin_again(at.t, q, v, 1e-12 * (plan.dt or plan.duration))

    def _restart(self, q: Array, v: Array) -> None:
        """The state is another: the integrator begins anew."""
        at, plan = self.at, self.plan
        rest = plan.time(at.n + 1) - at.t if self.is_between and not plan.is_adaptive else plan.step
        modes = None if plan.sticking is None else plan.sticking.modes(at.t, q, v, self._slipping)
        at.state = self._stepper().start(at.t, q, v, rest, modes)

    def _settle(self, stops: Rigid) -> None:
        """Impacts at this instant, and what is rested on from now."""
        at, v = self.at, self.at.state.v
        try:
            settled = stops.settled(at.t, at.state.q, v, self._released, self._held, self._hits < BOUNCES)
        except ConvergenceError as error:
            self._stall(str(error))
        for kind, which in (
            ("impact", settled.hit),
            ("rest", sorted({*settled.resting} - {*at.resting})),
            ("release", sorted({*at.resting} - {*settled.resting})),
        ):
            for k in which:
                self._watch.note(at.t, stops.name(k), kind, settled.q, settled.v, v)
        if settled.is_changed or settled.resting != at.resting:
            at.resting = settled.resting
            if settled.hit:
                self._jump(settled.q, v, settled.q, settled.v)
            else:
                self._restart(settled.q, settled.v)

    def _jump(self, q: Array, v: Array, new_q: Array, new_v: Array) -> None:
        """The state changes in no time: both are rows, and events may occur in between."""
        t, watch = self.at.t, self._watch
        if self.recorder.last_time < t:
            self.recorder.add(t, q, v)
        self.recorder.add(t, new_q, new_v)
        self._restart(new_q, new_v)
        old, watch.values = watch.values, watch.look(t, new_q, new_v)
        for k, event in enumerate(self.plan.events):
            if event.counts(old[k], watch.values[k]) and (again := self._fire(k, t, new_q, new_v, v)) is not None:
                self.recorder.add(t, *again)
                self._restart(*again)
                watch.values = watch.look(t, *again)
                return

    def _accept(self, step: Step, pace: Pace | None, values: list[float]) -> None:
        """The step is done."""
        at, plan = self.at, self.plan
        self._rows_within(step, step.end)
        at.n, at.t, at.state, at.pace = at.n + 1, step.end, step.new, pace
        self._watch.accept(values)
        self._hits, self._released, self._held, self._slipping = 0, frozenset(), frozenset(), {}
        if at.state.memory and (at.resting or step.h != plan.step) and not (plan.is_adaptive or self.is_done):
            self._restart(step.new.q, step.new.v)
        if not (plan.is_adaptive and plan.dt) and at.n % plan.keep == 0:
            self.recorder.add(at.t, at.state.q, at.state.v)
        self._must_get_on()

    def _rows_within(self, step: Step, end: float) -> None:
        """The rows of an even grid that lie in a step of another length."""
        at, plan = self.at, self.plan
        if not plan.is_adaptive or plan.dt is None:
            return
        while at.rows + 1 < plan.steps and (t := (at.rows + 1) * plan.dt) <= end:
            at.rows += 1
            if at.rows % plan.keep == 0:
                self.recorder.add(t, *step.state((t - step.t) / step.h))
