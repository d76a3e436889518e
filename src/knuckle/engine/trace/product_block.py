"""Large matrices in code: a block that multiplies one with a vector, or with several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .blocks import Block
from .count import Count
from .program import Program


@dataclass(frozen=True)
class MatrixProduct(Block):
    """A matrix times some vectors, one unless it is said. The matrix, by rows, comes before them; one of constants is
    no input, and has one vector."""

    rows: int
    columns: int
    constants: tuple[float, ...] | None = None
    vectors: int = 1

    @property
    def arrays(self) -> tuple[int, ...]:
        right = self.columns * self.vectors
        return (right,) if self.constants is not None else (self.rows * self.columns, right)

    @property
    def inputs(self) -> int:
        return sum(self.arrays)

    @property
    def outputs(self) -> int:
        return self.rows * self.vectors

    def evaluate(self, values: Sequence[float]) -> list[float]:
        n, right = self.columns, values[-self.arrays[-1] :]
        matrix = values if self.constants is None else self.constants
        vectors = [right[first : first + n] for first in range(0, len(right), n)]
        return [sum(matrix[i * n + k] * x[k] for k in range(n)) for x in vectors for i in range(self.rows)]

    def count(self) -> Count:
        return Count(mul=self.outputs * self.columns, add=self.outputs * (self.columns - 1))

    def size(self) -> int:
        return 100

    def work(self) -> int:
        return self.count().total

    def mapped(self, change: Callable[[Program], Program]) -> Block:
        return self
