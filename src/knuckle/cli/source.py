"""The model a command is about: a file, or the name of a bundled robot."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from knuckle import robots
from knuckle.errors import ModelError
from knuckle.formats import load
from knuckle.model import Model


def open_model(file: str, base: str, mimic: bool) -> Model:
    """The model in `file`; a file goes before a bundled robot of the same name."""
    if os.path.exists(file):
        return load(file, base=base, mimic=mimic)
    if file in robots.names():
        return robots.load(file, base=base, mimic=mimic)
    raise ModelError(f"no such file{_near(file)}; bundled robots: {', '.join(robots.names())}", file=file)


def _near(file: str) -> str:
    """What the file may have been: names like it in its folder, or bundled ones."""
    path = Path(file)
    here = [str(path.with_name(entry.name)) for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(file, [*here, *robots.names()], n=2)
    return f" (did you mean {' or '.join(close)}?)" if close else ""
