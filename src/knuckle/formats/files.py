"""Reading and writing model files, with errors that say what is wrong with the path."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from knuckle.errors import ModelError

MAX_BYTES = 64 * 2**20


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a model file.

    Raises:
        ModelError: there is no such file, it is a folder or a device, empty, too large, or may not be read.
    """
    name = os.fspath(path)
    size = check_regular(name)
    if size == 0:
        raise ModelError("the file is empty", file=name)
    if size > MAX_BYTES:
        raise ModelError(f"{size} bytes; the limit is {MAX_BYTES // 2**20} MiB", file=name)
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", file=name) from None


def check_regular(name: str) -> int:
    """The size of a regular file, without opening it: a pipe or a device would never end.

    Raises:
        ModelError: there is no such file, or it is a folder, a pipe or a device.
    """
    try:
        status = os.stat(name)
    except (OSError, ValueError) as error:
        raise ModelError(_no_file(name, error), file=name) from None
    if stat.S_ISDIR(status.st_mode):
        models = sorted(p.name for p in Path(name).glob("*") if p.suffix in (".urdf", ".xml", ".json"))
        hint = f"; it holds {', '.join(models[:5])}" if models else ""
        raise ModelError(f"a folder, not a model file{hint}", file=name)
    if not stat.S_ISREG(status.st_mode):
        raise ModelError("not a regular file", file=name)
    return status.st_size


def _no_file(name: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        folder = os.path.dirname(os.path.abspath(name))
        missing = "" if os.path.isdir(folder) else f"; there is no folder {folder}"
        return f"no such file{missing}"
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file whole: a reader sees the old content or the new one, never a part."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        os.replace(temporary, target)
    except OSError as error:  # of the file that was asked for, not of the one beside it
        raise type(error)(error.errno, error.strerror, str(target)) from None
    finally:
        temporary.unlink(missing_ok=True)
