"""A step of a rollout that tells more than the state: states of muscles, and what contacts are read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knuckle.integrators.base import Integrator
from knuckle.model import Model
from knuckle.simulation.steps.step_text import StepText

BEFORE_Q, BEFORE_V = "q before", "v before"
"""Parts of the state: where a step began, and how fast. No names that a controller could have."""


@dataclass(frozen=True)
class NotingStep:
    """A function (model, q, v, first …, q before, v before, …, t, dt, parameters …) → the same parts after a step.

    The entries of the memory called `first` come before the rest of it, so that they are kept with the state.
    """

    step: StepText
    first: tuple[str, ...]
    keeps_before: bool

    @property
    def integrator(self) -> Integrator:
        return self.step.integrator

    def __call__(self, model: Model, **values: Any) -> tuple[Any, ...]:
        before = {BEFORE_Q: values["q"], BEFORE_V: values["v"]} if self.keeps_before else {}
        for name in before:
            values.pop(name)
        new = self.step(model, **values)
        names = ("q", "v", *(f"memory{k}" for k in range(self.step.memory)))
        return tuple(self.ordered(dict(zip(names, new, strict=True)) | before).values())

    def ordered(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """The parts of a state in their order."""
        kept = ("q", "v", *self.first, *((BEFORE_Q, BEFORE_V) if self.keeps_before else ()))
        return {name: parts[name] for name in kept} | {k: x for k, x in parts.items() if k not in kept}
