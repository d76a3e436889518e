"""What may interrupt a step: the interface of events, joint stops, stick and slip, divergence, and later of contact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn, Protocol

from numpy.typing import NDArray

from knuckle.integrators.base import DenseOutput, State

from .steps.native_steps import StateRows
from .steps.stepper import Stepper

Array = NDArray[Any]


class EndOfRun(Exception):  # noqa: N818
    """The simulation ends before its time."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


@dataclass(frozen=True)
class Step:
    """A step that was taken: from `old` at t to `new` at `end`, which is t + h but for rounding."""

    stepper: Stepper
    t: float
    end: float
    old: State
    new: State
    h: float

    @cached_property
    def dense(self) -> DenseOutput:
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

    def acting(self, theta: float) -> State:
        """The state that it began with, but its muscles in the states that they have within the step."""
        if self.stepper.muscles is None or theta == 0.0:
            return self.old
        there = self.new if theta == 1.0 else self.stepper.step(self.t, self.old, theta * self.h)
        return self.stepper.with_states(self.old, self.stepper.states(there))


@dataclass(frozen=True, order=True)
class Crossing:
    """A function of the state changes its sign at t + θ h of a step.

    Of crossings at one instant those of the lowest rank come first: `LOOKS` only sees the state, `ACTS` may change it,
    `ENDS` ends the simulation, `SWITCHES` changes the forces from there on.
    """

    theta: float
    rank: int
    kind: str
    index: int
    switch: ModeSwitch = field(compare=False)


LOOKS, ACTS, ENDS, SWITCHES = range(4)


class Run(Protocol):
    """A simulation as its switches see it, and what they may do to it."""

    @property
    def t(self) -> float: ...
    @property
    def state(self) -> State: ...
    @property
    def stepper(self) -> Stepper:
        """What takes the steps in the present modes"""
        ...

    @property
    def interruptions(self) -> int:
        """How often the present step was interrupted"""
        ...

    def begin(self, t: float, q: Array, v: Array) -> State:
        """A state to step from, in the modes that all switches choose for it."""
        ...

    def record(self, name: str, kind: str, q: Array, v: Array, v_before: Array, t: float | None = None) -> None:
        """Adds an event to the trajectory."""
        ...

    def restart(self, q: Array, v: Array) -> None:
        """Lets the integrator begin anew from here, in modes that all switches choose."""
        ...

    def continue_from(self, t: float, q: Array, v: Array) -> None:
        """Cuts the step short: the motion goes on from a state within it."""
        ...

    def jump(self, before: tuple[Array, Array], after: tuple[Array, Array]) -> None:
        """Changes the state in no time, as an impulse does: both are rows, and all switches see the jump."""
        ...

    def replace_state(self, q: Array, v: Array) -> None:
        """Changes the state in no time; only the new one is a row."""
        ...

    def end(self, reason: str, message: str, at: tuple[float, Array, Array] | None = None) -> NoReturn:
        """Ends the simulation here, or at a time and state within the step."""
        ...

    def stall(self, why: str) -> NoReturn:
        """Ends the simulation because time does not advance."""
        ...


class ModeSwitch:
    """What may interrupt a step. Every method has a default that does nothing; a switch has those that it needs.

    A step goes so: `settle` may change the state at an instant (impacts) and choose modes; `stepper` gives the text of
    the step in these modes; `adjust` may correct the state at its end; `crossings` states where in the step something
    happens, or rejects the step, after which it is taken again; `act` is called for crossings in the order of time
    until one of them lets the motion go on from there. Crossings that coincide are seen again at the beginning of the
    step that follows, where `settle` treats all that touches or rests at that instant together. `accept` ends a step
    in which nothing cut it short. Many steps run in one native call where all switches allow it, and `undisturbed`
    counts the states of such a run before one that needs a closer look.
    """

    watches_every_state = True
    """Whether `undisturbed` has to see the state after every step, not only after those that are saved"""

    def begin(self, run: Run) -> None:
        """The simulation stands at its first state, or at that of a checkpoint."""

    @property
    def memory(self) -> Any:
        """What a checkpoint has to hold, as JSON."""
        return None

    def restore(self, memory: Any) -> None:
        """Goes on from the `memory` of a checkpoint."""

    def start(self, t: float, state: State) -> State:
        """A state that the integrator begins with, in the modes that this switch chooses."""
        return state

    def allows_many(self, state: State) -> bool:
        """Whether many steps may follow from here without a look between them."""
        return True

    def undisturbed(self, run: Run, stepper: Stepper, times: Array, rows: StateRows, dt: float) -> int:
        """How many of the states at `times` come before one that needs a step of its own."""
        return len(times)

    def settle(self, run: Run) -> None:
        """Before a step: impacts at this instant, and the modes from here on."""

    def stepper(self, stepper: Stepper) -> Stepper:
        """What takes the steps in the present modes, made of what takes them without this switch."""
        return stepper

    def adjust(self, run: Run, step: Step) -> State:
        """The state at the end of a step, corrected."""
        return step.new

    def crossings(self, run: Run, step: Step) -> Sequence[Crossing] | None:
        """Where in a step something happens; None rejects the step."""
        return ()

    def act(self, run: Run, step: Step, crossing: Crossing) -> bool:
        """Acts at a crossing. Whether the motion goes on from there."""
        return False

    def restarted(self, run: Run) -> None:
        """The motion goes on from within a step."""

    def jumped(self, run: Run, v_before: Array) -> None:
        """The state has changed in no time."""

    def accept(self, step: Step) -> None:
        """The step is over."""
        self.forget()

    def forget(self) -> None:
        """Forgets what belongs to the step under way only."""
