"""How long the steps of a simulation are: all of one length, or each as long as its error allows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from knuckle.integrators.base import Adaptive, State

from .step_size import StalledError, StepSize, advance, first_step_size
from .stepper import Stepper

Array = NDArray[Any]

MANY, MOST = 100_000, 1e12
"""After so many adaptive steps their progress is checked; a run that would take so many of them has stalled."""


class Taken(NamedTuple):
    """A step that was taken: the state at its end, its length, and the time of its end."""

    new: State
    h: float
    end: float


class StepPolicy(ABC):
    """How a simulation of some duration chooses its steps. They are counted from 0; step n may be cut by a switch."""

    saves_steps = True
    """Whether rows are states after steps; else they are states at the times `row_time`"""

    def __init__(self, duration: float) -> None:
        self.duration = duration

    def begin(self, stepper: Stepper, t: float, state: State) -> None:  # noqa: B027
        """The simulation stands at its first state."""

    @property
    def memory(self) -> Any:
        """What a checkpoint has to hold, as JSON."""
        return None

    def restore(self, memory: Any) -> None:  # noqa: B027
        """Goes on from the `memory` of a checkpoint."""

    def many(self, n: int, t: float) -> tuple[int, float]:
        """How many steps of one length may follow at most from the beginning of step n, and that length."""
        return 0, 0.0

    def times(self, n: Array) -> Array:
        """When steps begin, if many may follow."""
        raise NotImplementedError

    @abstractmethod
    def take(self, stepper: Stepper, n: int, t: float, state: State, is_within: bool) -> Taken:
        """Step n from t, or the rest of it, if t `is_within` it."""

    @abstractmethod
    def last_time(self, n: int) -> float:
        """The latest end of step n."""

    def row_time(self, k: int) -> float:
        """The time of row k, if rows are saved between steps; infinite, if there is none."""
        return math.inf

    def is_between(self, n: int, t: float) -> bool:
        """Whether t lies within step n."""
        return False

    def keeps_memory(self, h: float, is_free: bool) -> bool:
        """Whether an integrator's memory holds after a step of length h, `is_free` of the forces of switches."""
        return True

    def accept(self, n: int, t: float) -> None:  # noqa: B027
        """A step has ended, and n of them are done at t."""


class FixedSteps(StepPolicy):
    """Steps of dt; the last is shorter where the duration is no multiple of it."""

    def __init__(self, duration: float, dt: float) -> None:
        super().__init__(duration)
        self.dt = dt

    @cached_property
    def steps(self) -> int:
        """How many steps there are."""
        return steps_of(self.duration, self.dt)

    @cached_property
    def even_steps(self) -> int:
        """How many of them are not shorter."""
        return self.steps if self.steps * self.dt <= self.duration * (1 + 1e-12) else self.steps - 1

    def time(self, n: int) -> float:
        """When step n begins: n dt, and the end at last."""
        return self.duration if n >= self.steps else int(n) * self.dt

    def many(self, n: int, t: float) -> tuple[int, float]:
        return (self.even_steps - n, self.dt) if n < self.even_steps else (1, self.duration - t)

    def times(self, n: Array) -> Array:
        return np.where(n < self.steps, n * self.dt, self.duration)

    def take(self, stepper: Stepper, n: int, t: float, state: State, is_within: bool) -> Taken:
        end = self.time(n + 1)
        h = self.dt if n < self.even_steps and not is_within else end - t
        return Taken(stepper.step_as_of_many(t, state, h), h, end)

    def last_time(self, n: int) -> float:
        return self.time(n + 1)

    def is_between(self, n: int, t: float) -> bool:
        return t != self.time(n)

    def keeps_memory(self, h: float, is_free: bool) -> bool:
        return is_free and h == self.dt


class AdaptiveSteps(StepPolicy):
    """Steps as long as the integrator's tolerances allow. With a dt, rows are saved at its multiples."""

    def __init__(self, duration: float, dt: float | None) -> None:
        super().__init__(duration)
        self.saves_steps, self._interval = dt is None, dt or 0.0
        self._rows = 0 if dt is None else steps_of(duration, dt)
        self._size = self._next = StepSize(math.nan)
        self._milestone = -math.inf

    def begin(self, stepper: Stepper, t: float, state: State) -> None:
        self._size = first_step_size(stepper, t, state)

    @property
    def memory(self) -> Any:
        return self._size

    def restore(self, memory: Any) -> None:
        self._size = StepSize(*memory)

    def take(self, stepper: Stepper, n: int, t: float, state: State, is_within: bool) -> Taken:
        new, h, self._next = advance(stepper, t, state, self._size, self.duration)
        return Taken(new, h, t + h if t + h < self.duration else self.duration)

    def last_time(self, n: int) -> float:
        return self.duration

    def row_time(self, k: int) -> float:
        return k * self._interval if k < self._rows else math.inf

    def accept(self, n: int, t: float) -> None:
        """An error if steps have become so short that the simulation would never end."""
        self._size = self._next
        if n % MANY == 0:
            way = t - self._milestone
            if way * MOST < MANY * self.duration:
                raise StalledError(f"the last {MANY} steps took {way:.3g} s of {self.duration:.6g} s together")
            self._milestone = t


def step_policy(stepper: Stepper, duration: float, dt: float | None) -> StepPolicy:
    """What chooses the steps of an integrator."""
    if isinstance(stepper.integrator, Adaptive):
        return AdaptiveSteps(duration, dt)
    assert dt is not None
    return FixedSteps(duration, dt)


def steps_of(duration: float, dt: float) -> int:
    """The number of steps of dt to `duration`. What is left over by rounding is no step."""
    return max(1, math.ceil(duration / dt * (1 - 1e-12)))
