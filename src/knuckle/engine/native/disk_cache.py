"""Compiled kernels on disk: one file each, named by what it was made from, checked when it is read.

The folder is `KNUCKLE_CACHE_DIR`, or `knuckle` in the user's cache folder; nobody else can read it. Files appear at
once and whole (written aside and renamed), so that processes may share the folder. A file that is damaged, or of
another name or format, is as good as none. There is an end to what is kept: beyond a limit, the files that were not
read for longest are removed. Code is read only from a folder that is ours and that nobody else can write
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
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from knuckle.rooms import DECIDE_KERNELS
from knuckle.warning import warn

from .byte_sizes import Budget, parsed_size

MAGIC = b"knuckle kernel 1\n"
SUFFIX, ASIDE = ".kernel", ".part"
NAME = re.compile(r"[0-9a-f]{64}")
OWNED = hasattr(os, "geteuid")
"""Whether files have an owner and a mode: elsewhere a user's cache folder is the user's."""
LIMIT, VARIABLE, LIMIT_FILE = 1_000_000_000, "KNUCKLE_CACHE_LIMIT", "limit"
"""Bytes that are kept unless the environment or a file in the folder says otherwise."""
NOTED = 3600.0
"""Seconds after which another use of a file is noted."""
ABANDONED = 3600.0
"""Seconds after which nobody is still writing a file that lies aside."""


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
    root = str(Path(__file__).parents[2])
    folders = [folder for room in DECIDE_KERNELS for folder in os.walk(os.path.join(root, room))]
    paths = [os.path.join(folder, name) for folder, _, names in folders for name in names if name.endswith(".py")]
    for path in sorted(paths):
        with open(path, "rb", buffering=0) as file:
            digest.update(path[len(root) :].encode() + b"\0" + file.read())
    return digest.hexdigest()


def key(*parts: Any) -> str:
    """The name of what is made from these parts."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


@dataclass(frozen=True)
class CacheFolder:
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
def _opened(make: bool = False) -> Generator[CacheFolder]:
    """The folder to use. Raises OSError if there is none, or none to be trusted; the latter is said once."""
    path = folder()
    if make:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not OWNED:
        yield CacheFolder(path, None)
        return
    link = os.lstat(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if why := _distrusted(link.st_uid, os.fstat(descriptor)):
            if path not in _refused:
                _refused.add(path)
                warn(f"no compiled kernels are kept in {path}: {why}")
            raise PermissionError(why)
        yield CacheFolder(path, descriptor)
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
            found = _read(place, name, is_use=True)[:2]
    except (OSError, ValueError):
        return None
    _met.add(name)
    return found


def _read(place: CacheFolder, name: str, *, is_use: bool = False) -> tuple[dict[str, Any], bytes, os.stat_result]:
    """Description, code and status of a file. Raises OSError or ValueError if it cannot be used."""
    quietly = 0 if is_use else getattr(os, "O_NOATIME", 0)  # a look at the list is no use of what is in it
    with os.fdopen(place.open(name + SUFFIX, os.O_RDONLY | quietly), "rb") as file:
        status = os.fstat(file.fileno())
        if OWNED and (why := _distrusted(status.st_uid, status)):
            raise PermissionError(why)
        data = file.read()
        if is_use:
            _note_use(file.fileno(), status)
    start = len(MAGIC) + 32
    if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : start] != _digest(name, data[start:]):
        raise ValueError(f"{name} is damaged")
    header, _, code = data[start:].partition(b"\n")
    return json.loads(header), code, status


def _note_use(descriptor: int, status: os.stat_result) -> None:
    """Says when a file was last read, which the system may not do by itself."""
    if os.utime in os.supports_fd and time.time() - status.st_atime > NOTED:
        with contextlib.suppress(OSError):
            os.utime(descriptor, ns=(time.time_ns(), status.st_mtime_ns))


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
            _met.add(name)
        except BaseException:
            with contextlib.suppress(OSError):
                place.remove(aside)
            raise
        if _budget.is_spent(place.path, len(content), limit()):
            trim()


_met: set[str] = set()
"""The names of what this process has read or written."""


def met() -> dict[str, tuple[dict[str, Any], bytes]]:
    """What this process has read or written so far, as far as it is still there: what its work needs, for others."""
    return {name: kept for name in sorted(_met) if (kept := read(name)) is not None}


@dataclass(frozen=True)
class Entry:
    """A kept kernel: what it is, how large, when it was made and last read."""

    name: str
    description: dict[str, Any]
    size: int
    made: float
    used: float


def entries() -> Iterator[Entry]:
    """Everything that is kept and sound."""
    with contextlib.suppress(OSError), _opened() as place:
        for file in _files(place.path, SUFFIX):
            with contextlib.suppress(OSError, ValueError):
                name = file.name.removesuffix(SUFFIX)
                description, _, status = _read(place, name)
                yield Entry(name, description, status.st_size, status.st_mtime, _used(status))


def _used(status: os.stat_result) -> float:
    return max(status.st_atime, status.st_mtime)


_budget = Budget()
"""What this process may write before it looks whether it is too much."""


def limit() -> int:
    """How many bytes are kept: as the environment says, else as a file in the folder does, else `LIMIT`."""
    said = os.environ.get(VARIABLE)
    if said:
        try:
            return parsed_size(said)
        except ValueError as error:
            warn(f"{VARIABLE} is {said!r}: {error}; taken as {LIMIT} bytes")
            return LIMIT
    try:
        with _opened() as place, os.fdopen(place.open(LIMIT_FILE, os.O_RDONLY), "rb") as file:
            return parsed_size(file.read(100).decode())
    except (OSError, ValueError):
        return LIMIT


def set_limit(size: int) -> int:
    """Keeps so many bytes in this folder from now on, in every process; returns how many kernels had to go."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with _opened(make=True) as place, os.fdopen(place.open(LIMIT_FILE, flags), "wb") as file:
        file.write(str(size).encode())
    return trim(size)


def trim(size: int | None = None) -> int:
    """Removes what was not read for longest until no more than `size` bytes are kept; returns how many kernels.

    If it is too much, somewhat more goes than has to, so that not every kernel that is made removes another. Processes
    that have read a file, or are reading it, have its code: they do not notice.
    """
    most, count = limit() if size is None else size, 0
    with contextlib.suppress(OSError), _opened() as place:
        found: list[tuple[float, int, str]] = []
        for file in _files(place.path, SUFFIX, ASIDE):
            with contextlib.suppress(OSError):
                status = file.stat(follow_symlinks=False)
                if file.name.endswith(SUFFIX):
                    found.append((_used(status), status.st_size, file.name))
                elif time.time() - status.st_mtime > ABANDONED:
                    place.remove(file.name)
        total = sum(bytes_ for _, bytes_, _ in found)
        if total <= most:
            return 0
        for _, bytes_, name in sorted(found):
            with contextlib.suppress(OSError):
                place.remove(name)
                count += 1
            total -= bytes_
            if total <= most - most // 8:
                break
    return count


def clear() -> int:
    """Throws everything away, sound or not; returns how many kernels there were."""
    count = 0
    for file in _files(folder(), SUFFIX, ASIDE):
        with contextlib.suppress(OSError):
            os.unlink(file)
            count += file.name.endswith(SUFFIX)
    return count


def _files(path: Path, *suffixes: str) -> list[os.DirEntry[str]]:
    """The files of ours in a folder."""
    with contextlib.suppress(FileNotFoundError), os.scandir(path) as files:
        ours = (file for file in files if file.name.endswith(suffixes) and NAME.fullmatch(file.name.partition(".")[0]))
        return sorted(ours, key=lambda file: file.name)
    return []
