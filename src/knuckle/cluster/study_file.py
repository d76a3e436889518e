"""Studies as files: a TOML file that says which model, which samples and what is computed of them."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knuckle import robots
from knuckle.errors import near, printable
from knuckle.formats import load
from knuckle.model import Model
from knuckle.simulation.long_runs.progress import Progress

from .designs import Design, grid, latin_hypercube, random, samples, sobol
from .ranges import normal, options, uniform

TABLES = ("model", "base", "into", "design", "rollout", "kernel", "measure", "keep", "parameters", "run")
DESIGNS: dict[str, Callable[..., Design]] = {
    "grid": grid, "samples": samples, "sobol": sobol, "latin_hypercube": latin_hypercube, "random": random,
}  # fmt: skip
RUN = ("chunk", "dtype", "workers", "address", "on_error")


class StudyError(ValueError):
    """A study file that cannot be used: says which entry, what is there and what is needed."""


@dataclass(frozen=True, eq=False)
class Study:
    """What a study file says."""

    model: Model
    design: Design
    into: Path
    settings: Mapping[str, Any]
    """All other arguments of `kn.sweep`"""

    def sweep(self, *, progress: Progress = None, **other: Any) -> Any:
        """Carries it out; `other` goes before what the file says."""
        from .sweeping import sweep

        into = other.pop("into", None) or self.into
        return sweep(self.model, self.design, into, progress=progress, **{**self.settings, **other})


def read_study(path: str | Path) -> Study:
    """The study in a TOML file. Its paths are relative to the file; "file.py:name" is a function in a Python file,
    which is run for that.
    """
    file = Path(path)
    try:
        entries = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{file}: {error}") from None
    _known(file, "", entries, TABLES)
    for name in ("model", "design"):
        if name not in entries:
            raise StudyError(f"{file}: {name} is missing")
    functions = _Functions(file)
    run = _table(file, entries, "run")
    _known(file, "run.", run, RUN)
    settings: dict[str, Any] = {
        name: functions.resolve(name, x) for name, x in _table(file, entries, "rollout").items()
    }
    for name in ("kernel", "measure"):
        if name in entries:
            settings[name] = functions.resolve(name, entries[name])
    settings |= {name: entries[name] for name in ("keep", "parameters") if name in entries} | run
    into = file.parent / str(entries.get("into", file.with_suffix(".sweep").name))
    return Study(_model(file, entries), _design(file, _table(file, entries, "design"), functions), into, settings)


def _known(file: Path, place: str, entries: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in entries:
        if name not in names:
            raise StudyError(f"{file}: there is no entry {printable(place + name)!r}{near(name, names)}")


def _table(file: Path, entries: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = entries.get(name, {})
    if not isinstance(value, dict):
        raise StudyError(f"{file}: {name} is {value!r}, and must be a table: [{name}]")
    return dict(value)


def _model(file: Path, entries: Mapping[str, Any]) -> Model:
    name, base = entries["model"], entries.get("base", "fixed")
    if not isinstance(name, str) or base not in ("fixed", "floating"):
        raise StudyError(
            f'{file}: model must be a file or a robot, and base "fixed" or "floating"; found {name!r}, {base!r}'
        )
    path = file.parent / name
    if path.is_file():
        return load(path, base=base)
    if name in robots.names():
        return robots.load(name, base=base)
    raise StudyError(f"{file}: model = {name!r} is no file beside it, and no bundled robot{near(name, robots.names())}")


def _design(file: Path, table: dict[str, Any], functions: _Functions) -> Design:
    kind = table.pop("kind", None)
    if kind not in DESIGNS:
        raise StudyError(f"{file}: design.kind is {kind!r}{near(kind, DESIGNS)}")
    holds = "values" if kind in ("grid", "samples") else "ranges"
    _known(file, "design.", table, (holds, "with") if holds == "values" else (holds, "count", "seed", "with"))
    further = table.pop("with", None)
    entries = table.pop(holds, None)
    if not isinstance(entries, dict) or not entries:
        raise StudyError(f"{file}: design.{holds} must be a table of parameters, and is {entries!r}")
    try:
        if holds == "values":
            found = DESIGNS[kind]({name: functions.each(name, x) for name, x in entries.items()})
        else:
            if "count" not in table:
                raise StudyError(f"{file}: design.count is missing: how many samples?")
            found = DESIGNS[kind]({name: _range(name, x, functions) for name, x in entries.items()}, **table)
    except StudyError:
        raise
    except (TypeError, ValueError) as error:
        raise StudyError(f"{file}: design: {error}") from None
    return found if further is None else found * _design(file, dict(further), functions)


def _range(name: str, value: Any, functions: _Functions) -> Any:
    """A pair of bounds, or a table with uniform, normal or options, and a shape."""
    if not isinstance(value, dict):
        return value
    own = dict(value)
    shape = own.pop("shape", None)
    shape = tuple(shape) if isinstance(shape, list) else shape
    if len(own) != 1:
        raise TypeError(f"{name} must have one of uniform, normal and options, and has {sorted(own)}")
    ((word, content),) = own.items()
    if word == "options":
        return options(functions.each(name, content))
    makers = {"uniform": uniform, "normal": normal}
    if word not in makers or not isinstance(content, list) or len(content) != 2:
        raise TypeError(f"{name} must be [low, high] or {{ normal = [mean, deviation] }}, and is {value!r}")
    return makers[word](*content, shape)


class _Functions:
    """The functions that a study names: those of Python files beside it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._modules: dict[Path, Any] = {}

    def each(self, name: str, values: Any) -> Any:
        return [self.resolve(name, x) for x in values] if isinstance(values, list) else values

    def resolve(self, name: str, value: Any) -> Any:
        """The function that "file.py:name" stands for; all else is itself."""
        if not isinstance(value, str) or ".py:" not in value:
            return value
        place, _, function = value.rpartition(":")
        path = (self._file.parent / place).resolve()
        if not path.is_file():
            raise StudyError(f"{self._file}: {name} = {value!r}: there is no file {path}")
        module = self._modules.get(path) or self._loaded(path)
        self._modules[path] = module
        if not hasattr(module, function):
            names = [one for one in vars(module) if not one.startswith("_")]
            raise StudyError(
                f"{self._file}: {name} = {value!r}: {path.name} has no {function!r}{near(function, names)}"
            )
        return getattr(module, function)

    def _loaded(self, path: Path) -> Any:
        title = f"study_{path.stem}"
        spec = importlib.util.spec_from_file_location(title, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[title] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise StudyError(f"{self._file}: {path.name} raises {type(error).__name__}: {error}") from error
        from .pickling import by_value

        by_value(title)
        return module
