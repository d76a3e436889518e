"""What the kinds of array share: how arguments come apart into scalars, and how results go together."""

from __future__ import annotations

import math
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from knuckle.errors import ModelError
from knuckle.scalar import ONE, ZERO
from knuckle.scalar.arrays.conversion import array_of
from knuckle.scalar.arrays.stack import Stack
from knuckle.spatial import Matrix, Vector

if TYPE_CHECKING:
    from .result_layout import Layout

Shape: TypeAlias = tuple[int, ...]
Text: TypeAlias = "Callable[[Mapping[str, Any]], tuple[list[Any], Layout]]"
"""A function of scalars, which are vectors and matrices by the name of the argument: the scalars of its results in a
row, and how they go together."""
Arrays: TypeAlias = Mapping[str, tuple[Any, Shape]]
"""The array arguments by name, each with the shape it must end in."""


class Container(ABC):
    """One kind of array."""

    @abstractmethod
    def compute(self, text: Text, arrays: Arrays) -> Any:
        """`text` of the scalars of `arrays`, as an array of this kind."""


def never_defined(error: ZeroDivisionError) -> ModelError:
    """What to say of a text that divides by what is zero in every state."""
    return ModelError(
        "a division by a number that is zero in every state: a joint that moves no inertia (`knuckle.audit` names it), "
        f"or a frame asked about a direction in which it never moves ({error})"
    )


def is_of_library(error: ZeroDivisionError) -> bool:
    """Whether nothing but the library's own text was on the way to an error."""
    frames = traceback.walk_tb(error.__traceback__)
    return all(str(frame.f_globals.get("__name__", "")).startswith("knuckle.") for frame, _ in frames)


def in_one_row(array: Any, batch: Shape, shape: Shape) -> Any:
    """An array for a batch of states with one axis for all of them, also where there are none, or nothing in them."""
    return np.broadcast_to(array, batch + shape).reshape(math.prod(batch), *shape)


def shape_of(result: Any) -> Shape:
    """The shape of what a text returned."""
    if isinstance(result, (Matrix, Stack)):
        return result.shape
    if isinstance(result, (Vector, tuple, list)):
        items = cast("Sequence[Any]", result)
        inner = shape_of(items[0]) if len(items) and isinstance(items[0], (Vector, Matrix, list)) else ()
        return (len(items), *inner)
    return (len(result.components),) if hasattr(result, "components") else ()


def scalars_of(result: Any) -> list[Any]:
    """The scalars of what a text returned, row by row, structural ones as numbers."""
    if isinstance(result, Matrix):
        return [plain(x) for row in result.rows for x in row]
    if isinstance(result, Stack):
        return [plain(x) for x in result.entries.flat]
    if isinstance(result, (Vector, tuple, list)):
        return [x for item in cast("Sequence[Any]", result) for x in scalars_of(item)]
    return [plain(x) for x in (result.components if hasattr(result, "components") else [result])]


def plain(x: Any) -> Any:
    """A structural zero or one as a number."""
    return int(x) if x is ZERO or x is ONE else x


def apart(values: list[Any], shape: Shape) -> Vector | Matrix:
    """Nested lists of scalars as a vector or a matrix."""
    return Vector(values) if len(shape) == 1 else Matrix(values, shape[-1])


def put_together(scalars: Sequence[Any], shape: Shape) -> Any:
    """Scalars in a row as a scalar, a vector, a matrix, or a stack of matrices."""
    match shape:
        case ():
            return scalars[0]
        case (_,):
            return Vector(scalars)
        case (m, n):
            return Matrix((scalars[i * n : (i + 1) * n] for i in range(m)), n)
        case _:
            return array_of(scalars, shape)


def must_end_in(name: str, actual: Shape, shape: Shape) -> None:
    """An error that names the argument, unless its shape is right."""
    if len(actual) < len(shape) or actual[len(actual) - len(shape) :] != shape:
        expected = ", ".join(["...", *map(str, shape)])
        raise ValueError(f"{name} has shape {actual}, and must have shape ({expected})")


def common_batch(values: Mapping[str, np.ndarray[Any, Any]], arrays: Arrays) -> Shape:
    """The batch axes of all arguments together."""
    batches = {name: array.shape[: array.ndim - len(arrays[name][1])] for name, array in values.items()}
    return broadcast(batches)


def broadcast(batches: Mapping[str, Shape], way_out: str = "") -> Shape:
    """Batch axes together, or an error that lists them and may name a way out."""
    different = set(batches.values())
    if len(different) == 1:
        return different.pop()
    try:
        return np.broadcast_shapes(*batches.values())
    except ValueError:
        listed = ", ".join(f"{name} {batch}" for name, batch in batches.items())
        raise ValueError(f"the batch axes of the arguments do not broadcast: {listed}{way_out}") from None
