"""A simulation under way: steps, what is saved of them, and the mode switches that interrupt them."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ConvergenceError
from knuckle.integrators.base import State
from knuckle.trajectory.event_record import EventRecord
from knuckle.trajectory.recorder import Recorder

from .mode_switch import Crossing, EndOfRun, Step
from .run_settings import RunSettings, RunState
from .singular_states import singularity
from .steps.step_size import StalledError
from .steps.stepper import Stepper

Array = NDArray[Any]

SHORTEST, LONGEST, PATIENCE = 16, 4096, 0.05
"""Steps in one native call: more while nothing happens, fewer if it takes more than so many seconds."""
MOST_INTERRUPTIONS = 3000
"""Interruptions of one step after which the simulation has stalled."""


@dataclass
class Simulator:
    """A simulation under way. `advance` does a piece of it. To switches it is a `Run`."""

    settings: RunSettings
    at: RunState
    recorder: Recorder
    events: list[EventRecord] = field(default_factory=list[EventRecord])
    interruptions: int = 0

    def __post_init__(self) -> None:
        self._length = SHORTEST
        self._last: Step | None = None
        for switch in self.settings.switches:
            switch.begin(self)
        if self.at.memory is not None:
            self.settings.policy.restore(self.at.memory["policy"])
            for switch, memory in zip(self.settings.switches, self.at.memory["switches"], strict=True):
                switch.restore(memory)

    @classmethod
    def start(cls, settings: RunSettings, q: Array, v: Array) -> Simulator:
        """At the first state, which is the first row."""
        state = settings.begin(settings.stepper, 0.0, q, v, settings.policy.last_time(0))
        settings.policy.begin(settings.stepper, 0.0, state)
        z = settings.stepper.recorded(state)
        recorder = Recorder(settings.model.nq, settings.model.nv, len(z))
        recorder.add(0.0, q, v, z)
        if settings.notes is not None:
            settings.notes.one(0, 0.0, q, v, state, None)
        return cls(settings, RunState(0, 0.0, state), recorder)

    @property
    def t(self) -> float:
        return self.at.t

    @property
    def state(self) -> State:
        return self.at.state

    @property
    def stepper(self) -> Stepper:
        return self._stepper()

    @property
    def is_done(self) -> bool:
        return self.at.t >= self.settings.duration

    @property
    def progress(self) -> float:
        """The part of the simulation that is done."""
        return min(1.0, self.at.t / self.settings.duration)

    @property
    def is_between(self) -> bool:
        """Whether it stands within a step, where it cannot be stored."""
        return self.interruptions > 0 or self.settings.policy.is_between(self.at.n, self.at.t)

    @property
    def memory(self) -> Mapping[str, Any]:
        """What a checkpoint holds of the policy and the switches."""
        return {"policy": self.settings.policy.memory, "switches": [s.memory for s in self.settings.switches]}

    def advance(self) -> None:
        """Some steps, or one of them or a part of it where a switch may act. Raises EndOfRun where one ends it."""
        try:
            if not self._take_many():
                self._take_one()
        except StalledError as error:
            self.stall(str(error))

    def finish(self) -> None:
        """The state at which it ends is its last row."""
        if self.at.t > self.recorder.last_time:
            self._save(self.at.t, self.at.state.q, self.at.state.v)

    # many steps at once

    def _take_many(self) -> bool:
        """Steps in native code up to one in which a switch has to act; False if it may have to in the next one."""
        at, settings, stepper = self.at, self.settings, self._stepper()
        most, dt = settings.policy.many(at.n, at.t)
        if most < 1 or self.is_between or not stepper.is_compiled:
            return False
        if not all(switch.allows_many(at.state) for switch in settings.switches):
            return False
        count, save_every = min(self._length, most, stepper.most_steps), settings.save_every
        looks = settings.notes is not None and settings.notes.needs_every_state
        if looks or any(switch.watches_every_state for switch in settings.switches):
            return self._run(stepper, count, 1, dt)
        if at.n % save_every or count < save_every:
            count = min(count, save_every - at.n % save_every)
            return self._run(stepper, count, count, dt)
        return self._run(stepper, count // save_every * save_every, save_every, dt)

    def _run(self, stepper: Stepper, count: int, every: int, dt: float) -> bool:
        """`count` steps of dt, of which the state after `every` so many is looked at; whether all were undisturbed."""
        at, policy, began = self.at, self.settings.policy, time.monotonic()
        done = np.minimum(np.arange(at.n, at.n + count, every) + every, at.n + count)
        times = policy.times(done)
        starts = policy.times(np.arange(at.n, at.n + count + 1))
        rows = stepper.steps(starts[:-1], at.state, dt, every)
        good = len(done)
        for switch in self.settings.switches:
            if good:
                good = switch.undisturbed(self, stepper, times[:good], rows.first(good), dt)
        if good < len(done) and every > 1:
            return self._run(stepper, count, 1, dt)
        saved = np.flatnonzero((done[:good] % self.settings.save_every == 0) | (times[:good] >= policy.duration))
        if self.settings.notes is not None:
            ends = starts if every == 1 else np.concatenate([starts[:1], times])
            self.settings.notes.many(self.recorder.count, saved, stepper, ends, at.state, rows)
        z = stepper.recorded_rows(rows.memory, saved)
        self.recorder.extend(times[saved], rows.q[saved], rows.v[saved], z)
        if good:
            n, t, new = int(done[good - 1]), float(times[good - 1]), rows.state(good - 1)
            if self.settings.notes is not None:
                old = at.state if good == 1 else rows.state(good - 2)
                self._last = Step(stepper, t - every * dt, t, old, new, dt)
            at.n, at.t, at.state = n, t, new
        is_slow = time.monotonic() - began > PATIENCE
        self._length = max(1, self._length // 2) if is_slow else min(LONGEST, 2 * self._length)
        if good < len(done):
            self._length = min(self._length, SHORTEST)
        return good == len(done)

    # one step

    def _take_one(self) -> None:
        """One step, or the part of it up to where a switch acts."""
        switches = self.settings.switches
        for switch in switches:
            switch.settle(self)
        if self.settings.notes is not None and self.at.n == 0 and self.recorder.count == 1:
            self.settings.notes.settled(self.at.t, self.at.state)
        step, crossings = self._step(), list[Crossing]()
        for switch in switches:
            own = switch.crossings(self, step)
            if own is None:
                self._interrupt()
                return
            crossings += own
        for crossing in sorted(crossings):
            self._save_within(step, step.time(crossing.theta))
            if crossing.switch.act(self, step, crossing):
                return
        self._accept(step)

    def _step(self) -> Step:
        """A step from here, as long as it may be, with its end corrected by the switches."""
        at, stepper = self.at, self._stepper()
        try:
            new, h, end = self.settings.policy.take(stepper, at.n, at.t, at.state, self.is_between)
            step = Step(stepper, at.t, end, at.state, new, h)
            for switch in self.settings.switches:
                step = replace(step, new=switch.adjust(self, step))
        except StalledError:
            raise
        except ConvergenceError as error:
            self.end("diverged", f"at t = {at.t:.9g} s: {error}")
        self._last = step
        return step

    def _stepper(self) -> Stepper:
        """What takes the steps in the present modes."""
        stepper = self.settings.stepper
        for switch in self.settings.switches:
            stepper = switch.stepper(stepper)
        return stepper

    def _accept(self, step: Step) -> None:
        """The step is done."""
        at, settings = self.at, self.settings
        self._save_within(step, step.end)
        at.n, at.t, at.state, self.interruptions = at.n + 1, step.end, step.new, 0
        for switch in settings.switches:
            switch.accept(step)
        is_free = step.stepper is settings.stepper
        if at.state.memory and not settings.policy.keeps_memory(step.h, is_free) and not self.is_done:
            self.restart(step.new.q, step.new.v)
        self._save_step()
        settings.policy.accept(at.n, at.t)

    def _interrupt(self) -> None:
        self.interruptions += 1
        if self.interruptions > MOST_INTERRUPTIONS:
            self.stall(f"the step was interrupted {MOST_INTERRUPTIONS} times by stops and events")

    # rows

    def _save_step(self) -> None:
        """The state after a step, if it is to be a row."""
        at, settings = self.at, self.settings
        if settings.policy.saves_steps and at.n % settings.save_every == 0:
            self._save(at.t, at.state.q, at.state.v)

    def _save_within(self, step: Step, end: float) -> None:
        """The rows between steps that lie in this one, up to `end`."""
        at, policy = self.at, self.settings.policy
        while (t := policy.row_time(at.rows + 1)) <= end:
            at.rows += 1
            if at.rows % self.settings.save_every == 0:
                self._save(t, *step.state((t - step.t) / step.h))

    def _save(self, t: float, q: Array, v: Array) -> None:
        """A row, and what pushes there."""
        if self.settings.notes is not None:
            step = self._last if self._last is not None and self._last.t < t <= self._last.end else None
            self.settings.notes.one(self.recorder.count, t, q, v, self.at.state, step)
        self.recorder.add(t, q, v, self._states_at(t))

    def _states_at(self, t: float) -> Array:
        """The states of muscles, and what a sampled controller holds, within the last step or at the present time."""
        stepper, step = self.settings.stepper, self._last
        if step is None or not step.t < t < step.end:
            return stepper.recorded(step.new if step is not None and t == step.end != self.at.t else self.at.state)
        if stepper.muscles is None:
            return stepper.recorded(step.old if stepper.sampled is not None else self.at.state)
        within = step.stepper.step(step.t, step.old, t - step.t)
        return np.concatenate([stepper.states(within), stepper.control_row(step.old)])

    # what switches may do

    def begin(self, t: float, q: Array, v: Array) -> State:
        return self._begin(t, q, v, (self.at.t, self.at.state))

    def _begin(self, t: float, q: Array, v: Array, since: tuple[float, State]) -> State:
        rest = self.settings.policy.last_time(self.at.n) - t
        return self.settings.begin(self._stepper(), t, q, v, rest, since)

    def record(self, name: str, kind: str, q: Array, v: Array, v_before: Array, t: float | None = None) -> None:
        self.events.append(EventRecord(self.at.t if t is None else t, name, kind, q.copy(), v.copy(), v_before.copy()))

    def restart(self, q: Array, v: Array) -> None:
        self.at.state = self.begin(self.at.t, q, v)

    def continue_from(self, t: float, q: Array, v: Array) -> None:
        self._interrupt()
        at, end = self.at, self.settings.policy.last_time(self.at.n)
        is_over = end - t <= 4 * math.ulp(end)  # no more than rounding is left of it
        since = at.t, at.state
        at.n, at.t = (at.n + 1, end) if is_over else (at.n, t)
        at.state = self._begin(at.t, q, v, since)
        if is_over:
            self._save_step()
        for switch in self.settings.switches:
            switch.restarted(self)

    def jump(self, before: tuple[Array, Array], after: tuple[Array, Array]) -> None:
        if self.recorder.last_time < self.at.t:
            self._save(self.at.t, *before)
        self.replace_state(*after)
        for switch in self.settings.switches:
            switch.jumped(self, before[1])

    def replace_state(self, q: Array, v: Array) -> None:
        self._save(self.at.t, q, v)
        self.restart(q, v)

    def end(self, reason: str, message: str, at: tuple[float, Array, Array] | None = None) -> NoReturn:
        if at is not None:
            z, since, stepper = self._states_at(at[0]), (self.at.t, self.at.state), self.settings.stepper
            self.at.t, self.at.state = at[0], State(*at[1:])
            if len(z):
                z = z if stepper.muscles is None else z[: stepper.muscles.count]
                self.at.state = stepper.with_states(stepper.start(*at, 1.0, since=since), z)
        raise EndOfRun(reason, message)

    def stall(self, why: str) -> NoReturn:
        at = self.at
        self.end("stalled", f"at t = {at.t:.9g} s: {why}{singularity(self.settings.model, at.t, at.state.q)}")
