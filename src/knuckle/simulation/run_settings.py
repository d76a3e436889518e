"""What a simulation is to do, and where it stands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from knuckle.integrators.base import Adaptive, State
from knuckle.model import Model

from .events.event import Event
from .friction.stick_slip import Sticking
from .steps.step_size import Pace
from .steps.stepper import Stepper
from .stops.rigid_stops import Rigid


@dataclass(frozen=True)
class Plan:
    """What is to be done: from the beginning to `duration`, in steps of dt or, if that is None, as long as they may be.

    An adaptive integrator with a dt leaves rows at multiples of it.
    """

    model: Model
    stepper: Stepper
    duration: float
    dt: float | None
    keep: int
    events: tuple[Event, ...] = ()
    stops: Rigid | None = None
    sticking: Sticking | None = None

    @property
    def is_adaptive(self) -> bool:
        return isinstance(self.stepper.integrator, Adaptive)

    @property
    def step(self) -> float:
        """The length of a step, where there is one."""
        return self.dt or 0.0

    @cached_property
    def steps(self) -> int:
        """How many steps of dt there are; the last may be shorter."""
        return steps_of(self.duration, self.dt) if self.dt else 0

    @cached_property
    def even_steps(self) -> int:
        """How many of them are not shorter."""
        return self.steps if self.steps * self.step <= self.duration * (1 + 1e-12) else self.steps - 1

    def time(self, n: int) -> float:
        """When step n begins: n dt, and the end at last."""
        return self.duration if n >= self.steps else int(n) * self.step


def steps_of(duration: float, dt: float) -> int:
    """The number of steps of dt to `duration`. What is left over by rounding is no step."""
    return max(1, math.ceil(duration / dt * (1 - 1e-12)))


@dataclass
class Position:
    """Where a march is, completely: from here it goes on to the last bit as if it had not been stopped."""

    n: int
    """Steps, or accepted steps, that are done"""
    t: float
    state: State
    resting: tuple[int, ...] = ()
    pace: Pace | None = None
    rows: int = 0
    """Rows of the grid that are done"""
    pending: tuple[int, ...] = ()
    """Events that are at zero since the beginning"""


class End(Exception):  # noqa: N818
    """The march is over before its time."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason, self.message = reason, message
