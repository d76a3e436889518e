"""Dense linear equations as blocks: loops over a matrix, where every operation by itself would be a long text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .blocks import Block, LoopBlock
from .count import Count


@dataclass(frozen=True)
class _Dense(LoopBlock):
    n: int


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


@dataclass(frozen=True)
class Laid(_Dense):
    """n numbers laid beside each other, once for all blocks that take them so."""

    @property
    def inputs(self) -> int:
        return self.n

    @property
    def outputs(self) -> int:
        return self.n

    def evaluate(self, values: Sequence[float]) -> list[float]:
        return list(values)

    def count(self) -> Count:
        return Count()


@dataclass(frozen=True)
class Multiply(_Dense):
    """A symmetric matrix, then a vector, to their product. Parts of the vector that are zero cost nothing."""

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
        n, x = self.n, values[self.n * self.n :]
        return [sum(values[i * n + k] * x[k] for k in range(n)) for i in range(n)]

    def count(self) -> Count:
        return Count(mul=self.n * self.n, add=self.n * (self.n - 1))


TILE = 3
"""Unknowns that belong together in `EliminateResponse`."""


@dataclass(frozen=True)
class EliminateResponse(_Dense):
    """G, then E and P, then b, to the factors of E + P G, where E and P are blocks of three on the diagonal.

    Unknowns of which P and b are zero are zero for every right-hand side with zeros there: they are left out. After the
    factors comes which are not.
    """

    @property
    def inputs(self) -> int:
        return sum(self.arrays)

    @property
    def arrays(self) -> tuple[int, ...]:
        return self.n * self.n, TILE * self.n, TILE * self.n, self.n

    @property
    def outputs(self) -> int:
        return self.n * self.n + 1 + self.n // TILE

    def evaluate(self, values: Sequence[float]) -> list[float]:
        n = self.n
        G, E, P = (values[n * n * bool(k) + TILE * n * max(0, k - 1) :] for k in range(3))
        a = [0.0] * (n * n)
        for i in range(n):
            first = i - i % TILE
            for j in range(n):
                a[i * n + j] = sum(P[TILE * i + k] * G[(first + k) * n + j] for k in range(TILE))
            for k in range(TILE):
                a[i * n + first + k] += E[TILE * i + k]
        return [*Eliminate(n).evaluate(a), *[0.0] * (1 + n // TILE)]

    def count(self) -> Count:
        more = TILE * self.n * self.n
        return Eliminate(self.n).count() + Count(mul=more, add=more)


@dataclass(frozen=True)
class SubstituteResponse(_Dense):
    """What `EliminateResponse` gives, then a right-hand side, to the solution; as many numbers after it are room."""

    @property
    def inputs(self) -> int:
        return sum(self.arrays)

    @property
    def arrays(self) -> tuple[int, ...]:
        return EliminateResponse(self.n).outputs, self.n

    @property
    def outputs(self) -> int:
        return 2 * self.n

    def evaluate(self, values: Sequence[float]) -> list[float]:
        n = self.n
        return [*Substitute(n).evaluate([*values[: n * n], *values[self.arrays[0] :]]), *[0.0] * n]

    def count(self) -> Count:
        return Substitute(self.n).count()


DENSE: dict[str, Callable[[int], Block]] = {
    "eliminate": Eliminate,
    "substitute": Substitute,
    "lay": Laid,
    "multiply": Multiply,
    "eliminate response": EliminateResponse,
    "substitute response": SubstituteResponse,
}
"""Loops by name."""
