"""A step of a rollout that also tells until when its trajectory was finite."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from knuckle.model import Model
from knuckle.scalar import absolute, less, select
from knuckle.spatial import Vector

from .rollout_step import Round

UNTIL = "until"
"""The last part of the state: the time of the last finite state."""


@dataclass(frozen=True)
class Lasting:
    """A function (model, q, v, memory0, …, until, t, dt, parameters …) → (q', v', memory0', …, until').

    A position moves by its velocity, so that it stops being finite with it; and a sum is finite if all of it is.
    """

    step: Round

    def __call__(self, model: Model, **given: Any) -> tuple[Any, ...]:
        until = given.pop(UNTIL)
        new = self.step(model, **given)
        total = sum(new[1], 0.0)
        return *new, Vector([select(less(absolute(total), math.inf), given["t"] + given["dt"], until)])
