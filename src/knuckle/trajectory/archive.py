"""Arrays and facts in one npz file: it appears whole or not at all, and is checked when it is read."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import zipfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FACTS, DIGEST = "facts", "sha256"


@contextlib.contextmanager
def written_aside(path: Path, mode: int = 0o666) -> Generator[Path]:
    """A file next to `path` to write to. It is brought to the disk and renamed: readers see the old file or the new."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}")
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        yield aside
        _sync(aside, os.O_RDWR)
        os.replace(aside, path)
        with contextlib.suppress(OSError):  # systems that open no folders see to it themselves
            _sync(path.parent, os.O_RDONLY)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_archive(path: Path, arrays: Mapping[str, Any], facts: Mapping[str, Any], mode: int = 0o666) -> None:
    """An npz file of arrays and of facts that JSON can say, with a checksum over all of it."""
    text = np.frombuffer(json.dumps(facts, allow_nan=True).encode(), np.uint8)
    members = {name: np.asarray(value) for name, value in arrays.items()} | {FACTS: text}
    digest = np.frombuffer(_digest(members), np.uint8)
    with written_aside(path, mode) as aside, aside.open("wb") as file:
        np.savez(file, allow_pickle=False, **members, **{DIGEST: digest})


def read_archive(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and facts of a file. Raises ValueError if it is damaged or not ours, OSError if it is not there."""
    try:
        with np.load(path, allow_pickle=False) as file:
            members = {name: file[name] for name in file.files}
        digest = members.pop(DIGEST).tobytes()
        facts = json.loads(members[FACTS].tobytes()) if digest == _digest(members) else None
    except (KeyError, ValueError, EOFError, AttributeError, zipfile.BadZipFile, NotImplementedError) as error:
        raise ValueError(f"{path} is damaged, or was not written by knuckle: {error}") from None
    if facts is None:
        raise ValueError(f"{path} is damaged: its content is not what its checksum says")
    del members[FACTS]
    return members, facts


def _digest(members: Mapping[str, NDArray[Any]]) -> bytes:
    digest = hashlib.sha256()
    for name, value in sorted(members.items()):
        digest.update(f"{name} {value.dtype.str} {value.shape}\n".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    return digest.digest()
