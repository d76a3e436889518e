"""Methods of an integrator for one state after the other, as native code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.arrays.result_layout import Layout, Several
from knuckle.engine.calls.numpy_arrays import NumPyArrays
from knuckle.engine.calls.one_by_one import OneByOne
from knuckle.engine.kernels.specialization import Specialization
from knuckle.integrators.base import State
from knuckle.model import Model

from .native_steps import StateRows
from .step_text import LoadText, StepText

Array: TypeAlias = NDArray[Any]


def compiled(
    text: StepText, model: Model, parameters: Mapping[str, Array], state: State, forces: tuple[Array, ...]
) -> Callable[..., list[Any]]:
    """The text as native code, called with time, state, step, what the method takes besides, and the forces."""
    values = forces or tuple(parameters[name] for name in text.parameters)
    besides = {name: () if name == "size" else (model.nv,) for name in text.besides}
    sizes = {name: np.shape(x) for name, x in zip(text.parameters, values, strict=True)}
    memory = {f"memory{k}": np.shape(x) for k, x in enumerate(state.memory)}
    shapes = {"t": (), "q": (model.nq,), "v": (model.nv,), **memory, **besides, "dt": (), **sizes}
    single = tuple(name for name, shape in shapes.items() if not shape)
    specialization = Specialization(text.name, text, model, numbers=single, is_users=True)
    function = OneByOne(specialization, shapes)
    call = function.call
    constants = () if forces else tuple(np.atleast_1d(x) for x in values)
    n = len(besides)

    parts: list[tuple[int, int | slice]] = []

    def native(t: float, state: State, dt: float, *others: Any) -> list[Any]:
        arrays = map(_array, (t, state.q, state.v, *state.memory, *others[:n], dt))
        flat = call(*arrays, *others[n:], *constants)
        if not parts:
            parts.extend(_places(function.layout))
        return [flat[..., place] if kind else float(flat[place]) for kind, place in parts]

    return native


def loads(text: LoadText, model: Model, parameters: Mapping[str, Array], times: Array, rows: StateRows) -> Array:
    """The forces (n, nv) against which stops hold in states at `times`; 0 where nothing rests."""
    arrays: dict[str, Any] = {"t": (times[:, None], (1,)), "q": (rows.q, rows.q.shape[1:])}
    arrays |= {"v": (rows.v, rows.v.shape[1:])}
    arrays |= {f"memory{k}": (x, x.shape[1:]) for k, x in enumerate(rows.memory)}
    single = ["t", *(f"memory{k}" for k, is_one in enumerate(rows.numbers) if is_one)]
    for name in text.step.parameters:
        x = np.asarray(parameters[name], float)
        arrays[name] = np.atleast_1d(x), np.atleast_1d(x).shape
        single += [] if x.ndim else [name]
    kind = Specialization("forces of stops", text, model, numbers=tuple(single), is_users=True)
    return np.asarray(NumPyArrays(eager=True).compute(kind, arrays))


def _array(x: Any) -> Array:
    """An array as it is, a number as an array of one."""
    return x if isinstance(x, np.ndarray) else np.array([x], float)


def _places(layout: Layout) -> Iterator[tuple[int, int | slice]]:
    """The number of axes of each part of a result, and where in the flat array it is: a number, or a vector."""
    start = 0
    for part in layout.parts if isinstance(layout, Several) else (layout,):
        shape = getattr(part, "shape", ())
        yield len(shape), slice(start, start + part.size) if shape else start
        start += part.size
