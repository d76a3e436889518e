"""Stick and slip of joints with dry friction, as a mode switch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.integrators.base import State
from knuckle.integrators.system import HOLD
from knuckle.simulation.crossings import reopening, root
from knuckle.simulation.mode_switch import SWITCHES, Crossing, ModeSwitch, Run, Step
from knuckle.simulation.steps.native_steps import StateRows
from knuckle.simulation.steps.stepper import Stepper
from knuckle.solvers.complementarity import boxed

from .dry_friction import friction_rows, largest_friction, modes_of, responses_in

Array: TypeAlias = NDArray[Any]
NOISE = 1e-13
"""Velocities below this part of the largest one (and of 1) are rounding: such a joint has not turned back."""
CHANGES = 100
"""Interruptions of one step after which joints begin to slide and to stick at the ends of steps only."""


class StickSlip(ModeSwitch):
    """The joints with dry friction of a mechanism. Their modes are the first entry of the integrator's memory."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper, self._model = stepper, stepper.model
        self._rows = list(friction_rows(stepper.model))
        self._directions: dict[int, float] = {}
        """Directions in which joints have just begun to slide, 0 for those that have to stick"""
        self._run: Run | None = None

    def begin(self, run: Run) -> None:
        self._run = run

    def _now(self) -> Stepper:
        """What takes the steps in the present modes, on the stops that joints rest on."""
        return self._stepper if self._run is None or not self._run.stepper.rests.any() else self._run.stepper

    def start(self, t: float, state: State) -> State:
        modes = self.modes(t, state, self._directions)
        return State(state.q, state.v, (modes, *state.memory[1:]))

    def undisturbed(self, run: Run, stepper: Stepper, times: Array, rows: StateRows, dt: float) -> int:
        same = np.all(rows.memory[0] == run.state.memory[0], axis=-1)
        return len(same) if same.all() else int(np.argmin(same))

    def adjust(self, run: Run, step: Step) -> State:
        """The modes stay what they are in a step, which ends where they change."""
        if run.interruptions >= CHANGES or not np.any(step.new.memory[0] != step.old.memory[0]):
            return step.new
        return step.stepper.slid(step.t, step.old, step.h)

    def crossings(self, run: Run, step: Step) -> Sequence[Crossing]:
        """Where in a step joints come to rest, and where those that stick are held against more than friction."""
        if run.interruptions >= CHANGES:
            return ()
        modes, crossings, rests = step.old.memory[0], list[Crossing](), step.stepper.rests
        old, new = step.old.v, step.new.v
        slow = -NOISE * max(1.0, float(np.abs(new).max(initial=0.0)))
        for i in self._rows:
            if modes[i] and modes[i] * new[i] < slow:

                def speed(theta: float, i: int = i) -> float:
                    return float(modes[i] * step.state(theta)[1][i])

                start, end, value = (0.0, 1.0, float(modes[i] * old[i])) if modes[i] * old[i] > 0 else reopening(speed)
                theta = root(speed, start, end, value, speed(end)) if value > 0 else 0.0
                crossings.append(Crossing(theta, SWITCHES, "stop", i, self))
        sticking = [i for i in self._rows if not modes[i] and not rests[i]]
        return crossings + (self._slips(step, sticking) if sticking else [])

    def _slips(self, step: Step, sticking: list[int]) -> list[Crossing]:
        crossings: list[Crossing] = []
        reserve = self._reserve(step.end, step.new.q, step.new.v, step.acting(1.0))
        for i in sticking:
            if reserve[i] < 0:

                def rest(theta: float, i: int = i) -> float:
                    return float(self._reserve(step.time(theta), *step.state(theta), step.acting(theta))[i])

                first = rest(0.0)
                theta = root(rest, 0.0, 1.0, first, float(reserve[i])) if first > 0 else 0.0
                crossings.append(Crossing(theta, SWITCHES, "slip", i, self))
        return crossings

    def act(self, run: Run, step: Step, crossing: Crossing) -> bool:
        t, (q, v), i = step.time(crossing.theta), step.state(crossing.theta), crossing.index
        if crossing.kind == "stop":
            v = self._stopped(v, i)
            self._directions.pop(i, None)
            if crossing.theta == 0:
                self._directions[i] = 0.0
        else:
            self._directions[i] = float(np.sign(self._load(t, q, v, step.acting(crossing.theta))[i]))
        run.continue_from(t, q, v)
        return True

    def forget(self) -> None:
        self._directions = {}

    def modes(self, t: float, state: State, directions: Mapping[int, float]) -> Array:
        """The modes of a state. Joints at rest stick if friction can hold all that stick together, else they slip.

        The friction x of the joints at rest solves a + A x = 0 where |x| < f, and opposes the acceleration where
        |x| = f. `directions` are those in which some joints begin to slide in any case.
        """
        q, v, (_, *memory) = state
        modes, stepper = modes_of(self._model, v), self._now()
        held = stepper.rests
        resting = [i for i in self._rows if v[i] == 0 and not held[i]]
        for i in resting:
            modes[i] = directions.get(i, 0.0)
        free = [i for i in resting if i not in directions]
        if not free:
            return modes
        system = stepper.acting(State(q, v, (modes, *memory)))
        sliding = system.under(system.force, held)
        a, f = sliding.acceleration(t, q, v)[free], largest_friction(self._model, t, q)[free]
        A = responses_in(system, t, q, np.eye(len(v))[free], held)[:, free]
        x = boxed(A, a, -f, f)
        modes[free] = np.where(np.abs(x) < f, 0.0, -np.sign(x))
        return modes

    def _reserve(self, t: float, q: Array, v: Array, state: State) -> Array:
        """The friction force that is left to hold joints in the modes of a state."""
        return largest_friction(self._model, t, q) - np.abs(self._load(t, q, v, state))

    def _load(self, t: float, q: Array, v: Array, state: State) -> Array:
        """The forces that joints are held against."""
        return HOLD * self._now().acting(state).acceleration(t, q, v)

    def _stopped(self, v: Array, i: int) -> Array:
        """A velocity with one joint at rest, and those that come to rest with it, as all joints of a loop may."""
        new = v.copy()
        slow = NOISE * max(1.0, float(np.abs(v).max(initial=0.0)))
        new[[k for k in self._rows if k == i or abs(v[k]) < slow]] = 0.0
        return new
