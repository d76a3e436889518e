"""Many steps of one trajectory in one native call."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.calls.trajectory_batches import Input, through_time
from knuckle.engine.kernels.specialization import Specialization
from knuckle.integrators.base import State
from knuckle.model import Model

from .step_text import StepText

Array = NDArray[Any]


class StateRows(NamedTuple):
    """States one after the other: q, v and the integrator's memory, some entries of which are numbers."""

    q: Array
    v: Array
    memory: tuple[Array, ...]
    numbers: tuple[bool, ...]
    before: tuple[Array, Array]
    """q and v of the states one before"""

    def state(self, k: int) -> State:
        """One of them."""
        memory = zip(self.memory, self.numbers, strict=True)
        return State(self.q[k].copy(), self.v[k].copy(), tuple(float(x[k, 0]) if n else x[k].copy() for x, n in memory))

    def first(self, count: int) -> StateRows:
        """The first `count` of them."""
        q, v = (x[:count] for x in self.before)
        return StateRows(self.q[:count], self.v[:count], tuple(x[:count] for x in self.memory), self.numbers, (q, v))


class NativeSteps:
    """Runs of steps of a compiled text, to the last bit those that it takes one by one."""

    most = sys.maxsize
    """Steps in one call at most."""

    def __init__(self, text: StepText, model: Model, parameters: Mapping[str, Array]) -> None:
        self._text, self._model = text, model
        self._parameters = {name: np.asarray(x, float) for name, x in parameters.items()}
        self._specializations: dict[int, Specialization] = {}

    def run(self, times: Array, state: State, dt: float, every: int) -> StateRows:
        """The steps that begin at `times`, and the states after every so many of them and after the last."""
        parts = {"q": state.q, "v": state.v} | {f"memory{k}": np.atleast_1d(x) for k, x in enumerate(state.memory)}
        clock = times if len(times) > 1 else np.repeat(times, 2)  # one step is done by the code for several
        inputs = {"t": Input(clock[:, None], (1,)), "dt": Input(np.full((1, 1), dt), (1,))}
        inputs |= {name: Input(np.atleast_1d(x)[None], np.atleast_1d(x).shape) for name, x in self._parameters.items()}
        rows = 1 - (-len(times) // every)  # the first state, every so many, and the last
        saved = [np.empty((rows, part.size)) for part in parts.values()]
        through_time(self._specialization(state), parts, inputs, (), steps=len(times), save_every=every, kept=saved)
        q, v, *memory = (x[1:] for x in saved)
        before = saved[0][:-1], saved[1][:-1]
        return StateRows(q, v, tuple(memory), tuple(not np.ndim(x) for x in state.memory), before)

    def _specialization(self, state: State) -> Specialization:
        size = len(state.memory)
        if size not in self._specializations:
            single = ["t", "dt", *(name for name, x in self._parameters.items() if not np.ndim(x))]
            single += [f"memory{k}" for k, x in enumerate(state.memory) if not np.ndim(x)]
            name = f"steps of {type(self._text.integrator).__name__}"
            text = replace(self._text, memory=size)
            self._specializations[size] = Specialization(name, text, self._model, numbers=tuple(single), is_users=True)
        return self._specializations[size]
