"""What a simulation has to do, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from knuckle.integrators.base import State
from knuckle.model import Model

from .mode_switch import ModeSwitch
from .row_notes import RowNotes
from .steps.step_policy import StepPolicy
from .steps.stepper import Stepper

Array = NDArray[Any]


@dataclass(frozen=True)
class RunSettings:
    """A mechanism, what takes its steps, how long they are, how many of them make a row, and what interrupts them.

    `notes` are of its contacts or deformable bodies, where it has some. Switches are called in this order. The policy,
    the switches and the notes have a state of their own: settings are for one run.
    """

    model: Model
    stepper: Stepper
    policy: StepPolicy
    save_every: int
    switches: tuple[ModeSwitch, ...] = ()
    notes: RowNotes | None = None

    @property
    def duration(self) -> float:
        return self.policy.duration

    def begin(
        self,
        stepper: Stepper,
        t: float,
        q: Array,
        v: Array,
        dt: float,
        since: tuple[float, State] | None = None,
        states: Array | None = None,
    ) -> State:
        """A state to step from, in the modes that the switches choose for it; `since` is where the motion came from.

        `states` are those of muscles, where they are known.
        """
        state = stepper.start(t, q, v, dt, since=since)
        state = state if states is None else stepper.with_states(state, states)
        state = state if since is None else stepper.carried(*since, t, state)
        for switch in self.switches:
            state = switch.start(t, state)
        return state


@dataclass
class RunState:
    """Where a simulation is. With the `memory` of its policy and switches it goes on to the last bit from here."""

    n: int
    """Steps that are done"""
    t: float
    state: State
    rows: int = 0
    """Rows between steps that are done"""
    memory: Mapping[str, Any] | None = None
    """What the policy and the switches need, in a checkpoint"""
