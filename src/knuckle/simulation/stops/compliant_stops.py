"""Compliant stops as part of the force: a controller together with the springs beyond the limits."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from knuckle.engine.calls.function import Function, kernel
from knuckle.model import Model
from knuckle.scalar import is_inside
from knuckle.simulation.controls import STATE, ComposedForce, Control

from .stop_spec import CompliantStops


def with_stops(control: Control, stops: CompliantStops) -> Control:
    """The control that adds the force of stops; it is compiled where the controller is."""
    names = dict.fromkeys((*STATE, *control.names))
    return Control(WithStops(control, stops), control.what, tuple(names), control.state)


@dataclass(frozen=True, eq=False)
class WithStops(ComposedForce):
    """(model, t, q, v, parameters …) → τ of a controller and of stops."""

    control: Control
    stops: CompliantStops

    def __post_init__(self) -> None:
        for name in ("__name__", "__qualname__"):  # what a kernel is called by
            object.__setattr__(self, name, f"{getattr(self.control.function, '__name__', 'nothing')} with stops")

    @property
    def is_text(self) -> bool:
        return self.control.is_text

    @property
    def matrices(self) -> frozenset[str]:
        return self.control.matrices

    @property
    def _key(self) -> tuple[Any, ...]:
        """What it is: numbers of joints by name are no part of a hash as they stand."""
        fields = (getattr(self.stops, x.name) for x in dataclasses.fields(self.stops))
        return self.control, *(tuple(sorted(x.items())) if isinstance(x, Mapping) else x for x in fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithStops) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def __signature__(self) -> inspect.Signature:
        names = dict.fromkeys(("model", *STATE, *self.control.names))
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def __call__(self, model: Model, t: Any, q: Any, v: Any, **parameters: Any) -> Any:
        tau = self.control(model, t, q, v, parameters, (model.nv,))
        if is_inside():
            return tau + self.stops.force(model, q, v)
        return tau + np.asarray(self._push(model, q, v))

    @cached_property
    def _push(self) -> Function[..., Any]:
        """The force of the stops alone, compiled."""
        stops = self.stops

        def push(model: Model, q: Any, v: Any) -> Any:
            return stops.force(model, q, v)

        return kernel(push)
