"""The arguments of a rollout as what its steps take: arrays with batch axes, an axis for the steps, and their own."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.calls.arguments import with_shape
from knuckle.engine.calls.choose_container import unpacked
from knuckle.engine.calls.numpy_arrays import NumPyArrays, numbers
from knuckle.engine.calls.trajectory_batches import Clock, Input
from knuckle.engine.calls.words.batch_or_matrix import warn_if_square
from knuckle.integrators.starting_state import DEFAULT_DURATION, start_of
from knuckle.model import Model
from knuckle.simulation.controls import CONTROLS, MUSCLES, STATE, Control, control_of
from knuckle.simulation.muscle_inputs import EXCITED, FIRST_ACTIVATIONS, FIRST_DRIVEN, FIRST_FIBERS
from knuckle.simulation.sampled_control import FIRST_STATE
from knuckle.simulation.steps.step_text import APPLIED

Array: TypeAlias = NDArray[Any]
Shape: TypeAlias = tuple[int, ...]

MUSCLE_TITLES = {
    CONTROLS: "controls",
    EXCITED: "excitations",
    FIRST_ACTIVATIONS: "activations0",
    FIRST_FIBERS: "fiber_lengths0",
    FIRST_DRIVEN: "actuator_states0",
    FIRST_STATE: "state of the controller",
}
"""What arguments of steps are called in errors."""

BESIDES = {"excitations": MUSCLES, "loss": ("tau",)}
"""What functions receive besides time, position and velocity."""


@dataclass(frozen=True)
class Inputs:
    """The state to begin with and everything else, in one precision, with the batch axes that they have together.

    `single` names what is a number; numbers travel as vectors of one.
    """

    state: Mapping[str, Array]
    others: Mapping[str, Input | Clock]
    single: tuple[str, ...]
    batch: Shape


def inputs_of(
    model: Model,
    q0: ArrayLike | None,
    v0: ArrayLike | None,
    tau: ArrayLike | None,
    t0: float,
    dt: float,
    steps: int,
    parameters: Mapping[str, ArrayLike],
    time_varying: Collection[str],
    muscles: Mapping[str, tuple[ArrayLike | None, int]] | None = None,
    matrices: Collection[str] = (),
) -> Inputs:
    """Everything that the steps take. `muscles` are excitations over time and first states, with their sizes.

    `matrices` names the parameters that are matrices.
    """
    q, v = start_of(model, q0, v0)
    state = {"q0": numbers("q0", unpacked(q), (model.nq,)), "v0": numbers("v0", unpacked(v), (model.nv,))}
    others = {"dt": Input(np.full((1, 1), dt), (1,))}
    weak, single = {"dt"} | {name for name, x in (("q0", q0), ("v0", v0)) if x is None}, ["t", "dt"]
    if tau is not None:
        others[APPLIED] = Input(_over_time("tau", numbers("tau", unpacked(tau), (model.nv,)), steps), (model.nv,))
    for name, (value, size) in (muscles or {}).items():
        if value is not None:
            title = MUSCLE_TITLES[name]
            array = numbers(title, unpacked(value), (size,))
            array = _over_time(title, array, steps) if name in (EXCITED, CONTROLS) else array[..., None, :]
            others[name] = Input(array, (size,))
    for name, value in parameters.items():
        others[name], is_number = _parameter(
            name, value, steps if name in time_varying else None, 2 if name in matrices else None
        )
        weak |= {name} if type(value) in (int, float) else set()
        single += [name] if is_number else []
    batches = {name: x.shape[:-1] for name, x in state.items()} | {name: x.batch for name, x in others.items()}
    vectors = {name: others[name].shape[0] for name in parameters if name not in (*single, *matrices, *time_varying)}
    warn_if_square("parameters", batches, vectors)
    dtype = NumPyArrays(frozenset(weak)).precision({**state, **{name: x.array for name, x in others.items()}})
    return Inputs(
        {name[0]: np.ascontiguousarray(x, dtype) for name, x in state.items()},
        {"t": Clock(t0, dt, dtype)}
        | {name: Input(np.ascontiguousarray(x.array, dtype), x.shape) for name, x in others.items()},
        tuple(single),
        _common(batches),
    )


def _over_time(name: str, array: Array, steps: int) -> Array:
    """A vector per step, (..., steps, n); a single vector, or an axis of length 1, is for all of them."""
    if array.ndim == 1:
        return array[np.newaxis]
    if array.shape[-2] not in (steps, 1):
        raise ValueError(
            f"{name} has shape {array.shape}: the axis before the last is time, and must have {steps} steps, or 1 for "
            f"what does not change. One vector per trajectory is {name}[..., None, :]"
        )
    return array


def _parameter(name: str, value: ArrayLike, steps: int | None, axes: int | None) -> tuple[Input, bool]:
    """A parameter, and whether it is a number. `steps` for one that has a value of its own at every step."""
    value, shape = with_shape(name, value, axes)
    is_number = not shape
    array = np.asarray(numbers(name, value, shape))[..., np.newaxis] if is_number else numbers(name, value, shape)
    shape = shape or (1,)
    if steps is None:
        return Input(np.expand_dims(array, array.ndim - len(shape)), shape), is_number
    if array.ndim <= len(shape) or array.shape[-1 - len(shape)] != steps:
        expected = ", ".join(["...", str(steps), *map(str, shape)])
        raise ValueError(f"the sequence {name} has shape {np.shape(array)}, and must have shape ({expected})")
    return Input(array, shape), False


def _common(batches: Mapping[str, Shape]) -> Shape:
    try:
        return np.broadcast_shapes(*batches.values())
    except ValueError:
        titles = {APPLIED: "tau", **MUSCLE_TITLES}
        listed = ", ".join(f"{titles.get(name, name)} {batch}" for name, batch in batches.items() if batch)
        raise ValueError(f"the batch axes of the arguments do not broadcast: {listed}") from None


def controls_of(
    functions: Mapping[str, Callable[..., Any] | None],
    parameters: Mapping[str, Any],
    time_varying: Collection[str],
    also_used: Collection[str] = (),
) -> dict[str, Control]:
    """What the functions ask for, by the names of their arguments; an error if somebody asks for what is not there."""
    names = dict.fromkeys(parameters, 0.0)
    controls: dict[str, Control] = {}
    for what, function in functions.items():
        if function is None:
            continue
        if not callable(function):
            raise TypeError(f"{what} must be a function, not {type(function).__name__}; constant forces go into tau")
        controls[what] = control_of(what, function, what, (), names, (*STATE, *BESIDES.get(what, ())))[0]
    if model_fn := controls.get("model_fn"):
        for name in model_fn.names:
            if name in STATE or name in time_varying:
                raise TypeError(f"model_fn asks for {name}, which changes with time: a mechanism stays what it is")
    used = {name for control in controls.values() for name in control.parameters} | {*also_used}
    if unused := [name for name in parameters if name not in used]:
        raise TypeError(f"parameters has {' and '.join(unused)}, which no function asks for")
    if unknown := [name for name in time_varying if name not in parameters]:
        raise TypeError(f"time_varying names {' and '.join(unknown)}, which parameters has not")
    return controls


def whole(name: str, value: Any, least: int) -> int:
    """A whole number, or an error that names the argument."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        raise ValueError(f"{name} is a whole number from {least}, not {value!r}")
    return number


def steps_of(steps: Any, duration: Any, dt: float) -> int:
    """How many steps, from their number or from a duration that is a whole number of them."""
    if steps is not None:
        if duration is not None:
            raise TypeError("rollout takes steps or duration, not both")
        return whole("steps", steps, 0)
    length = finite("duration", DEFAULT_DURATION if duration is None else duration)
    count = round(length / dt) if dt else -1
    if count < 0 or abs(count * dt - length) > 1e-9 * abs(length):
        raise ValueError(f"duration={length:g} s is no whole number of steps of dt={dt:g} s: give another, or steps=")
    return count


def finite(name: str, value: Any) -> float:
    """A finite number, or an error that names the argument."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name} is a finite number of seconds, not {value!r}")
    return number
