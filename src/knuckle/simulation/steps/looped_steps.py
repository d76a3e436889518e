"""Many contact steps of one trajectory in one native call, where these are loops over numbers in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.native.threads import get_threads
from knuckle.engine.routines import Code, code_of
from knuckle.integrators.base import State
from knuckle.integrators.contact_loops.prepared_steps import PreparedSteps
from knuckle.integrators.methods.collider_steps import ColliderSteps
from knuckle.integrators.methods.contact_steps import WARNED, ContactSteps, smooth
from knuckle.model import Model
from knuckle.simulation.controls import CONTROLS
from knuckle.simulation.sampled_control import SampledControl

from .native_steps import StateRows
from .step_text import APPLIED, StepText

Array = NDArray[Any]

MEMORY = 32_000_000
"""Numbers that the rows of one call may have."""


@dataclass(frozen=True)
class AccelerationText:
    """The acceleration of a step without contacts and dry friction, for parameters in a row."""

    step: StepText
    shapes: tuple[tuple[str, tuple[int, ...]], ...]

    def __call__(self, model: Model, t: Any, q: Any, v: Any, parameters: Any) -> Any:
        values, at = dict[str, Any](), 0
        for name, shape in self.shapes:
            size = prod(shape)
            values[name] = parameters[at : at + size] if shape else parameters[at]
            at += size
        return smooth(self.step.system(model, values)).acceleration(t, q, v)


def _held_name(control: SampledControl) -> str:
    """What a sampled controller gives, as an argument of steps."""
    return CONTROLS if control.law.what == "controls" else APPLIED


class LoopedSteps:
    """Runs of steps of `ColliderSteps`, to the last bit those that it takes one by one."""

    def __init__(
        self, text: StepText, integrator: ColliderSteps, model: Model, parameters: Mapping[str, Array]
    ) -> None:
        self._text, self._integrator, self._model = text, integrator, model
        self._parameters = {name: np.asarray(x, float) for name, x in parameters.items()}

    @cached_property
    def most(self) -> int:
        """Steps in one call at most."""
        return max(1, MEMORY // (1 + len(self._integrator.room.outcome.impulses)))

    @cached_property
    def _acceleration(self) -> Code:
        shapes = tuple((name, x.shape) for name, x in self._parameters.items())
        shapes += () if self._text.sampled is None else ((_held_name(self._text.sampled), (self._text.sampled.size,)),)
        forces = replace(self._text, integrator=ContactSteps())  # so that any collider shares the code
        text, size = AccelerationText(forces, shapes), sum(prod(shape) for _, shape in shapes)
        specialization = Specialization("acceleration", text, self._model, numbers=("t",), is_users=True)
        return code_of(
            specialization, {"t": (), "q": (self._model.nq,), "v": (self._model.nv,), "parameters": (max(1, size),)}
        )

    def compile(self) -> None:
        """Makes the codes that steps need, for runs in several threads."""
        _ = self._acceleration, self._integrator.room

    def prepared(self, states: int, count: int) -> PreparedSteps:
        """So many steps of so many states that are called again and again."""
        held = 0 if self._text.sampled is None else self._text.sampled.size
        packed = np.concatenate([*(x.reshape(-1) for x in self._parameters.values()), np.zeros(held + 1)])
        room, threads = self._integrator.room, get_threads() if states > 1 else 1
        return PreparedSteps([room, *(room.another() for _ in range(threads - 1))], self._acceleration, packed, states,
                             count, WARNED)  # fmt: skip

    def run(
        self, times: Array, state: State, dt: float, every: int, parameters: Mapping[str, Array] | None = None
    ) -> StateRows:
        """The steps that begin at `times`, and the states after every so many of them and after the last.

        `parameters` are other ones of the same shapes.
        """
        sampled, own = self._text.sampled, state.memory[-1]
        held = np.zeros(0) if sampled is None else np.asarray(sampled.held(own), float)
        values = self._parameters if parameters is None else parameters
        packed = np.concatenate([*(x.reshape(-1) for x in values.values()), held, np.zeros(1)])
        clock = np.ascontiguousarray(times, float)
        plain = state if sampled is None else State(state.q, state.v, state.memory[:-1])
        rows = self._integrator.room.steps(self._acceleration, packed, clock, plain, dt, every, WARNED)
        count = len(rows.worst)
        parts = [x.reshape(count, -1) for x in (rows.q, rows.v, rows.impulses, rows.worst, rows.unsolved)]
        q, v = (np.concatenate([first[None], x[:-1]]) for first, x in zip((state.q, state.v), parts[:2], strict=True))
        if sampled is None:
            return StateRows(parts[0], parts[1], tuple(parts[2:]), (False, True, True), (q, v))
        done = np.minimum(every * np.arange(1, count + 1), len(times))
        later = np.stack([sampled.later(own, n * dt) for n in done])
        return StateRows(parts[0], parts[1], (*parts[2:], later), (False, True, True, False), (q, v))
