"""Compliant stops as part of the force: a controller together with the springs beyond the limits."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from knuckle.engine.calls.function import Function, kernel
from knuckle.model import Model
from knuckle.simulation.controls import STATE, Control

from .stop_spec import CompliantStops


def with_stops(control: Control, stops: CompliantStops) -> Control:
    """The control that adds the force of stops; it is compiled where the controller is."""
    both = WithStops(control, stops)
    made = kernel(matrices=control.matrices)(both) if control.is_text else both
    return Control(made, control.what, (*STATE, *control.parameters))


@dataclass(frozen=True, eq=False)
class WithStops:
    """(model, t, q, v, parameters …) → τ of a controller and of stops."""

    control: Control
    stops: CompliantStops

    def __post_init__(self) -> None:
        for name in ("__name__", "__qualname__"):  # what a kernel is called by
            object.__setattr__(self, name, f"{getattr(self.control.function, '__name__', 'nothing')} with stops")

    @property
    def __signature__(self) -> inspect.Signature:
        names = "model", *STATE, *self.control.parameters
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def __call__(self, model: Model, t: Any, q: Any, v: Any, **parameters: Any) -> Any:
        tau = self.control(model, t, q, v, parameters, (model.nv,))
        if self.control.is_text:
            return tau + self.stops.force(model, q, v)
        return tau + np.asarray(self._push(model, q, v))

    @cached_property
    def _push(self) -> Function[..., Any]:
        """The force of the stops alone, compiled."""
        stops = self.stops

        def push(model: Model, q: Any, v: Any) -> Any:
            return stops.force(model, q, v)

        return kernel(push)
