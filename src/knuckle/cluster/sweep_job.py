"""A sweep as data: what is sent to workers, and how they compute a chunk of it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.kernels.kernel_registry import Policy, kernels
from knuckle.model import Model

from .designs import Columns, Design
from .sweep_tasks import DIVERGED, Results, SweepTask

Array: TypeAlias = NDArray[Any]
OnError: TypeAlias = Literal["stop", "note"]
PROBE = 2
"""Samples that are computed before all others: what they give says what there will be, and compiles the code."""


@dataclass(frozen=True, eq=False)
class SweepJob:
    """A model, a design, what is computed of each sample, and how samples are cut into chunks."""

    model: Model
    design: Design
    task: SweepTask
    chunk: int
    dtype: str
    on_error: OnError
    compilation: Policy = "always"
    """Native code and plain Python round differently: all samples are computed with one of them"""

    @property
    def chunks(self) -> int:
        """How many."""
        return -(-self.design.count // self.chunk)

    def span(self, chunk: int) -> tuple[int, int]:
        """The first sample of a chunk, and the first of the next."""
        return chunk * self.chunk, min((chunk + 1) * self.chunk, self.design.count)

    def columns(self, start: int, stop: int) -> Columns:
        """The values of the parameters of some samples, in the precision of the sweep."""
        return self._cast(self.design.columns(np.arange(start, stop)))

    def _cast(self, columns: Columns) -> Columns:
        return {name: x if name in self.design.things else x.astype(self.dtype) for name, x in columns.items()}

    def compute(self, chunk: int) -> ComputedChunk:
        """A chunk."""
        start, stop = self.span(chunk)
        columns = self.columns(start, stop)
        results, reasons = self.results(columns, start)
        return ComputedChunk(chunk, start, stop, columns, results, reasons)

    def results(self, columns: Columns, start: int) -> tuple[Results, dict[int, str]]:
        """What is computed of some samples, and why some failed, by number."""
        count = len(next(iter(columns.values())))
        found, reasons = Results(), dict[int, str]()
        for rows in self.groups(columns):
            for part, values, trouble in self._attempt(columns, rows):
                if trouble:
                    reasons[start + int(part[0])] = trouble
                for name, x in (values or {}).items():
                    if name not in found:
                        found[name] = _missing((count, *x.shape[1:]), x.dtype)
                    found[name][part] = x
        if reasons:
            _fill(found, self.probe() if not found else {}, count)
        return found, {**_not_finite(found, start), **reasons}

    def groups(self, columns: Columns) -> Iterator[Array]:
        """The places of samples that have the same things, such as controllers."""
        named = [columns[name] for name in self.design.things]
        if not named:
            yield np.arange(len(next(iter(columns.values()))))
            return
        _, group = np.unique(np.stack(named, axis=1), axis=0, return_inverse=True)
        for k in range(int(group.max()) + 1):
            yield np.flatnonzero(group.ravel() == k)

    def with_things(self, columns: Columns, rows: Array) -> dict[str, Any]:
        """The columns of a group, its things in place of their numbers."""
        things = self.design.things
        return {n: things[n][int(x[rows[0]])] if n in things else x[rows] for n, x in columns.items()}

    def _attempt(self, columns: Columns, rows: Array) -> Iterator[tuple[Array, Results | None, str]]:
        """The results of samples, those whose computation raises an error apart from the others."""
        try:
            with compiled(self.compilation):
                values = self.task.compute(self.model, self.with_things(columns, rows))
            yield rows, _checked(values, len(rows)), ""
        except Exception as error:
            if self.on_error == "stop":
                raise
            if len(rows) == 1:
                yield rows, None, f"{type(error).__name__}: {error}"
                return
            for half in np.array_split(rows, 2):
                yield from self._attempt(columns, half)

    def probe(self) -> Results:
        """The results of the first samples."""
        columns = self.first()
        found = Results()
        for rows in self.groups(columns):
            twice = rows if len(rows) > 1 else np.repeat(rows, 2)  # code for many, as chunks need it
            with compiled(self.compilation):
                found = _checked(self.task.compute(self.model, self.with_things(columns, twice)), len(twice))
        return found

    def first(self) -> Columns:
        """The columns of the first samples."""
        columns = self.columns(0, min(PROBE, self.design.count))
        return {name: np.resize(x, (PROBE, *x.shape[1:])) for name, x in columns.items()}


@contextlib.contextmanager
def compiled(policy: Policy) -> Generator[None]:
    """Functions are compiled by this policy meanwhile."""
    before, kernels.policy = kernels.policy, policy
    try:
        yield
    finally:
        kernels.policy = before


@dataclass(frozen=True, eq=False)
class ComputedChunk:
    """A chunk that was computed: parameters, results, and why some samples failed, by number."""

    chunk: int
    start: int
    stop: int
    columns: Columns
    results: Results
    reasons: Mapping[int, str]


def _checked(values: Results, count: int) -> Results:
    for name, x in values.items():
        if not x.ndim or len(x) != count:
            raise ValueError(f"{name} has shape {x.shape}, and should have one entry for each of {count} samples")
        if x.dtype.kind not in "fiub":
            raise TypeError(f"{name} has entries of type {x.dtype}, and should have numbers")
    return values


def _missing(shape: tuple[int, ...], dtype: Any) -> Array:
    return np.full(shape, np.nan, dtype) if np.dtype(dtype).kind == "f" else np.zeros(shape, dtype)


def _fill(found: Results, example: Results, count: int) -> None:
    """Places for results of which there are none."""
    for name, x in example.items():
        found[name] = _missing((count, *x.shape[1:]), x.dtype)


def _not_finite(found: Results, start: int) -> dict[int, str]:
    """Why samples failed whose results are not numbers."""
    reasons = dict[int, str]()
    for name, x in found.items():
        if name == DIVERGED:
            for k in np.flatnonzero(~np.isnan(x)):
                reasons[start + int(k)] = f"diverged at t = {float(x[k]):.9g} s"
        elif x.dtype.kind == "f":
            for k in np.flatnonzero(~np.isfinite(x.reshape(len(x), -1)).all(axis=1)):
                reasons.setdefault(start + int(k), f"{name} is not finite")
    return dict(sorted(reasons.items()))
