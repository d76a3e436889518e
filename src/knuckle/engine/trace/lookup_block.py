"""Tables in code: a block that reads a window of a grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from knuckle.scalar.grid import Grid

from .blocks import Block
from .count import Count
from .program import Program


@dataclass(frozen=True)
class Lookup(Block):
    """A row and a column to where the window of a grid begins, and its numbers (`Grid.window`)."""

    grid: Grid

    @property
    def inputs(self) -> int:
        return 2

    @property
    def outputs(self) -> int:
        return 2 + self.grid.high * self.grid.wide

    def evaluate(self, values: Sequence[float]) -> list[float]:
        return [float(x) for x in self.grid.at_numbers(*values)]

    def count(self) -> Count:
        return Count()

    def size(self) -> int:
        return self.work()

    def work(self) -> int:
        return 2 * self.outputs

    def mapped(self, change: Callable[[Program], Program]) -> Block:
        return self
