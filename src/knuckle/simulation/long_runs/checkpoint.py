"""Very long runs that survive: a folder of checkpoints, each with what was computed since the one before.

`start.npz` holds what is computed. `00000001.npz` and so on hold the rows and the events since the file before, and
the complete state at their end, so that together they are the trajectory so far and nothing is written twice. A file
appears whole or not at all and carries a checksum; from the first that is missing or damaged on, the rest is computed
anew.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from knuckle.integrators.base import State
from knuckle.model import Model
from knuckle.simulation.run_settings import RunState
from knuckle.simulation.simulator import Simulator
from knuckle.trajectory.archive import read_archive, write_archive
from knuckle.trajectory.contacts.contact_log import ARRAYS, NotedRows
from knuckle.trajectory.event_record import EventRecord
from knuckle.trajectory.recorder import Recorder
from knuckle.trajectory.trajectory_files import event_arrays, events_from_arrays
from knuckle.warning import warn

FORMAT, START = "knuckle checkpoint 3", "start.npz"
MODE = 0o600


@dataclass(frozen=True)
class RunSpec:
    """What a run is: arrays and facts, which a resumed one must share."""

    arrays: Mapping[str, Any]
    facts: Mapping[str, Any]


@dataclass
class SavedRun:
    """What the checkpoints of a run hold: its rows, its events, where it stands, and how it ended, if it did."""

    state: RunState | None
    recorder: Recorder
    events: list[EventRecord]
    files: int = 0
    end: tuple[str, str] | None = None
    contacts: list[NotedRows] = field(default_factory=list[NotedRows])
    notes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """what else rows have, file by file"""


def read_start(folder: Path) -> RunSpec | None:
    """What the run in a folder computes; None if it holds no run."""
    path = folder / START
    if not path.exists():
        return None
    try:
        arrays, facts = read_archive(path)
    except ValueError as error:
        raise ValueError(f"{error}. Without it nothing there can be used: remove {folder} and begin again") from None
    if facts.get("format") != FORMAT:
        raise ValueError(f"{path} holds {facts.get('format')!r}, and should hold {FORMAT!r}")
    return RunSpec(arrays, facts)


def differences(new: RunSpec, saved: RunSpec) -> list[str]:
    """What is not the same in two runs, as arguments of `simulate`."""
    compared = [name for name in new.facts if name not in ("run", "model", "integrator_name")]
    names = [_CALLED.get(name, name) for name in compared if saved.facts.get(name) != new.facts[name]]
    for name in sorted({*new.arrays} | {*saved.arrays}):
        here, there = new.arrays.get(name), saved.arrays.get(name)
        if here is None or there is None or not np.array_equal(np.asarray(here), np.asarray(there)):
            names.append(name.rpartition(":")[2])
    return list(dict.fromkeys(names))


_CALLED = {"content": "model"}


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, folder: Path, spec: RunSpec, every: float) -> None:
        self.folder, self.spec, self._every = folder, spec, every
        self._files = self._rows = self._events = self._notes = 0
        self._last = time.monotonic()

    @classmethod
    def new(cls, folder: Path, spec: RunSpec, every: float) -> Checkpoints:
        """A new run: the folder is made, for its owner alone."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        stale = [path for path in folder.iterdir() if path.name != START]
        if any(not _is_ours(path) for path in stale):
            strange = next(path for path in stale if not _is_ours(path))
            raise ValueError(f"checkpoint={str(folder)!r} is a folder with other files in it, such as {strange.name}")
        facts = {**spec.facts, "run": secrets.token_hex(16)}
        write_archive(folder / START, spec.arrays, facts, MODE)
        return cls(folder, RunSpec(spec.arrays, facts), every)

    @property
    def is_due(self) -> bool:
        """Whether it is time for another."""
        return time.monotonic() - self._last >= self._every

    def write(self, run: Simulator, end: tuple[str, str] | None = None) -> None:
        """The next checkpoint: what is new since the last one."""
        at, model = run.at, run.settings.model
        times, q, v, z = run.recorder.rows(self._rows)
        new = run.events[self._events :]
        arrays = {"times": times, "q": q, "v": v, "z": z, "state_q": at.state.q, "state_v": at.state.v}
        arrays |= {f"memory{k}": x for k, x in enumerate(at.state.memory)} | event_arrays(new, model)
        log = None if run.settings.notes is None else run.settings.notes.log
        notes = [] if log is None else log.parts(self._notes)
        more = {} if run.settings.notes is None else run.settings.notes.arrays(self._rows)
        arrays |= {f"note:{name}": x for name, x in more.items()}
        arrays |= {f"contact{k}:{name}": getattr(x, name) for k, x in enumerate(notes) for name in ARRAYS}
        facts = {
            "format": FORMAT,
            "run": self.spec.facts["run"],
            "rows_before": self._rows,
            "events": [(o.name, o.kind) for o in new],
            "position": {"n": at.n, "t": at.t, "rows": at.rows, **run.memory},
            "memory": len(at.state.memory),
            "contacts": [x.pairs for x in notes],
            "end": end,
        }
        write_archive(self.folder / _name(self._files + 1), arrays, facts, MODE)
        self._files += 1
        self._rows, self._events, self._notes = run.recorder.count, len(run.events), log.count if log else 0
        self._last = time.monotonic()

    def read(self, model: Model, states: int = 0) -> SavedRun:
        """What is there, up to the first file that is missing or damaged; writing goes on after that.

        Rows have so many `states` of muscles.
        """
        for path in self.folder.glob(".*.part"):  # what a process was writing when it was killed
            path.unlink(missing_ok=True)
        saved = SavedRun(None, Recorder(model.nq, model.nv, states), [])
        while (path := self.folder / _name(saved.files + 1)).exists():
            try:
                self._add(path, saved)
            except ValueError as error:
                warn(f"{error}. What it held, and what came after it, is computed again")
                break
        self._files, self._rows, self._events = saved.files, saved.recorder.count, len(saved.events)
        self._notes = len(saved.contacts)
        return saved

    def _add(self, path: Path, saved: SavedRun) -> None:
        """The content of one file."""
        arrays, facts = read_archive(path)
        expected = {"format": FORMAT, "run": self.spec.facts["run"], "rows_before": saved.recorder.count}
        for name, value in expected.items():
            if facts.get(name) != value:
                raise ValueError(f"{path} does not belong to this run: its {name} is {facts.get(name)!r}")
        position = facts["position"]
        memory = (arrays[f"memory{k}"] for k in range(facts["memory"]))
        state = State(arrays["state_q"], arrays["state_v"], tuple(x if x.ndim else float(x) for x in memory))
        saved.state = RunState(position["n"], position["t"], state, position["rows"], position)
        saved.recorder.extend(arrays["times"], arrays["q"], arrays["v"], arrays["z"])
        saved.events += events_from_arrays(arrays, facts["events"])
        for k, pairs in enumerate(facts.get("contacts", ())):
            own = None if pairs is None else tuple(pairs)
            saved.contacts.append(NotedRows(own, *(arrays[f"contact{k}:{name}"] for name in ARRAYS)))
        if more := {name.removeprefix("note:"): x for name, x in arrays.items() if name.startswith("note:")}:
            saved.notes.append(more)
        saved.files += 1
        saved.end = None if facts["end"] is None else tuple(facts["end"])


def _name(k: int) -> str:
    return f"{k:08}.npz"


def _is_ours(path: Path) -> bool:
    stem, suffix = path.stem, path.suffix
    return (suffix == ".npz" and stem.isdigit() and len(stem) == 8) or (path.name.startswith(".") and suffix == ".part")
