"""Compiled kernels on disk: one file each, named by what it was made from, checked when it is read.

The folder is `KNUCKLE_CACHE_DIR`, or `knuckle` in the user's cache folder; nobody else can read it. Files appear at
once and whole (written aside and renamed), so that processes may share the folder. A file that is damaged, or of
another name or format, is as good as none. Code is read only from a folder that is ours and that nobody else can write
to: whoever can put a file there could run anything in our name.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .warning import warn

MAGIC = b"knuckle kernel 1\n"
SUFFIX, ASIDE = ".kernel", ".part"
NAME = re.compile(r"[0-9a-f]{64}")
OWNED = hasattr(os, "geteuid")
"""Whether files have an owner and a mode: elsewhere a user's cache folder is the user's."""
LAYERS = ("scalar", "spatial", "joints", "model", "algorithms", "trace", "emit", "run")
"""The parts of the library that decide what a kernel computes."""


def folder() -> Path:
    """Where kernels are kept."""
    own = os.environ.get("KNUCKLE_CACHE_DIR")
    if own:
        return Path(own)
    try:
        home = Path.home()
    except RuntimeError:  # a user without one, as in some containers
        import tempfile

        return Path(tempfile.gettempdir()) / f"knuckle-{os.geteuid() if OWNED else 'kernels'}"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or home / ".cache"
    return Path(base) / "knuckle"


@cache
def library_hash() -> str:
    """A hash of this library's own texts: another version of them makes other kernels."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    for path in sorted(path for layer in LAYERS for path in (root / layer).rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def key(*parts: Any) -> str:
    """The name of what is made from these parts."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


@dataclass(frozen=True)
class Place:
    """The folder, held open while it is used, so that nothing can take its place meanwhile."""

    path: Path
    descriptor: int | None

    def open(self, name: str, flags: int) -> int:
        """A descriptor of a file in it."""
        if self.descriptor is None:
            return os.open(self.path / name, flags | getattr(os, "O_BINARY", 0), 0o600)
        return os.open(name, flags | os.O_NOFOLLOW, 0o600, dir_fd=self.descriptor)

    def rename(self, old: str, new: str) -> None:
        """A file under a new name, in place of what had it."""
        if self.descriptor is None:
            os.replace(self.path / old, self.path / new)
        else:
            os.replace(old, new, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        """Takes a file away."""
        if self.descriptor is None:
            os.unlink(self.path / name)
        else:
            os.unlink(name, dir_fd=self.descriptor)


_refused: set[Path] = set()
"""Folders that were complained about."""


@contextlib.contextmanager
def _opened(make: bool = False) -> Generator[Place]:
    """The folder to use. Raises OSError if there is none, or none to be trusted; the latter is said once."""
    path = folder()
    if make:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not OWNED:
        yield Place(path, None)
        return
    link = os.lstat(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if why := _distrusted(link.st_uid, os.fstat(descriptor)):
            if path not in _refused:
                _refused.add(path)
                warn(f"no compiled kernels are kept in {path}: {why}")
            raise PermissionError(why)
        yield Place(path, descriptor)
    finally:
        os.close(descriptor)


def _distrusted(link_owner: int, status: os.stat_result) -> str | None:
    """Why code from a folder or file must not be run; None if it may."""
    for owner in (link_owner, status.st_uid):
        if owner != os.geteuid():
            return f"it belongs to another user (number {owner})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write to it (mode {stat.S_IMODE(status.st_mode):o}); chmod go-w makes it safe"
    return None


def read(name: str) -> tuple[dict[str, Any], bytes] | None:
    """What was kept under a name: its description and code. None if there is nothing, or nothing sound."""
    try:
        with _opened() as place:
            return _read(place, name)[:2]
    except (OSError, ValueError):
        return None


def _read(place: Place, name: str) -> tuple[dict[str, Any], bytes, os.stat_result]:
    """Description, code and status of a file. Raises OSError or ValueError if it cannot be used."""
    with os.fdopen(place.open(name + SUFFIX, os.O_RDONLY), "rb") as file:
        status = os.fstat(file.fileno())
        if OWNED and (why := _distrusted(status.st_uid, status)):
            raise PermissionError(why)
        data = file.read()
    start = len(MAGIC) + 32
    if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : start] != _digest(name, data[start:]):
        raise ValueError(f"{name} is damaged")
    header, _, code = data[start:].partition(b"\n")
    return json.loads(header), code, status


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + content).digest()


def write(name: str, description: dict[str, Any], code: bytes) -> None:
    """Keeps a kernel. A folder that cannot be written to is no reason to fail."""
    content = json.dumps(description).encode() + b"\n" + code
    aside = f"{name}.{os.urandom(8).hex()}{ASIDE}"
    with contextlib.suppress(OSError), _opened(make=True) as place:
        handle = place.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + _digest(name, content) + content)
            place.rename(aside, name + SUFFIX)
        except BaseException:
            with contextlib.suppress(OSError):
                place.remove(aside)
            raise


@dataclass(frozen=True)
class Entry:
    """A kept kernel: what it is, how large, when it was made."""

    name: str
    description: dict[str, Any]
    size: int
    made: float


def entries() -> Iterator[Entry]:
    """Everything that is kept and sound."""
    with contextlib.suppress(OSError), _opened() as place:
        for file in _files(place.path, SUFFIX):
            with contextlib.suppress(OSError, ValueError):
                description, _, status = _read(place, file.stem)
                yield Entry(file.stem, description, status.st_size, status.st_mtime)


def clear() -> int:
    """Throws everything away, sound or not; returns how many kernels there were."""
    count = 0
    for path in [*_files(folder(), SUFFIX), *_files(folder(), ASIDE)]:
        with contextlib.suppress(OSError):
            path.unlink()
            count += path.suffix == SUFFIX
    return count


def _files(path: Path, suffix: str) -> list[Path]:
    """The files of ours in a folder."""
    return sorted(file for file in path.glob("*" + suffix) if NAME.fullmatch(file.name.partition(".")[0]))
