"""Dense linear equations as blocks: loops over a matrix, where every operation by itself would be a long text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .blocks import Block
from .count import Count
from .program import Program


@dataclass(frozen=True)
class _Dense(Block):
    n: int

    def size(self) -> int:
        return 100

    def work(self) -> int:
        return self.count().total

    def mapped(self, change: Callable[[Program], Program]) -> Block:
        return self


@dataclass(frozen=True)
class Eliminate(_Dense):
    """A matrix, by rows, to its factors: eliminated from the last row to the first (`spatial.elimination`)."""

    @property
    def inputs(self) -> int:
        return self.n * self.n

    @property
    def outputs(self) -> int:
        return self.n * self.n

    def evaluate(self, values: Sequence[float]) -> list[float]:
        n, a = self.n, [float(x) for x in values]
        for k in reversed(range(n)):
            a[k * n + k] = 1 / a[k * n + k] if a[k * n + k] else float("nan")
            for i in range(k):
                a[i * n + k] *= a[k * n + k]
                for j in range(k):
                    a[i * n + j] -= a[i * n + k] * a[k * n + j]
        return a

    def count(self) -> Count:
        products = sum(k * k for k in range(self.n))
        return Count(mul=products + self.n * (self.n - 1) // 2, add=products, div=self.n)


@dataclass(frozen=True)
class Substitute(_Dense):
    """The factors of a matrix, then a right-hand side, to the solution."""

    @property
    def inputs(self) -> int:
        return self.n * self.n + self.n

    @property
    def arrays(self) -> tuple[int, ...]:
        return self.n * self.n, self.n

    @property
    def outputs(self) -> int:
        return self.n

    def evaluate(self, values: Sequence[float]) -> list[float]:
        n, a = self.n, values
        x: list[Any] = list(values[n * n :])
        for k in reversed(range(n)):
            for i in range(k):
                x[i] -= a[i * n + k] * x[k]
        for k in range(n):
            x[k] = (x[k] - sum(a[k * n + j] * x[j] for j in range(k))) * a[k * n + k]
        return x

    def count(self) -> Count:
        return Count(mul=self.n * self.n, add=self.n * (self.n - 1))
