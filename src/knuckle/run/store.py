"""Compiled kernels on disk: one file each, named by what it was made from, checked when it is read.

The folder is `KNUCKLE_CACHE_DIR`, or `knuckle` in the user's cache folder; nobody else can read it. Files appear at
once and whole (written aside and renamed), so that processes may share the folder. A file that is damaged, or of
another format, is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

MAGIC = b"knuckle kernel 1\n"
SUFFIX = ".kernel"


def folder() -> Path:
    """Where kernels are kept."""
    own = os.environ.get("KNUCKLE_CACHE_DIR")
    if own:
        return Path(own)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "knuckle"


@cache
def library_hash() -> str:
    """A hash of this library's own texts: another version of them makes other kernels."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def key(*parts: Any) -> str:
    """The name of what is made from these parts."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def read(name: str) -> tuple[dict[str, Any], bytes] | None:
    """What was kept under a name: its description and code. None if there is nothing, or nothing sound."""
    try:
        data = (folder() / (name + SUFFIX)).read_bytes()
    except OSError:
        return None
    if not data.startswith(MAGIC):
        return None
    digest, content = data[len(MAGIC) : len(MAGIC) + 32], data[len(MAGIC) + 32 :]
    if hashlib.sha256(name.encode() + content).digest() != digest:
        return None
    header, _, code = content.partition(b"\n")
    return json.loads(header), code


def write(name: str, description: dict[str, Any], code: bytes) -> None:
    """Keeps a kernel. A folder that cannot be written to is no reason to fail."""
    content = json.dumps(description).encode() + b"\n" + code
    data = MAGIC + hashlib.sha256(name.encode() + content).digest() + content
    with contextlib.suppress(OSError):
        place = folder()
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, aside = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(aside, place / (name + SUFFIX))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(aside)


@dataclass(frozen=True)
class Entry:
    """A kept kernel: what it is, how large, when it was used last."""

    name: str
    description: dict[str, Any]
    size: int
    used: float
    path: Path


def entries() -> Iterator[Entry]:
    """Everything that is kept and sound."""
    for path in sorted(folder().glob("*" + SUFFIX)):
        found = read(path.stem)
        if found is not None:
            with contextlib.suppress(OSError):
                status = path.stat()
                yield Entry(path.stem, found[0], status.st_size, status.st_mtime, path)


def clear() -> int:
    """Throws everything away; returns how many kernels there were."""
    count = 0
    for path in [*folder().glob("*" + SUFFIX), *folder().glob("*.part")]:
        with contextlib.suppress(OSError):
            path.unlink()
            count += path.suffix == SUFFIX
    return count
