"""Scalars already apart: vectors and matrices of symbols or numbers go through a text as they are.

That is how functions are called inside the text of a kernel: everything there is a vector or a matrix of scalars, of
one state, and so is every result.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from knuckle.engine.arrays.base import Arrays, Container, Shape, Text, put_together
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.trace import Expression
from knuckle.spatial import Matrix, Vector

from .words.batch_or_matrix import named_matrix


class Scalars(Container):
    """Vectors and matrices of scalars, without batch axes."""

    def compute(self, text: Text, arrays: Arrays) -> Any:
        is_users = isinstance(text, Specialization) and text.is_users
        scalars = {
            name: composed(name, value, shape, f"; {named_matrix(name)}" if is_users and len(shape) == 1 else "")
            for name, (value, shape) in arrays.items()
        }
        symbolic = any(isinstance(x, Expression) for value in scalars.values() for x in _entries(value))
        on = text.on_symbols if symbolic and isinstance(text, Specialization) else text
        flat, layout = on(scalars)
        return layout.together(flat, put_together)


def composed(name: str, value: Any, shape: Shape, way_out: str = "") -> Vector | Matrix:
    """A sequence of scalars as a vector, nested sequences as a matrix; or an error that names the argument."""
    if isinstance(value, Matrix):
        value = value.rows
    array = cast("np.ndarray[Any, Any]", value) if isinstance(value, np.ndarray) else _array(value)
    if array.shape != shape and (array.size or 0 not in shape):
        said = f"{name} has shape {array.shape}, and must have shape {shape}: a kernel's text sees one state"
        raise ValueError(said + (way_out if array.ndim != len(shape) else ""))
    entries: list[Any] = array.tolist()  # of a NumPy array of numbers: Python's
    return Vector(entries) if len(shape) == 1 else Matrix(entries, shape[-1])


def _array(value: Any) -> np.ndarray[Any, Any]:
    """Nested sequences as an array of what they hold: NumPy would look into some scalars, and convert others."""
    array = np.empty(_shape(value), object)
    for index in np.ndindex(array.shape):
        entry = value
        for k in index:
            entry = entry[k]
        array[index] = entry
    return array


def _shape(value: Any) -> Shape:
    """The shape of nested sequences, without a look into the scalars."""
    if not isinstance(value, (list, tuple, Vector)):
        return ()
    items = list(cast("Iterable[Any]", value))
    return (len(items), *(_shape(items[0]) if items else ()))


def _entries(value: Vector | Matrix) -> list[Any]:
    return list(value) if isinstance(value, Vector) else [x for row in value.rows for x in row]
