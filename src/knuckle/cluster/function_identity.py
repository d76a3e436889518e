"""What a function, or another thing that a study is made of, goes by in any process: its text and what it refers to."""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import inspect
import re
import sys
import textwrap
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from knuckle.model import Model

_KNOWN = {"knuckle", "numpy", "scipy", *sys.stdlib_module_names} - {"__main__"}
"""Packages whose functions go by their names; their versions are in the manifest."""
_PLACE = re.compile(r" at 0x[0-9a-fA-F]+")


def identity(thing: Any) -> str:
    """A name, and a hash of the text of a function and of what it takes from around itself."""
    digest = hashlib.sha256()
    for part in _parts(thing, set()):
        digest.update(part.encode() + b"\0")
    name = getattr(thing, "__qualname__", None) or getattr(thing, "name", None) or type(thing).__qualname__
    return f"{name} {digest.hexdigest()[:16]}"


def _parts(x: Any, seen: set[int]) -> Iterator[str]:
    """What tells a thing from others."""
    if isinstance(x, (type(None), bool, int, float, complex, str, bytes, np.generic)):
        yield f"{type(x).__name__} {x!r}"
        return
    if id(x) in seen:
        yield "again"
        return
    seen.add(id(x))
    if isinstance(x, Model):
        yield f"model {x.content_hash}"
    elif isinstance(x, np.ndarray) and x.dtype != object:
        yield f"array {x.dtype.str} {x.shape} {hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()}"
    elif isinstance(x, types.FunctionType):
        yield from _function(x, seen)
    elif isinstance(x, (functools.partial, types.MethodType)):
        of = (x.func, x.args, x.keywords) if isinstance(x, functools.partial) else (x.__func__, x.__self__)
        yield from _each(of, seen)
    elif isinstance(x, Mapping):
        yield from _each([z for item in x.items() for z in item], seen)
    elif isinstance(x, (list, tuple, set, frozenset)):
        yield type(x).__name__
        yield from _each(sorted(x, key=repr) if isinstance(x, (set, frozenset)) else x, seen)
    elif hasattr(x, "__wrapped__"):
        yield from _parts(getattr(x, "__wrapped__"), seen)  # noqa: B009 - arrays have none, says pyright
    elif isinstance(x, (type, types.ModuleType)) or _is_known(x):
        yield f"{getattr(x, '__module__', '')} {getattr(x, '__qualname__', None) or _PLACE.sub('', repr(x))}"
    elif dataclasses.is_dataclass(x):
        yield type(x).__qualname__
        yield from _each([getattr(x, field.name) for field in dataclasses.fields(x)], seen)
    else:
        yield f"{type(x).__qualname__} {'' if vars(type(x)).get('__call__') else _PLACE.sub('', repr(x))}"
        yield from _each(list(getattr(x, "__dict__", {}).values()), seen)
        if "__call__" in vars(type(x)):
            yield from _parts(type(x).__call__, seen)


def _each(things: Any, seen: set[int]) -> Iterator[str]:
    for thing in things:
        yield from _parts(thing, seen)


def _is_known(x: Any) -> bool:
    """Whether something belongs to a package that goes by its version, and is no container of the user's things."""
    return type(x).__module__.partition(".")[0] in _KNOWN and not dataclasses.is_dataclass(x)


def _function(f: types.FunctionType, seen: set[int]) -> Iterator[str]:
    yield f.__qualname__
    if f.__module__.partition(".")[0] in _KNOWN:
        yield f.__module__
    else:
        try:
            yield _code_of(inspect.getsource(f))
        except (OSError, TypeError):
            yield f.__code__.co_code.hex() + repr(
                [c for c in f.__code__.co_consts if not isinstance(c, types.CodeType)]
            )
        names = sorted(n for n in _names(f.__code__) if n in f.__globals__)
        yield from _each([f.__globals__[n] for n in names], seen)
        yield from _each([f.__defaults__, f.__kwdefaults__], seen)
    yield from _each([cell.cell_contents for cell in f.__closure__ or () if _is_set(cell)], seen)


def _code_of(source: str) -> str:
    """The text of a function without comments, docstrings and line breaks: what it computes does not depend on them.

    A lambda comes with the line that it stands in, which may be no statement by itself: that text stays as it is.
    """
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return source
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _names(code: types.CodeType) -> set[str]:
    """The names of globals in a function and in those inside it."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _is_set(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
