"""What the arguments of a user's function are: arrays, numbers or options."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.arrays.symbolic_matrices import matrix_shape
from knuckle.model import Model
from knuckle.scalar import kind_of
from knuckle.spatial import Matrix, Vector

from .choose_container import package_of, unpacked

MATRIX = "f_ext"
"""The argument whose last two axes belong together: a wrench per body."""
_POSITIONS, _VELOCITIES = re.compile(r"q(_.*|\d*)"), re.compile(r"(v|a|tau)(_.*|\d*)")
_SYMBOLIC = ("casadi", "sympy", "mpmath")


@dataclass(frozen=True)
class Given:
    """An array argument: its value, and the shape of one state of it; () for a number."""

    value: Any
    shape: Shape

    @property
    def carried(self) -> tuple[Any, Shape]:
        """The value and its shape, a number as a vector of one."""
        if self.shape:
            return self.value, self.shape
        is_array = isinstance(self.value, np.ndarray)
        return self.value[np.newaxis] if is_array else [self.value], (1,)


def is_array(value: Any, *none: Any) -> bool:
    """Whether an argument is a number or an array of them, rather than an option."""
    if value is None or any(value is x for x in none) or isinstance(value, (bool, np.bool_, str, bytes)):
        return False
    if isinstance(value, (int, float, complex, np.generic, np.ndarray, list, tuple, Vector, Matrix)):
        return True
    if hasattr(value, "__array__") or package_of(value) in _SYMBOLIC:
        return True
    try:
        kind_of(value)
    except TypeError:
        return False
    return True


def given_as(name: str, value: Any) -> Given:
    """An array argument, with the shape of one state of it."""
    axes = 2 if name == MATRIX else 1
    if package_of(value) in _SYMBOLIC and (found := matrix_shape(value)):
        shape = found if axes == 2 else (math.prod(found),)
        return Given(value, shape)
    value = unpacked(value)
    try:
        found = _numeric_shape(value)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None
    if axes == 2 and len(found) < 2:
        raise ValueError(f"{name} has shape {found}, and must have shape (..., nb, 6)")
    return Given(value, found[-axes:] if found else ())


def _numeric_shape(value: Any) -> Shape:
    if isinstance(value, (list, tuple)):
        items = list(cast("Iterable[Any]", value))
        return np.shape(np.asarray(items, dtype=object if _holds_objects(items) else None))
    return np.shape(value) if hasattr(value, "__array__") else ()


def _holds_objects(value: Any) -> bool:
    """Whether NumPy should be kept from looking into what a list holds."""
    if isinstance(value, (list, tuple)):
        return any(map(_holds_objects, cast("Iterable[Any]", value)))
    return not isinstance(value, (int, float, complex, np.generic, np.ndarray))


def as_shape(name: str, said: Any) -> Shape:
    """A shape as it is said to `program`."""
    sizes: tuple[Any, ...] = cast("tuple[Any, ...]", said) if isinstance(said, tuple) else (None,)
    if all(isinstance(n, int) and n >= 0 for n in sizes):
        return sizes
    raise TypeError(f"the shape of {name} is a tuple such as () for a number or (7,) for a vector, not {said!r}")


def shape_by_name(model: Model, name: str) -> Shape | None:
    """The shape of an argument that is called like the library's own; None for others."""
    if name == MATRIX:
        return model.nb, model.algebra.dimension
    if _POSITIONS.fullmatch(name):
        return (model.nq,)
    return (model.nv,) if _VELOCITIES.fullmatch(name) else None
