"""Summaries of chunks, computed where the chunks are, and merged: means, quantiles, extremes, failures.

Mean and sum of squared deviations go together by Chan, Golub and LeVeque (1979). Quantiles: a chunk states `RANKS + 1`
of its order statistics, evenly spaced in rank, between which its distribution is taken as straight. The rank of a
merged quantile is off by no more than 1/RANKS of the samples, whatever the chunks hold, and 1/FINE more each time that
many were put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
RANKS, FINE = 128, 2048
"""Parts of the ranks of a chunk, and of many chunks together."""
TOGETHER = 64
"""So many summaries are put together at once: the memory for them has a bound."""
WIDEST = 32
"""Numbers of one sample up to which a result is summarized."""
EXTREMES, FAILURES = 8, 20
"""Largest and smallest samples, and failures, that a chunk names."""


def summary_of(results: Mapping[str, Array], reasons: Mapping[int, str], start: int) -> dict[str, Any]:
    """The summary of a chunk whose first sample has the number `start`, as JSON can say it."""
    failed = np.array(sorted(reasons), np.int64) - start
    with np.errstate(over="ignore", invalid="ignore"):  # a mean of huge numbers may be infinite
        columns = {name: _column(x, start, failed) for name, x in scalars(results)}
    first = dict(list(sorted(reasons.items()))[:FAILURES])
    return {"columns": columns, "failed": len(reasons), "failures": [[k, why] for k, why in first.items()]}


def scalars(results: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """Results as numbers: `name`, or `name[i,j]` where an entry is an array; trajectories are left out."""
    for name, x in results.items():
        tail = x.shape[1:]
        if name == "diverged_at" or int(np.prod(tail, dtype=np.int64)) > WIDEST or x.dtype.kind not in "fiub":
            continue
        for index in np.ndindex(tail):
            yield name + (f"[{','.join(map(str, index))}]" if index else ""), x[(slice(None), *index)].astype(float)


def _column(x: Array, start: int, failed: Array) -> dict[str, Any]:
    fine = np.isfinite(x)
    fine[failed] = False
    where, values = np.flatnonzero(fine) + start, x[fine]
    if not len(values):
        return {"count": 0}
    order = np.argsort(values, kind="stable")
    mean = float(np.mean(values))
    ranks = np.linspace(0, len(values) - 1, min(RANKS, max(1, len(values) - 1)) + 1)
    low, high = order[:EXTREMES], np.argsort(-values, kind="stable")[:EXTREMES]
    return {
        "count": len(values),
        "mean": mean,
        "squares": float(np.sum((values - mean) ** 2)),
        "ranks": np.interp(ranks, np.arange(len(values)), values[order]).tolist(),
        "smallest": [[float(values[k]), int(where[k])] for k in low],
        "largest": [[float(values[k]), int(where[k])] for k in high],
    }


@dataclass(frozen=True, eq=False)
class Distribution:
    """How a result is distributed over the samples that did not fail."""

    count: int
    """Samples"""
    mean: float
    deviation: float
    """The standard deviation"""
    smallest: tuple[tuple[float, int], ...]
    """The smallest values, with the numbers of their samples"""
    largest: tuple[tuple[float, int], ...]
    """The largest values, with the numbers of their samples"""
    values: Array
    """Values at which the distribution is known …"""
    below: Array
    """… and which part of the samples is below them"""

    def quantile(self, part: float) -> float:
        """The value that this part of the samples is below; its own part is off by 1/128 at most."""
        if not 0.0 <= part <= 1.0:
            raise ValueError(f"part must be from 0 to 1, and is {part}")
        return float(np.interp(part, self.below, self.values)) if self.count else float("nan")

    def histogram(self, bins: int = 50, low: float | None = None, high: float | None = None) -> tuple[Array, Array]:
        """How many samples are in each of some bins, and the bounds of the bins, as `np.histogram` gives them."""
        if not self.count:
            return np.zeros(bins), np.linspace(0.0, 1.0, bins + 1)
        first = self.values[0] if low is None else low
        last = self.values[-1] if high is None else high
        edges = np.linspace(first, last if last > first else first + 1.0, bins + 1)
        below = _part_below(self.values, self.below, edges)
        below[0] = 0.0 if low is None else below[0]  # the smallest value belongs to the first bin
        return self.count * np.diff(below), edges


def merged(summaries: Iterable[Mapping[str, Any]]) -> dict[str, Distribution]:
    """The distributions of all chunks together; in the order of chunks they are the same to the last bit."""
    columns: dict[str, _Growing] = {}
    for summary in summaries:
        for name, column in summary["columns"].items():
            columns.setdefault(name, _Growing()).add(column)
    return {name: column.distribution() for name, column in columns.items()}


class _Growing:
    """The distribution of a result, chunk by chunk."""

    def __init__(self) -> None:
        self._count, self._mean, self._squares = 0, 0.0, 0.0
        self._low, self._high = list[tuple[float, int]](), list[tuple[float, int]]()
        self._levels: list[list[tuple[int, Array, Array]]] = []

    def add(self, column: Mapping[str, Any]) -> None:
        n = column["count"]
        if not n:
            return
        total, step = self._count + n, column["mean"] - self._mean
        self._squares += column["squares"] + step * step * self._count * n / total
        self._mean += step * n / total
        self._count = total
        low, high = ([(float(x), int(k)) for x, k in column[name]] for name in ("smallest", "largest"))
        self._low = sorted([*self._low, *low])[:EXTREMES]
        self._high = sorted([*self._high, *high], key=lambda one: (-one[0], one[1]))[:EXTREMES]
        self._put(0, (n, *_known(column["ranks"])))

    def _put(self, level: int, known: tuple[int, Array, Array]) -> None:
        """Another known distribution; where there are many they become one of the next level."""
        if level == len(self._levels):
            self._levels.append([])
        self._levels[level].append(known)
        if len(self._levels[level]) == TOGETHER:
            several, self._levels[level] = self._levels[level], []
            self._put(level + 1, _together(several))

    def distribution(self) -> Distribution:
        several = [known for level in self._levels for known in level]
        _, values, below = _together(several) if several else (0, np.array([]), np.array([]))
        deviation = (self._squares / self._count) ** 0.5 if self._count else float("nan")
        mean = self._mean if self._count else float("nan")
        return Distribution(self._count, mean, deviation, tuple(self._low), tuple(self._high), values, below)


def _known(ranks: list[float]) -> tuple[Array, Array]:
    """Values, and the part below each, in order; a value that is there twice is a step."""
    values = np.array(ranks if len(ranks) > 1 else ranks * 2)
    return values, np.linspace(0.0, 1.0, len(values))


def _part_below(values: Array, below: Array, at: Array, *, strictly: bool = False) -> Array:
    """Which part is at or below some values, or strictly below; it goes straight between those that are known."""
    k = np.searchsorted(values, at, side="left" if strictly else "right")
    inside = np.clip(k, 1, len(values) - 1)
    before, after = values[inside - 1], values[inside]
    part = np.divide(at - before, after - before, out=np.zeros_like(at), where=after > before)
    found = below[inside - 1] + part * (below[inside] - below[inside - 1])
    return np.where(k == 0, 0.0, np.where(k == len(values), 1.0, found))


def _together(several: list[tuple[int, Array, Array]]) -> tuple[int, Array, Array]:
    """One distribution of several: their parts below a value, by how many samples they have."""
    count = sum(n for n, _, _ in several)
    at = np.unique(np.concatenate([x for _, x, _ in several]))
    parts = [
        sum(n * _part_below(x, b, at, strictly=strictly) for n, x, b in several) / count for strictly in (True, False)
    ]
    values, below = np.repeat(at, 2), np.stack(parts, axis=1).ravel()
    if len(values) > 2 * FINE:
        kept = np.searchsorted(below, np.linspace(0.0, 1.0, FINE + 1)).clip(1, len(values) - 1)
        kept = np.unique(np.concatenate([[0], kept - 1, kept, [len(values) - 1]]))  # with both ends of steps
        values, below = values[kept], below[kept]
    return count, values, below
