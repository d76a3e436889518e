"""Very long runs that survive: a folder of checkpoints, each with what was computed since the one before.

`start.npz` says what is computed. `00000001.npz` and so on hold the rows and the occurrences since the file before, and
the complete position at their end, so that together they are the trajectory so far and nothing is written twice. A file
appears whole or not at all and carries a checksum; from the first that is missing or damaged on, the rest is computed
anew.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from knuckle.integrators.base import State
from knuckle.model import Model
from knuckle.simulation.run_settings import Position
from knuckle.simulation.simulator import March
from knuckle.simulation.steps.step_size import Pace
from knuckle.trajectory.archive import read_archive, write_archive
from knuckle.trajectory.occurrence import Occurrence
from knuckle.trajectory.recorder import Recorder
from knuckle.trajectory.trajectory_files import occurrence_arrays, occurrences_from
from knuckle.warning import warn

FORMAT, START = "knuckle checkpoint 1", "start.npz"
MODE = 0o600


@dataclass(frozen=True)
class Beginning:
    """What a run is: arrays and facts, which a resumed one must share."""

    arrays: Mapping[str, Any]
    facts: Mapping[str, Any]


@dataclass
class Found:
    """What the checkpoints of a run hold: the rows, what occurred, where it stands, and how it ended, if it did."""

    position: Position | None
    recorder: Recorder
    occurrences: list[Occurrence]
    files: int = 0
    end: tuple[str, str] | None = None


def read_start(folder: Path) -> Beginning | None:
    """What a folder is said to compute; None if it holds no run."""
    path = folder / START
    if not path.exists():
        return None
    try:
        arrays, facts = read_archive(path)
    except ValueError as error:
        raise ValueError(f"{error}. Without it nothing there can be used: remove {folder} and begin again") from None
    if facts.get("format") != FORMAT:
        raise ValueError(f"{path} holds {facts.get('format')!r}, and should hold {FORMAT!r}")
    return Beginning(arrays, facts)


def differences(given: Beginning, found: Beginning) -> list[str]:
    """What is not the same in two beginnings, as arguments of `simulate`."""
    compared = [name for name in given.facts if name not in ("run", "model", "integrator_name")]
    said = [_CALLED.get(name, name) for name in compared if found.facts.get(name) != given.facts[name]]
    for name in sorted({*given.arrays} | {*found.arrays}):
        here, there = given.arrays.get(name), found.arrays.get(name)
        if here is None or there is None or not np.array_equal(np.asarray(here), np.asarray(there)):
            said.append(name.rpartition(":")[2])
    return list(dict.fromkeys(said))


_CALLED = {"content": "model"}


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, folder: Path, beginning: Beginning, every: float) -> None:
        self.folder, self.beginning, self._every = folder, beginning, every
        self._files = self._rows = self._occurrences = 0
        self._last = time.monotonic()

    @classmethod
    def new(cls, folder: Path, beginning: Beginning, every: float) -> Checkpoints:
        """A new run: the folder is made, for its owner alone."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        stale = [path for path in folder.iterdir() if path.name != START]
        if any(not _is_ours(path) for path in stale):
            strange = next(path for path in stale if not _is_ours(path))
            raise ValueError(f"checkpoint={str(folder)!r} is a folder with other files in it, such as {strange.name}")
        facts = {**beginning.facts, "run": secrets.token_hex(16)}
        write_archive(folder / START, beginning.arrays, facts, MODE)
        return cls(folder, Beginning(beginning.arrays, facts), every)

    @property
    def is_due(self) -> bool:
        """Whether it is time for another."""
        return time.monotonic() - self._last >= self._every

    def write(self, march: March, end: tuple[str, str] | None = None) -> None:
        """The next checkpoint: what is new since the last one."""
        at, model = march.at, march.plan.model
        times, q, v = march.recorder.rows(self._rows)
        new = march.occurrences[self._occurrences :]
        arrays = {"times": times, "q": q, "v": v, "state_q": at.state.q, "state_v": at.state.v}
        arrays |= {f"memory{k}": x for k, x in enumerate(at.state.memory)} | occurrence_arrays(new, model)
        facts = {
            "format": FORMAT,
            "run": self.beginning.facts["run"],
            "rows_before": self._rows,
            "events": [(o.name, o.kind) for o in new],
            "position": {
                "n": at.n,
                "t": at.t,
                "resting": at.resting,
                "pace": at.pace,
                "rows": at.rows,
                "pending": at.pending,
            },
            "memory": len(at.state.memory),
            "end": end,
        }
        write_archive(self.folder / _name(self._files + 1), arrays, facts, MODE)
        self._files += 1
        self._rows, self._occurrences = march.recorder.count, len(march.occurrences)
        self._last = time.monotonic()

    def read(self, model: Model) -> Found:
        """What is there, up to the first file that is missing or damaged; writing goes on after that."""
        for path in self.folder.glob(".*.part"):  # what a process was writing when it was killed
            path.unlink(missing_ok=True)
        found = Found(None, Recorder(model.nq, model.nv), [])
        while (path := self.folder / _name(found.files + 1)).exists():
            try:
                self._take(path, found)
            except ValueError as error:
                warn(f"{error}. What it held, and what came after it, is computed again")
                break
        self._files, self._rows, self._occurrences = found.files, found.recorder.count, len(found.occurrences)
        return found

    def _take(self, path: Path, found: Found) -> None:
        arrays, facts = read_archive(path)
        mine = {"format": FORMAT, "run": self.beginning.facts["run"], "rows_before": found.recorder.count}
        for name, value in mine.items():
            if facts.get(name) != value:
                raise ValueError(f"{path} does not belong to this run: its {name} is {facts.get(name)!r}")
        p = facts["position"]
        memory = (arrays[f"memory{k}"] for k in range(facts["memory"]))
        state = State(arrays["state_q"], arrays["state_v"], tuple(x if x.ndim else float(x) for x in memory))
        pace = None if p["pace"] is None else Pace(*p["pace"])
        found.position = Position(p["n"], p["t"], state, tuple(p["resting"]), pace, p["rows"], tuple(p["pending"]))
        found.recorder.extend(arrays["times"], arrays["q"], arrays["v"])
        found.occurrences += occurrences_from(arrays, facts["events"])
        found.files += 1
        found.end = None if facts["end"] is None else tuple(facts["end"])


def _name(k: int) -> str:
    return f"{k:08}.npz"


def _is_ours(path: Path) -> bool:
    stem, suffix = path.stem, path.suffix
    return (suffix == ".npz" and stem.isdigit() and len(stem) == 8) or (path.name.startswith(".") and suffix == ".part")
