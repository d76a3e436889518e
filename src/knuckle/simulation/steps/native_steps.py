"""Many steps of one trajectory in one native call, and what a controller says along a trajectory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.calls.numpy_arrays import Lanes
from knuckle.engine.calls.trajectory_batches import Input, through_time
from knuckle.engine.kernels.specialization import Specialization
from knuckle.integrators.base import State
from knuckle.model import Model
from knuckle.simulation.controls import Constant, Control, Parameters
from knuckle.trajectory.trajectory import depends_on_time

from .stepper import Stepper

Array = NDArray[Any]


class Rows(NamedTuple):
    """States one after the other: q, v and what the integrator remembers, of which some may be numbers."""

    q: Array
    v: Array
    memory: tuple[Array, ...]
    numbers: tuple[bool, ...]

    def state(self, k: int) -> State:
        """One of them."""
        memory = zip(self.memory, self.numbers, strict=True)
        return State(self.q[k].copy(), self.v[k].copy(), tuple(float(x[k, 0]) if n else x[k].copy() for x, n in memory))


class Chunks:
    """Runs of steps of a compiled stepper, to the last bit those that it does one by one."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self._specializations: dict[int, Specialization] = {}

    def run(self, times: Array, state: State, dt: float, every: int) -> Rows:
        """The steps that begin at `times`, and the states after every so many of them and after the last."""
        specialization = self._specialization(state)
        parts = {"q": state.q, "v": state.v} | {f"memory{k}": np.atleast_1d(x) for k, x in enumerate(state.memory)}
        parameters = {name: np.atleast_1d(x) for name, x in self._stepper.parameters.items()}
        clock = times if len(times) > 1 else np.repeat(times, 2)  # one step is done by the code for several
        inputs = {"t": Input(clock[:, None], (1,)), "dt": Input(np.full((1, 1), dt), (1,))}
        inputs |= {name: Input(x[None], x.shape) for name, x in parameters.items()}
        rows = 1 - (-len(times) // every)  # the first state, every so many, and the last
        kept = [np.empty((rows, part.size)) for part in parts.values()]
        through_time(specialization, parts, inputs, (), steps=len(times), keep=every, kept=kept)
        q, v, *memory = kept
        numbers = tuple(not np.ndim(x) for x in state.memory)
        return Rows(q[1:], v[1:], tuple(x[1:] for x in memory), numbers)

    def _specialization(self, state: State) -> Specialization:
        size = len(state.memory)
        if size not in self._specializations:
            text = self._stepper.text("step", size)
            single = tuple(name for name, shape in self._stepper.shapes(state).items() if not shape)
            self._specializations[size] = Specialization(
                f"steps of {type(text.integrator).__name__}", text, self._stepper.model, numbers=single, is_users=True
            )
        return self._specializations[size]


@dataclass(frozen=True)
class Along:
    """What a control says in a state, as a text (model, t, q, v, parameters …) → array of `shape`."""

    control: Control
    shape: tuple[int, ...]

    def __call__(self, model: Model, t: Any, q: Any, v: Any, **parameters: Any) -> Any:
        return self.control(model.at(t) if depends_on_time(model) else model, t, q, v, parameters, self.shape)


def forces_along(model: Model, control: Control, parameters: Parameters, times: Array, q: Array, v: Array) -> Array:
    """τ of a controller (n, nv) in every row of a trajectory: at once for a kernel, row by row for a function."""
    shape = (model.nv,)
    if control.function is None:
        return np.zeros((len(times), model.nv))
    if isinstance(control.function, Constant):
        return np.broadcast_to(parameters[control.function.name], (len(times), model.nv)).copy()
    text = Along(control, shape)
    if not control.is_text:
        return np.array([text(model, float(t), x, y, **parameters) for t, x, y in zip(times, q, v, strict=True)])
    single = ("t", *(name for name in control.parameters if not np.ndim(parameters[name])))
    name = f"{getattr(control.function, '__name__', 'controller')} along a trajectory"
    specialization = Specialization(name, text, model, numbers=single, is_users=True)
    arrays = {"t": (times[:, None], (1,)), "q": (q, (model.nq,)), "v": (v, (model.nv,))}
    for name in control.parameters:
        value = np.atleast_1d(parameters[name])
        arrays[name] = value, value.shape
    return np.asarray(Lanes().compute(specialization, arrays))
