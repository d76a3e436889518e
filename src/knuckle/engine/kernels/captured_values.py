"""What a text takes from around itself, and whether that has changed since code was made of it.

A function may use numbers, arrays and other functions of its module and of the functions around it. In compiled code
they are constants, so code is as good as none once one of them has changed. What is watched is what the text, and the
functions that it calls, have names for: variables of modules and of enclosing functions; the contents of arrays, lists,
dictionaries and sets among them; attributes of objects, classes and modules. Objects without a `__dict__`, and what C
code keeps for itself, are not seen.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import sys
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, cast

import numpy as np

from knuckle.model import Model

PLAIN = (int, float, complex, str, bytes, np.generic, type(None))
"""What has a value and cannot change."""
_OURS, _KNOWN = "knuckle", {"numpy", "scipy", *sys.stdlib_module_names}
_MISSING: Any = object()
Space: TypeAlias = Mapping[str, Any]


class Surroundings:
    """What some texts take from around themselves, as it is now."""

    def __init__(self, texts: Iterable[Any]) -> None:
        self._names: set[str] = {"__call__"}
        roots, known = list(texts), 0
        while known != len(self._names):  # every function that is found may name further attributes
            known = len(self._names)
            self._seen: dict[int, Any] = {}
            self._cells: list[tuple[types.CellType, Any]] = []
            self._spaces: dict[tuple[int, str], tuple[Space, str, Any]] = {}
            self._contents: list[tuple[Any, Any]] = []
            for root in roots:
                self._visit(root)
        self._seen.clear()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that could change."""
        return not (self._cells or self._spaces or self._contents)

    def is_same(self) -> bool:
        """Whether nothing has changed."""
        for cell, held in self._cells:
            now = _inside(cell)
            if now is not held and not _is_held(now, held):
                return False
        for space, name, held in self._spaces.values():
            now = space.get(name, _MISSING)
            if now is not held and not _is_held(now, held):
                return False
        return all(_is_equal(_contents(thing), value) for thing, value in self._contents)

    def _visit(self, x: Any) -> None:
        if isinstance(x, (*PLAIN, Model)) or id(x) in self._seen:
            return
        self._seen[id(x)] = x
        package = _package(x)
        if isinstance(x, types.FunctionType):
            self._visit_function(x, package)
        elif isinstance(x, types.MethodType):
            self._visit_all((x.__self__, x.__func__))
        elif isinstance(x, functools.partial):
            self._visit_all((x.func, x.args, x.keywords))
        elif isinstance(x, (list, tuple, set, frozenset, dict, np.ndarray)):
            self._visit_container(x)
        elif package == _OURS:
            self._visit_all(_parts_of_ours(x))
        elif package not in _KNOWN or isinstance(x, types.SimpleNamespace):
            self._visit_attributes(x)

    def _visit_all(self, things: Iterable[Any]) -> None:
        for thing in things:
            self._visit(thing)

    def _visit_function(self, f: types.FunctionType, package: str) -> None:
        """What a function finds around itself; of the library's and of well-known ones only what is put into them."""
        for cell in f.__closure__ or ():
            self._cells.append((cell, _held(_inside(cell))))
            self._visit(_inside(cell))
        if package == _OURS or package in _KNOWN:
            return
        names = set(_names(f.__code__))
        self._names |= names
        self._visit_all((f.__defaults__, f.__kwdefaults__))
        self._visit_names(f.__globals__, names)

    def _visit_names(self, space: Space, names: Iterable[str]) -> None:
        for name in names:
            value = space.get(name, _MISSING)
            if value is not _MISSING and not (isinstance(value, types.ModuleType) and _is_library(value)):
                self._spaces[id(space), name] = space, name, _held(value)
                self._visit(value)

    def _visit_container(self, x: Any) -> None:
        if not issubclass(_type(x), (tuple, frozenset)):
            self._contents.append((x, _contents(x)))
        if not issubclass(_type(x), np.ndarray) or x.dtype == object:
            self._visit_all(x.values() if issubclass(_type(x), dict) else x)

    def _visit_attributes(self, x: Any) -> None:
        """The attributes of an object, a class or a module that the texts have names for."""
        space = getattr(x, "__dict__", None)
        if isinstance(space, Mapping):
            self._visit_names(cast("Space", space), [name for name in self._names if name in space])
        if isinstance(x, type):
            self._visit_all(x.__bases__)
        else:
            self._visit(type(x))


def surroundings(*texts: Any) -> Surroundings | None:
    """What texts take from around themselves; None if there is nothing that could change."""
    around = Surroundings(texts)
    return None if around.is_empty else around


def _package(x: Any) -> str:
    """The top package that a thing or its class belongs to."""
    if isinstance(x, types.ModuleType):
        return x.__name__.partition(".")[0]
    owner: Any = x if isinstance(x, (type, types.FunctionType)) else type(x)
    return str(getattr(owner, "__module__", None)).partition(".")[0]


def _is_library(module: types.ModuleType) -> bool:
    return _package(module) in {_OURS, *_KNOWN}


def _parts_of_ours(x: Any) -> Iterator[Any]:
    """What users may have put into an object of the library: functions and arrays in dataclasses, wrapped functions."""
    if not isinstance(x, type) and dataclasses.is_dataclass(x):
        yield from (getattr(x, field.name) for field in dataclasses.fields(x))
    else:
        yield getattr(x, "__wrapped__", None)


def _names(code: types.CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function and in those inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _inside(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return _MISSING


def _contents(x: Any) -> Any:
    """What a container holds, as something that does not change with it."""
    kind = _type(x)
    if issubclass(kind, np.ndarray):
        return x.shape, x.dtype, tuple(x.flat) if x.dtype == object else x.tobytes()
    return tuple(x.items()) if issubclass(kind, dict) else frozenset(x) if issubclass(kind, set) else tuple(x)


def _type(x: Any) -> type[object]:
    """The type of a thing; checking by it leaves the thing itself of any type."""
    return cast("type[object]", type(x))


def _held(x: Any) -> Any:
    """Something to know a value by again that keeps no model and no other large thing alive."""
    with contextlib.suppress(TypeError):
        return x if issubclass(type(x), PLAIN) else weakref.ref(x)
    return x


def _is_held(now: Any, held: Any) -> bool:
    """Whether a value is the one that is held."""
    return now is not None and now is held() if isinstance(held, weakref.ref) else _is_equal(now, held)


def _is_equal(a: Any, b: Any) -> bool:
    """Whether two values are the same thing, or the same number, text, or tuple or set of such."""
    if a is b:
        return True
    kind = _type(a)
    if kind is not type(b):
        return False
    if issubclass(kind, tuple):
        return len(a) == len(b) and all(map(_is_equal, a, b))
    if issubclass(kind, PLAIN):
        return bool(a == b) or bool(a != a and b != b)
    return issubclass(kind, (frozenset, np.dtype)) and a == b
