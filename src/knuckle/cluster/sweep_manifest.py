"""The manifest of a sweep: what is computed, with what, and where; enough to recognise it, and to read it alone."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import secrets
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knuckle.engine.native import disk_cache
from knuckle.model import Model
from knuckle.trajectory.archive import written_aside
from knuckle.trajectory.trajectory_files import model_text

from .sweep_job import SweepJob
from .workers.work_order import MANIFEST, instruction_set
from .zarr_store import ArraySpec

FORMAT = "knuckle sweep 1"
_SAME = {"content": "model", "design": "design", "task": "what is computed", "dtype": "dtype", "chunk": "chunk",
         "compilation": "kn.compilation.set_policy",         "code": "the version of knuckle"}  # fmt: skip
"""What a sweep that is resumed shares with what is there, and what that is called."""


@dataclass(frozen=True)
class Manifest:
    """Facts that JSON can say."""

    facts: Mapping[str, Any]

    @classmethod
    def of(cls, job: SweepJob, specs: tuple[ArraySpec, ...], times: Any) -> Manifest:
        """The manifest of a new sweep."""
        things = {name: [getattr(x, "__name__", None) or str(x) for x in xs] for name, xs in job.design.things.items()}
        return cls(
            {
                "format": FORMAT,
                "token": secrets.token_hex(16),
                "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "content": job.model.content_hash,
                "model": model_text(job.model),
                "model_name": job.model.name,
                "code": disk_cache.library_hash(),
                "versions": versions(),
                "instructions": instruction_set(),
                "platform": platform.platform(),
                "command": sys.argv,
                "count": job.design.count,
                "chunk": job.chunk,
                "dtype": job.dtype,
                "compilation": job.compilation,
                "design": job.design.facts(),
                "things": things,
                "task": job.task.facts(),
                "times": None if times is None else [float(t) for t in times],
                "arrays": [[spec.path, list(spec.tail), spec.dtype, spec.is_over_time] for spec in specs],
            }
        )

    @classmethod
    def read(cls, folder: Path) -> Manifest | None:
        """The manifest in a folder; None if there is none."""
        try:
            text = (folder / MANIFEST).read_text("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            facts = json.loads(text)
        except ValueError:
            facts = {}
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise ValueError(f"{folder / MANIFEST} is no manifest of a sweep, or is damaged: {FORMAT!r} is expected")
        return cls(facts)

    def write(self, folder: Path) -> None:
        """Puts it into a folder."""
        with written_aside(folder / MANIFEST) as aside:
            aside.write_text(json.dumps(self.facts, indent=1), "utf-8")

    @property
    def specs(self) -> tuple[ArraySpec, ...]:
        """The arrays."""
        return tuple(ArraySpec(path, tuple(tail), *rest) for path, tail, *rest in self.facts["arrays"])

    def differences(self, other: Manifest) -> list[str]:
        """What is not the same in two sweeps, in words."""
        here, there = (json.loads(json.dumps(dict(x.facts))) for x in (self, other))
        return [word for name, word in _SAME.items() if here[name] != there[name]]

    def model(self, own: Model | None = None) -> Model:
        """The model that was computed with; `own` where JSON could not hold it."""
        from knuckle.trajectory.trajectory_files import model_from

        return model_from(self.facts, own, "the sweep")


def versions() -> dict[str, str]:
    """What else decides what is computed."""
    found = {"python": platform.python_version()}
    for package in ("knuckle", "numpy", "scipy", "zarr", "ray", "llvmlite"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
