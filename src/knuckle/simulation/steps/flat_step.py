"""Steps from one row of numbers to the next: for loops that call them one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from knuckle.model import Model
from knuckle.spatial import Vector, repeated

from .step_text import StepText

CLOCK, ROW = "clock", "row"
"""Arguments: (t₀, dt), and the state in a row."""


@dataclass(frozen=True)
class FlatStep:
    """A function (model, row, τ, clock, parameters …) → row, where a row is (q, v, memory …, steps done).

    It takes so many steps of a `StepText` under a force, or controls of actuators, that are held. `shapes` are those of
    the parts of the memory.
    """

    step: StepText
    shapes: tuple[tuple[int, ...], ...]
    count: int = 1

    def __post_init__(self) -> None:
        for name in ("__name__", "__qualname__"):  # what a kernel is called by
            object.__setattr__(self, name, self.name)

    @property
    def name(self) -> str:
        return f"{self.count} × {self.step.name}"

    def __call__(self, model: Model, **values: Any) -> Any:
        row, clock = values.pop(ROW), values.pop(CLOCK)

        def one(left: Any, row: Any) -> tuple[Any, Any]:
            done = row[-1]
            state = self._parts(model, row)
            new = self.step(model, t=clock[0] + done * clock[1], dt=clock[1], **state, **values)
            return left - 1.0, Vector([*_entries(new), done + 1.0])

        if self.count == 1:
            return one(1.0, row)[1]
        return repeated(one, (float(self.count), row), self.count)[1]

    def _parts(self, model: Model, row: Any) -> dict[str, Any]:
        """The state that a row holds, by name."""
        sizes = [("q", (model.nq,)), ("v", (model.nv,)), *((f"memory{k}", x) for k, x in enumerate(self.shapes))]
        parts, at = dict[str, Any](), 0
        for name, shape in sizes:
            n = prod(shape)
            parts[name] = row[at : at + n] if shape else row[at]
            at += n
        return parts

    def arguments(
        self, model: Model, given: tuple[str, int], parameters: Mapping[str, tuple[int, ...]]
    ) -> dict[str, tuple[int, ...]]:
        """The shapes of its arguments; `given` is what is held in a call."""
        size = model.nq + model.nv + sum(map(prod, self.shapes)) + 1
        return {ROW: (size,), given[0]: (given[1],), CLOCK: (2,), **parameters}


def _entries(new: tuple[Any, ...]) -> Iterator[Any]:
    for part in new:
        yield from part if isinstance(part, Vector) else (part,)
