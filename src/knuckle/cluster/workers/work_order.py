"""What a worker is told, what it does with a chunk, and what it gives back."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from knuckle.cluster.chunk_summary import summary_of
from knuckle.cluster.commits import Parcel, commit
from knuckle.cluster.sweep_job import SweepJob
from knuckle.cluster.zarr_store import PARAMETERS, ArraySpec, encoded
from knuckle.engine.native import disk_cache
from knuckle.engine.native.machine_code import LEVEL, host

MANIFEST = "manifest.json"


def instruction_set() -> str:
    """What decides the last digits on this machine, and which code runs on it."""
    here = host()
    features = hashlib.sha256(here.features.encode()).hexdigest()[:8]
    return f"{here.cpu}, {here.vector_bits}-bit vectors, LLVM {here.llvm}, features {features}"


def kind_of_machine() -> str:
    """Machines of one kind run the same code: instructions, and the texts and the version that it is made of."""
    return f"{instruction_set()}, level {LEVEL}, library {disk_cache.library_hash()[:16]}"


@dataclass(frozen=True, eq=False)
class Receipt:
    """What became of a chunk: how many samples failed, where and how long it took, and its files where they could not
    be written there."""

    chunk: int
    failed: int
    seconds: float
    instructions: str
    parcel: Parcel | None


@dataclass(frozen=True, eq=False)
class WorkOrder:
    """A sweep, the folder that its chunks go to, and a token by which the folder is known."""

    job: SweepJob
    folder: str
    token: str
    specs: tuple[ArraySpec, ...]

    def carry_out(self, chunk: int) -> Receipt:
        """Computes a chunk and commits it, or sends it back where the folder is not to be seen."""
        began, clock = time.time(), time.perf_counter()
        done = self.job.compute(chunk)
        named = {f"{spec.path}": spec for spec in self.specs}
        for name in done.results:
            if f"results/{name}" not in named:
                raise ValueError(f"this chunk has a result {name!r}, which the first samples have not")
        files = dict[str, bytes]()
        for path, spec in named.items():
            arrays = done.columns if path.startswith(f"{PARAMETERS}/") else done.results
            if spec.name not in arrays:
                raise ValueError(f"this chunk has no result {spec.name!r}, which the first samples have")
            files[spec.file(chunk)] = encoded(spec, arrays[spec.name], self.job.chunk)
        seconds = time.perf_counter() - clock
        record = {
            "start": done.start, "stop": done.stop, "instructions": instruction_set(),
            "began": began, "seconds": seconds, "processor_clock": time.process_time(),
            "worker": f"{os.uname().nodename} {os.getpid()}" if hasattr(os, "uname") else str(os.getpid()),
            "summary": summary_of(done.results, done.reasons, done.start),
        }  # fmt: skip
        parcel = Parcel(chunk, files, record)
        is_here = self.sees_folder()
        if is_here:
            commit(Path(self.folder), parcel)
        return Receipt(chunk, len(done.reasons), seconds, instruction_set(), None if is_here else parcel)

    def sees_folder(self) -> bool:
        """Whether the folder of the sweep is on a disk of this machine."""
        try:
            return json.loads((Path(self.folder) / MANIFEST).read_bytes())["token"] == self.token
        except (OSError, ValueError, KeyError):
            return False
