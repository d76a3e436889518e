"""Stick and slip of joints with dry friction, as events of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.calls.function import kernel
from knuckle.integrators.base import State
from knuckle.integrators.system import HOLD
from knuckle.model import Model
from knuckle.simulation.events.crossings import Crossing, Step, opened
from knuckle.simulation.events.event import root
from knuckle.simulation.steps.stepper import Stepper
from knuckle.solvers.complementarity import boxed

from .dry_friction import friction_limits, friction_rows, held, modes_of, responses

Array: TypeAlias = NDArray[Any]
NOISE = 1e-13
"""Velocities below this part of the largest one (and of 1) are none: a joint that slides so slowly has not turned."""


class Sticking:
    """The joints with dry friction of a mechanism that a stepper moves: their modes, and when these change."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper, self._model = stepper, stepper.model
        self._rows = list(friction_rows(stepper.model))

    def modes(self, t: float, q: Array, v: Array, slipping: Mapping[int, float]) -> Array:
        """The modes of a state. Joints at rest stick if friction can hold all that stick together, else they slip.

        The friction x of the joints at rest solves a + A x = 0 where |x| < f, and opposes the acceleration where
        |x| = f. `slipping` are directions in which some begin to slide in any case.
        """
        modes = modes_of(self._model, v)
        resting = [i for i in self._rows if v[i] == 0]
        for i in resting:
            modes[i] = slipping.get(i, 0.0)
        free = [i for i in resting if i not in slipping]
        if not free:
            return modes
        sliding = replace(held(self._stepper.system, modes), sticking=np.zeros(len(v)))
        a, f = sliding.acceleration(t, q, v)[free], self.limits(t, q)[free]
        A = responses(self._model, t, q, np.eye(len(v))[free], np.zeros(len(v)))[:, free]
        x = boxed(A, a, -f, f)
        modes[free] = np.where(np.abs(x) < f, 0.0, -np.sign(x))
        return modes

    def crossings(self, step: Step) -> list[Crossing]:
        """Where in a step joints come to rest, and where those that stick are held against more than friction."""
        modes, found = step.old.memory[0], list[Crossing]()
        old, new = step.old.v, step.new.v
        slow = -NOISE * max(1.0, float(np.abs(new).max(initial=0.0)))
        for i in self._rows:
            if modes[i] and modes[i] * new[i] < slow:

                def speed(theta: float, i: int = i) -> float:
                    return float(modes[i] * step.state(theta)[1][i])

                start, end, value = (0.0, 1.0, float(modes[i] * old[i])) if modes[i] * old[i] > 0 else opened(speed)
                theta = root(speed, start, end, value, speed(end)) if value > 0 else 0.0
                found.append(Crossing(theta, 3, "stop", i))
        sticking = [i for i in self._rows if not modes[i]]
        return found + (self._slips(step, sticking) if sticking else [])

    def _slips(self, step: Step, sticking: list[int]) -> list[Crossing]:
        found: list[Crossing] = []
        spare = self.spare(step.end, step.new.q, step.new.v, step.old)
        for i in sticking:
            if spare[i] < 0:

                def left(theta: float, i: int = i) -> float:
                    return float(self.spare(step.time(theta), *step.state(theta), step.old)[i])

                first = left(0.0)
                theta = root(left, 0.0, 1.0, first, float(spare[i])) if first > 0 else 0.0
                found.append(Crossing(theta, 3, "slip", i))
        return found

    def spare(self, t: float, q: Array, v: Array, state: State) -> Array:
        """What is left of the friction that holds, in the modes of a state."""
        return self.limits(t, q) - np.abs(self.load(t, q, v, state))

    def load(self, t: float, q: Array, v: Array, state: State) -> Array:
        """The forces that joints are held against."""
        return HOLD * self._stepper.held(state).acceleration(t, q, v)

    def way(self, t: float, q: Array, v: Array, state: State, i: int) -> float:
        """The direction in which a joint that sticks would go."""
        return float(np.sign(self.load(t, q, v, state)[i]))

    def stopped(self, v: Array, i: int) -> Array:
        """A velocity with one joint at rest, and those that come to rest with it, as all joints of a loop may."""
        new = v.copy()
        slow = NOISE * max(1.0, float(np.abs(v).max(initial=0.0)))
        new[[k for k in self._rows if k == i or abs(v[k]) < slow]] = 0.0
        return new

    def still(self, v: Array, state: State) -> Array:
        """A velocity, exactly zero where joints stick in the modes of a state."""
        new = v.copy()
        new[[i for i in self._rows if state.memory[0][i] == 0]] = 0.0
        return new

    def limits(self, t: float, q: Array) -> Array:
        """The largest friction force at each velocity variable."""
        return _limits(self._model, t, q)


@kernel
def _limits(model: Model, t: Any, q: Any) -> Any:
    return friction_limits(model.at(t), q)
