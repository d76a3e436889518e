"""Large matrices in code: a block that multiplies one with a vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .blocks import Block
from .count import Count
from .program import Program


@dataclass(frozen=True)
class MatrixProduct(Block):
    """A matrix times a vector. The matrix, by rows, comes before the vector; one of constants is no input."""

    rows: int
    columns: int
    constants: tuple[float, ...] | None = None

    @property
    def arrays(self) -> tuple[int, ...]:
        return (self.columns,) if self.constants is not None else (self.rows * self.columns, self.columns)

    @property
    def inputs(self) -> int:
        return sum(self.arrays)

    @property
    def outputs(self) -> int:
        return self.rows

    def evaluate(self, values: Sequence[float]) -> list[float]:
        n, x = self.columns, values[-self.columns :]
        matrix = values if self.constants is None else self.constants
        return [sum(matrix[i * n + k] * x[k] for k in range(n)) for i in range(self.rows)]

    def count(self) -> Count:
        return Count(mul=self.rows * self.columns, add=self.rows * (self.columns - 1))

    def size(self) -> int:
        return 100

    def work(self) -> int:
        return self.count().total

    def mapped(self, change: Callable[[Program], Program]) -> Block:
        return self
