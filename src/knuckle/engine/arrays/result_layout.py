"""How the results of a function go together: arrays, in tuples and dictionaries."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias, cast

import numpy as np

from knuckle.scalar import kind_of
from knuckle.spatial import Matrix, Vector

from .base import Shape, plain, scalars_of, shape_of


@dataclass(frozen=True)
class Single:
    """One array."""

    shape: Shape

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def together(self, flat: Any, make: Callable[[Any, Shape], Any]) -> Any:
        """The result, by what makes an array of some scalars and a shape."""
        return make(flat, self.shape)


@dataclass(frozen=True)
class Several:
    """Parts side by side: a dictionary if they have names, else what `collect` makes of a list of them."""

    parts: tuple[Layout, ...]
    names: tuple[Any, ...] | None = None
    collect: Callable[[Sequence[Any]], Any] = tuple

    @property
    def named_tuple(self) -> type | None:
        """The class of the named tuple that they make, if they do."""
        owner: Any = getattr(self.collect, "__self__", None)
        return cast("type", owner) if isinstance(owner, type) and issubclass(owner, tuple) else None

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    @property
    def shape(self) -> Shape:
        """Of all scalars in a row."""
        return (self.size,)

    def together(self, flat: Any, make: Callable[[Any, Shape], Any]) -> Any:
        """The results, each by what makes an array of some scalars and a shape. The scalars are on the last axis."""
        results: list[Any] = []
        start = 0
        for part in self.parts:
            place = slice(start, start + part.size)
            results.append(part.together(flat[place] if isinstance(flat, list) else flat[..., place], make))
            start += part.size
        return self.collect(results) if self.names is None else dict(zip(self.names, results, strict=True))


Layout: TypeAlias = Single | Several


def described(layout: Layout) -> Any:
    """A layout as JSON; None if that cannot be."""
    if isinstance(layout, Single):
        return list(layout.shape)
    parts = [described(part) for part in layout.parts]
    names = layout.names and list(layout.names)
    is_plain = all(isinstance(name, str) for name in names or ()) and None not in parts
    if layout.collect is tuple:
        return {"names": names, "parts": parts} if is_plain else None
    place = _place(layout.named_tuple)
    return {"names": names, "parts": parts, "class": place} if is_plain and place else None


def _place(kind: type | None) -> list[str] | None:
    """The module and the name of a class of the library, which is where it is looked for."""
    if kind is None or not kind.__module__.startswith("knuckle."):
        return None
    place = [kind.__module__, kind.__name__]
    return place if getattr(import_module(place[0]), place[1], None) is kind else None


def from_description(description: Any) -> Layout:
    """The layout that was described."""
    if isinstance(description, list):
        return Single(tuple(cast("list[int]", description)))
    names, place = description["names"], description.get("class")
    collect = getattr(import_module(place[0]), place[1])._make if place else tuple
    parts = tuple(map(from_description, description["parts"]))
    return Several(parts, None if names is None else tuple(names), collect)


def laid_out(result: Any, name: str, *, of_one_state: bool = True) -> tuple[list[Any], Layout]:
    """The scalars of what a function returned in a row, and how they go together.

    In a text of one state NumPy's arrays are vectors and matrices; elsewhere they are scalars of many states.
    """
    if isinstance(result, Mapping):
        named = cast("Mapping[Any, Any]", result)
        scalars, parts = _side_by_side(list(named.values()), name, of_one_state)
        return scalars, Several(parts, tuple(named))
    if isinstance(result, tuple):
        items = cast("tuple[Any, ...]", result)
        scalars, parts = _side_by_side(list(items), name, of_one_state)
        return scalars, Several(parts, None, getattr(items, "_make", tuple))  # a named tuple stays one
    if not of_one_state:
        return scalars_of(result), Single(shape_of(result))
    whole = _whole(result)
    shape, scalars = shape_of(whole), scalars_of(whole)
    for x in scalars:
        _must_be_number(x, name)
    if len(scalars) != math.prod(shape):
        raise TypeError(f"{name} returns rows of different lengths, which make no array")
    return scalars, Single(shape)


def _side_by_side(results: list[Any], name: str, of_one_state: bool) -> tuple[list[Any], tuple[Layout, ...]]:
    taken = [laid_out(result, name, of_one_state=of_one_state) for result in results]
    return [x for scalars, _ in taken for x in scalars], tuple(layout for _, layout in taken)


def _whole(result: Any) -> Any:
    """Nested lists and arrays as vectors and matrices."""
    if isinstance(result, np.ndarray):
        return _whole(cast("np.ndarray[Any, Any]", result).tolist())
    if isinstance(result, list):
        items = [_whole(item) for item in cast("list[Any]", result)]
        rows = [list(item) for item in items if isinstance(item, Vector)]
        return Matrix(rows) if rows and len(rows) == len(items) else items if _composed(items) else Vector(items)
    return plain(result)


def _composed(items: list[Any]) -> bool:
    return any(isinstance(item, (Matrix, list)) or hasattr(item, "components") for item in items)


def _must_be_number(x: Any, name: str) -> None:
    try:
        kind_of(x)
    except TypeError:
        kind = type(x).__name__
        raise TypeError(
            f"{name} returns a {kind}, and must return a number, a vector, a matrix, or a tuple or dict of them"
        ) from None
