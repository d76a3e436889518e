"""What a sweep gives: a folder of results, read when they are asked for."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import near
from knuckle.model import Model
from knuckle.simulation.rollout.rollout_result import Rollout

from .chunk_summary import Distribution, merged
from .commits import committed, damage, read_record
from .sweep_job import SweepJob
from .sweep_manifest import Manifest
from .sweep_tasks import RolloutTask
from .zarr_store import DATA, PARAMETERS, RESULTS, open_arrays

Array = NDArray[Any]


@dataclass(frozen=True)
class Failure:
    """A sample that failed: its number, why, and its parameters."""

    sample: int
    reason: str
    parameters: dict[str, Any]


@dataclass(frozen=True, repr=False, eq=False)
class SweepResult:
    """The results of a sweep. `sweep["name"]` is a lazy array of a parameter or result, one entry for each sample.

    Where a chunk is not there yet, entries are NaN, or 0 for whole numbers: `is_complete` and `missing` say so.
    """

    folder: Path
    manifest: Manifest
    job: SweepJob | None = None
    """What computes it, if it was computed here"""

    @property
    def count(self) -> int:
        """How many samples there are."""
        return int(self.manifest.facts["count"])

    def __len__(self) -> int:
        return self.count

    @property
    def chunks(self) -> int:
        """How many chunks they are in."""
        return -(-self.count // int(self.manifest.facts["chunk"]))

    @property
    def missing(self) -> list[int]:
        """The chunks that are not there yet."""
        return sorted(set(range(self.chunks)) - set(committed(self.folder)))

    @property
    def is_complete(self) -> bool:
        """Whether all chunks are there."""
        return not self.missing

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of what was varied."""
        return tuple(spec.name for spec in self.manifest.specs if spec.path.startswith(f"{PARAMETERS}/"))

    @property
    def results(self) -> tuple[str, ...]:
        """The names of what was computed."""
        return tuple(spec.name for spec in self.manifest.specs if spec.path.startswith(f"{RESULTS}/"))

    @cached_property
    def _arrays(self) -> Any:
        return open_arrays(self.folder)

    def __getitem__(self, name: str) -> Any:
        """The lazy array (a `zarr.Array`) of a result or parameter; of things, such as controllers, their numbers."""
        for group, names in ((RESULTS, self.results), (PARAMETERS, self.parameters)):
            if name in names:
                return self._arrays[f"{group}/{name}"]
        raise KeyError(f"the sweep has no {name!r}{near(name, (*self.results, *self.parameters))}")

    # summaries

    def _summaries(self) -> Iterator[Any]:
        for chunk in committed(self.folder):
            record = read_record(self.folder, chunk)
            if record is not None:
                yield record["summary"]

    @cached_property
    def summary(self) -> dict[str, Distribution]:
        """By result, `name` or `name[i]`, how it is distributed, from the summaries of the chunks that are there."""
        return merged(self._summaries())

    @property
    def failed(self) -> int:
        """How many samples failed: diverged, were not finite, or raised an error."""
        return sum(int(summary["failed"]) for summary in self._summaries())

    def failures(self, most: int = 1000) -> list[Failure]:
        """Samples that failed, with their parameters: the first 20 of each chunk, and no more than `most`."""
        found = list[Failure]()
        for summary in self._summaries():
            for k, why in summary["failures"][: most - len(found)]:
                found.append(Failure(int(k), why, self.sample(int(k))))
        return found

    def sample(self, k: int) -> dict[str, Any]:
        """The parameters of a sample; things, such as controllers, by name."""
        if not 0 <= k < self.count:
            raise IndexError(f"there is no sample {k}: they go from 0 to {self.count - 1}")
        things = self.manifest.facts["things"]
        values = {name: np.asarray(self._arrays[f"{PARAMETERS}/{name}"][k]) for name in self.parameters}
        return {n: things[n][int(x)] if n in things else (float(x) if not x.ndim else x) for n, x in values.items()}

    @property
    def instructions(self) -> dict[str, int]:
        """How many chunks were computed with which instructions."""
        records = (read_record(self.folder, chunk) for chunk in committed(self.folder))
        return dict(Counter(record["instructions"] for record in records if record is not None))

    @property
    def seconds(self) -> float:
        """How long workers computed, all together."""
        records = (read_record(self.folder, chunk) for chunk in committed(self.folder))
        return sum(record["seconds"] for record in records if record is not None)

    # trust

    def damaged(self) -> dict[int, str]:
        """The chunks whose files are not what their checksums say, and why; all files are read."""
        found = ((chunk, damage(self.folder, chunk)) for chunk in committed(self.folder))
        return {chunk: why for chunk, why in found if why is not None}

    # trajectories

    @property
    def model(self) -> Model:
        """What was computed with."""
        return self.job.model if self.job is not None else self.manifest.model()

    @property
    def times(self) -> Array:
        """Of the rows of trajectories, in seconds; empty for kernels."""
        return np.array(self.manifest.facts["times"] or [], float)

    def rollout(self, samples: Any) -> Rollout:
        """The trajectories of some samples, computed again: they are the same to the last bit.

        Only where the sweep was computed by this program, which has its functions: `sweep` with the same arguments
        gives such a one, and computes nothing that is there.
        """
        if self.job is None:
            raise ValueError("a sweep that was only read has no functions to compute with: kn.sweep(…) as before has")
        if not isinstance(self.job.task, RolloutTask):
            raise TypeError("this sweep is one of a kernel, and has no trajectories")
        index = np.atleast_1d(np.asarray(samples, np.int64))
        if not len(index) or index.min() < 0 or index.max() >= self.count:
            raise IndexError(f"samples must be numbers from 0 to {self.count - 1}, and are {samples}")
        parts = [self.job.columns(int(k), int(k) + 1) for k in index]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        groups = list(self.job.groups(columns))
        if len(groups) > 1:
            raise ValueError(
                f"these samples have different things, such as {next(iter(self.job.design.things))}: ask by group"
            )
        return self.job.task.rollout(self.job.model, self.job.with_things(columns, np.arange(len(index))))

    # other forms

    def to_xarray(self) -> Any:
        """An `xarray.Dataset` of lazy arrays, in chunks of dask where that is installed; needs xarray."""
        try:
            xarray: Any = importlib.import_module("xarray")
        except ImportError:
            raise ImportError("to_xarray needs xarray: pip install xarray") from None
        chunks = {} if importlib.util.find_spec("dask") else None
        store = str(self.folder / DATA)
        groups = [xarray.open_zarr(store, group=g, chunks=chunks, consolidated=False) for g in (PARAMETERS, RESULTS)]
        both = set(self.parameters) & set(self.results)
        groups[0] = groups[0].rename({name: f"parameter_{name}" for name in both})
        found = xarray.merge(groups)
        return found.assign_coords(time=("time", self.times, {"units": "s"})) if "time" in found.dims else found

    def plot(self, path: str | os.PathLike[str] | None = None, *, what: str | None = None, worst: int = 5) -> Any:
        """A matplotlib figure: how results are distributed, and the trajectories with the largest values of one.

        Args:
            path: a file to write it to; without, the figure is shown.
            what: the result whose largest values are looked at; the first, if not given.
            worst: how many trajectories.
        """
        from .sweep_plot import plot

        return plot(self, path, what, worst)

    def __repr__(self) -> str:
        missing = len(self.missing)
        lines = [
            f"<knuckle.cluster.SweepResult of {self.manifest.facts['model_name']}: {self.count} samples of "
            f"{', '.join(self.parameters)} in {self.folder}"
        ]
        if missing:
            lines.append(f"  {missing} of {self.chunks} chunks are not there yet")
        if failed := self.failed:
            lines.append(f"  failed: {failed}")
        for name, x in list(self.summary.items())[:10]:
            low, middle, high = (x.quantile(part) for part in (0.05, 0.5, 0.95))
            lines.append(f"  {name}: mean {x.mean:.6g}, median {middle:.6g}, nine of ten in {low:.6g} to {high:.6g}")
        return "\n".join(lines) + ">"


def read_sweep(folder: str | os.PathLike[str]) -> SweepResult:
    """The sweep in a folder, complete or not; nothing of its results is read until it is asked for.

    Example:
        found = kn.cluster.read_sweep("swings.sweep")
        found.summary["height"].quantile(0.99)
        found["height"][:100]
    """
    manifest = Manifest.read(Path(folder))
    if manifest is None:
        raise FileNotFoundError(f"{folder} holds no sweep")
    return SweepResult(Path(folder), manifest)
