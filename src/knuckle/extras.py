"""Packages that come with extras: imported when they are first needed, and how people get those that are not there."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from pathlib import Path
from typing import Any


def need(package: str, what: str, extra: str) -> Any:
    """The package, or an ImportError that says what needs it and how to get it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.split(".")[0]
        if error.name is not None and error.name.split(".")[0] != name:
            raise
        raise ImportError(missing(what, name, extra), name=name) from None


def missing(what: str, package: str, extra: str) -> str:
    """`what` ("the viewer needs") with a package that is not installed, and the command that installs it."""
    return f"{what} {package}, which is not installed: {install(extra)}"


def install(extra: str) -> str:
    """A command that installs what an extra of knuckle needs into this environment, and works wherever it is typed."""
    packages = requirements(extra)
    names = " ".join(f'"{name}"' if re.search("[<>=~!]", name) else name for name in packages)
    return f"{installer()} install {names}" if names else f'{installer()} install ".[{extra}]" in a clone of knuckle'


def requirements(extra: str) -> list[str]:
    """The packages of an extra, as the installed knuckle states them; none if it is not installed."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        rows = requires("knuckle") or []
    except PackageNotFoundError:
        return []
    marked = (row.partition(";") for row in rows)
    return [name.strip() for name, _, mark in marked if re.fullmatch(rf"\s*extra == ['\"]{extra}['\"]\s*", mark)]


def installer() -> str:
    """`pip`, where that is the one of this environment; else this interpreter's, by its path."""
    return "pip" if _is_ours("pip") else f"{shown_path(sys.executable)} -m pip"


def program() -> str:
    """How `knuckle` is called in this environment: by its name where the shell finds it, else by its path."""
    return "knuckle" if _is_ours("knuckle") else shown_path(Path(sys.executable).parent / "knuckle")


def _is_ours(name: str) -> bool:
    """Whether the shell finds a program in the folder of this interpreter."""
    found = shutil.which(name)
    return found is not None and Path(found).parent == Path(sys.executable).parent


def shown_path(path: str | Path) -> str:
    """A path as one would type it from here."""
    absolute, here = Path(path), Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(absolute)
