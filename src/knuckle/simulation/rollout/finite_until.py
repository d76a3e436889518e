"""A step of a rollout that also returns the time until which its trajectory was finite."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from knuckle.integrators.base import Integrator
from knuckle.model import Model
from knuckle.scalar import absolute, less, select
from knuckle.simulation.steps.step_text import StepText
from knuckle.spatial import Vector

from .noting_step import NotingStep

UNTIL = "until"
"""The last part of the state: the time of the last finite state."""


@dataclass(frozen=True)
class Lasting:
    """A function (model, q, v, memory0, …, until, t, dt, parameters …) → (q', v', memory0', …, until').

    A position moves by its velocity, so that it stops being finite with it; and a sum is finite if all of it is.
    """

    step: StepText | NotingStep

    @property
    def integrator(self) -> Integrator:
        return self.step.integrator

    def __call__(self, model: Model, **values: Any) -> tuple[Any, ...]:
        until = values.pop(UNTIL)
        new = self.step(model, **values)
        total = sum(new[1], 0.0)
        return *new, Vector([select(less(absolute(total), math.inf), values["t"] + values["dt"], until)])
