"""Models that come with knuckle, for examples, tests and first steps."""

from __future__ import annotations

from pathlib import Path

from knuckle.errors import ModelError
from knuckle.formats import load as load_file
from knuckle.formats.base_link import Base
from knuckle.model import Model

__all__ = ["load", "names", "path"]

_FOLDER = Path(__file__).parent
_SUFFIXES = (".urdf", ".json")


def names() -> tuple[str, ...]:
    """The names of the bundled models."""
    return tuple(sorted(file.stem for file in _FOLDER.iterdir() if file.suffix in _SUFFIXES))


def path(name: str) -> Path:
    """The file of a bundled model."""
    for suffix in _SUFFIXES:
        file = _FOLDER / f"{name}{suffix}"
        if name in names() and file.is_file():
            return file
    raise ModelError(f"no bundled robot is called {name!r}; there are: {', '.join(names())}")


def load(name: str, *, base: Base = "fixed", mimic: bool = True, merge_fixed: bool = True) -> Model:
    """A bundled model by its name; base, mimic and merge_fixed are those of `knuckle.load`."""
    return load_file(path(name), base=base, mimic=mimic, merge_fixed=merge_fixed)
