"""The model a command is about: a file, or the name of a bundled robot."""

from __future__ import annotations

import difflib
import os
import warnings
from pathlib import Path

from knuckle import robots
from knuckle.formats import load
from knuckle.formats.base_link import Base
from knuckle.model import Model

from .failures import UnusableError, tell
from .options import MODEL_SUFFIXES


def open_model(file: str, base: Base, mimic: bool, merge_fixed: bool = True, *, tells: bool = True) -> Model:
    """The model in `file`; a file goes before a bundled robot of the same name. Warnings are a line each on stderr."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", RuntimeWarning)
        model = _opened(file, base, mimic, merge_fixed)
    for text in dict.fromkeys(str(x.message) for x in raised):
        if tells:
            tell(f"warning: {text}")
    return model


def _opened(file: str, base: Base, mimic: bool, merge_fixed: bool) -> Model:
    if os.path.isdir(file) and file not in robots.names():
        models = sorted(p.name for p in Path(file).iterdir() if p.suffix.lower() in MODEL_SUFFIXES)
        holds = f"; it holds {', '.join(models[:5])}" if models else ""
        raise UnusableError(f"{file}: a folder, not a model file{holds}")
    if os.path.exists(file) and not os.access(file, os.R_OK):
        raise UnusableError(f"{file}: it may not be read")
    if os.path.exists(file) and not os.path.isdir(file):
        return load(file, base=base, mimic=mimic, merge_fixed=merge_fixed)
    if file in robots.names():
        return robots.load(file, base=base, mimic=mimic, merge_fixed=merge_fixed)
    raise UnusableError(f"{file}: no such file{_near(file)}; bundled robots: {', '.join(robots.names())}")


def _near(file: str) -> str:
    """What the file may have been: names like it in its folder, or bundled ones."""
    path = Path(file)
    here = [str(path.with_name(entry.name)) for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(file, [*here, *robots.names()], n=2)
    return f" (did you mean {' or '.join(close)}?)" if close else ""
