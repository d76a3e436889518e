"""Commits: a chunk is there when its record is, and a record comes last.

Each file is written aside, brought to the disk and renamed, so that it appears whole or not at all; the record has the
sizes and checksums of the others. What was killed in between leaves files without a record: as good as none. A chunk
that is computed twice gives the same bytes under the same names.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knuckle.trajectory.archive import written_aside

from .zarr_store import checksum

COMMITS = "commits"
PER_FOLDER = 10_000
"""Records in a folder of their own."""


@dataclass(frozen=True)
class Parcel:
    """A chunk to be committed: the content of its files, and its record."""

    chunk: int
    files: Mapping[str, bytes]
    record: Mapping[str, Any]


def record_path(folder: Path, chunk: int) -> Path:
    """Where the record of a chunk is."""
    return folder / COMMITS / f"{chunk // PER_FOLDER:06}" / f"{chunk:010}.json"


def commit(folder: Path, parcel: Parcel) -> None:
    """Writes a chunk, its record last."""
    sizes = {name: [len(content), checksum(content)] for name, content in parcel.files.items()}
    for name, content in parcel.files.items():
        _write(folder / name, content)
    path = record_path(folder, parcel.chunk)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**parcel.record, "chunk": parcel.chunk, "files": sizes}).encode()
    _write(path, b"%08x\n" % checksum(text) + text)


def _write(path: Path, content: bytes) -> None:
    try:
        with written_aside(path) as aside, open(aside, "wb") as file:
            file.write(content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def read_record(folder: Path, chunk: int) -> dict[str, Any] | None:
    """The record of a chunk; None if there is none, or none that is whole."""
    try:
        head, _, text = record_path(folder, chunk).read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    if head != b"%08x" % checksum(text):
        return None
    record: dict[str, Any] = json.loads(text)
    return record if record.get("chunk") == chunk else None


def committed(folder: Path) -> Iterator[int]:
    """The chunks that have a record, in order."""
    with contextlib.suppress(FileNotFoundError):
        for place in sorted(os.listdir(folder / COMMITS)):
            for name in sorted(os.listdir(folder / COMMITS / place)):
                if name.endswith(".json") and not name.startswith("."):
                    yield int(name.removesuffix(".json"))


def damage(folder: Path, chunk: int, *, whole: bool = True) -> str | None:
    """What is wrong with a chunk that has a record; None if nothing is.

    Args:
        folder: of the sweep.
        chunk: its number.
        whole: whether its files are read and their checksums compared, or only their sizes.
    """
    record = read_record(folder, chunk)
    if record is None:
        return "its record is damaged"
    for name, (size, digest) in record["files"].items():
        path = folder / name
        try:
            if path.stat().st_size != size:
                return f"{name} has {path.stat().st_size} bytes, and should have {size}"
            if whole and checksum(path.read_bytes()) != digest:
                return f"{name} is not what its checksum says"
        except FileNotFoundError:
            return f"{name} is missing"
    return None


def remove_record(folder: Path, chunk: int) -> None:
    """Makes a chunk as good as none."""
    record_path(folder, chunk).unlink(missing_ok=True)


def remove_parts(folder: Path) -> None:
    """Takes away what processes were writing when they were killed."""
    for path in folder.rglob(".*.part"):
        path.unlink(missing_ok=True)
