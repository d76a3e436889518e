"""How the results of a user's function go together: arrays, in tuples and dictionaries."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    """Parts side by side, and what they are put into."""

    parts: tuple[Layout, ...]
    collect: Callable[[Sequence[Any]], Any]

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    def together(self, flat: Any, make: Callable[[Any, Shape], Any]) -> Any:
        """The results, each by what makes an array of some scalars and a shape."""
        made: list[Any] = []
        start = 0
        for part in self.parts:
            made.append(part.together(flat[..., start : start + part.size], make))
            start += part.size
        return self.collect(made)


Layout: TypeAlias = Single | Several


def laid_out(result: Any, name: str) -> tuple[list[Any], Layout]:
    """The scalars of what a function returned, and how they go together."""
    if isinstance(result, Mapping):
        named = cast("Mapping[Any, Any]", result)
        keys = tuple(named)
        return _side_by_side(list(named.values()), lambda made: dict(zip(keys, made, strict=True)), name)
    if isinstance(result, tuple):
        items = cast("tuple[Any, ...]", result)
        return _side_by_side(list(items), getattr(items, "_make", tuple), name)  # a named tuple stays one
    whole = _whole(result)
    shape, scalars = shape_of(whole), scalars_of(whole)
    for x in scalars:
        _must_be_number(x, name)
    if len(scalars) != math.prod(shape):
        raise TypeError(f"{name} returns rows of different lengths, which make no array")
    return scalars, Single(shape)


def _side_by_side(results: list[Any], collect: Callable[[Sequence[Any]], Any], name: str) -> tuple[list[Any], Several]:
    taken = [laid_out(result, name) for result in results]
    return [x for scalars, _ in taken for x in scalars], Several(tuple(layout for _, layout in taken), collect)


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
