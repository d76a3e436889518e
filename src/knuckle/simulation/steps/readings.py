"""What is read off a mechanism after a step, by kernels: observations, rewards, whether it has fallen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.engine.trace.expression import Condition
from knuckle.functions.where import where
from knuckle.model import Model
from knuckle.simulation.controls import STATE, Control, Parameters, control_of

from .flat_step import CLOCK, ROW, FlatStep

BEFORE = "row before"
"""The argument for the state before a step."""
STATE_BEFORE = ("q_before", "v_before")
"""Arguments of readings that receive it."""


@dataclass(frozen=True)
class Readings:
    """A function (model, row, row before, what is held, clock, parameters …) → a tuple of numbers and vectors.

    `held` is the argument of steps for what they hold, and `held_name` what readings call it.
    """

    functions: tuple[Control, ...]
    held: str
    held_name: str
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("__name__", "__qualname__"):  # what a kernel is called by
            object.__setattr__(self, name, self.name)

    @property
    def name(self) -> str:
        return "readings"

    def __call__(self, model: Model, **values: Any) -> tuple[Any, ...]:
        row, before, clock, nq, n = values[ROW], values[BEFORE], values[CLOCK], model.nq, model.nq + model.nv
        t = clock[0] + row[-1] * clock[1]
        known = {**values, "t": t, "q": row[:nq], "v": row[nq:n], self.held_name: values[self.held]}
        known |= dict(zip(STATE_BEFORE, (before[:nq], before[nq:n]), strict=True))
        now = model.at_time(t) if model.depends_on_time else model
        return tuple(_read(control, now, known) for control in self.functions)


@dataclass(frozen=True)
class ReadSteps:
    """A function (model, row, what is held, clock, parameters …) → (row, readings …): steps, and what is read then."""

    steps: FlatStep
    readings: Readings

    def __post_init__(self) -> None:
        for name in ("__name__", "__qualname__"):
            object.__setattr__(self, name, self.name)

    @property
    def name(self) -> str:
        return f"{self.steps.name}, read"

    def __call__(self, model: Model, **values: Any) -> tuple[Any, ...]:
        new = self.steps(model, **values)
        return new, *self.readings(model, **{**values, ROW: new, BEFORE: values[ROW]})


def readings_of(
    functions: Mapping[str, Callable[..., Any]] | None, parameters: Mapping[str, Any], held: str, held_name: str
) -> tuple[Readings, Parameters]:
    """The readings of kernels by name, and their parameters; an error for what is no kernel."""
    if not isinstance(functions, Mapping | None):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"readings are kernels by name, {{'height': kernel}}, not a {type(functions).__name__}")
    found, own = list[Control](), dict[str, Any]()
    for name, function in (functions or {}).items():
        if not callable(function):
            raise TypeError(f"readings: {name} is a kernel {name}(model, …), not {function!r}")
        state = (*STATE, held_name, *STATE_BEFORE)
        control, used = control_of(f"reading {name!r},", function, name, (), parameters, state)
        if not control.is_text:
            raise TypeError(f"{control.title} is no kernel: write @kn.kernel before it")
        found.append(control)
        own |= used
    return Readings(tuple(found), held, held_name, tuple(functions or ())), own


def _read(control: Control, model: Model, known: Mapping[str, Any]) -> Any:
    assert control.function is not None
    result: Any = control.function(model, **{name: known[name] for name in control.names})
    if isinstance(result, (dict, tuple)) or result is None:
        raise TypeError(f"{control.title} returns a {type(result).__name__}, and must return a number or a vector")
    is_truth = isinstance(result, (bool, np.bool_, Condition)) or getattr(result, "dtype", None) == np.bool_
    return where(result, 1.0, 0.0) if is_truth else result
