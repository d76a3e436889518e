"""NumPy arrays of numbers: scalars are lanes, arrays over the batch axes."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from knuckle.engine.arrays.base import (
    Arrays,
    Container,
    Shape,
    Text,
    apart,
    common_batch,
    in_one_row,
    must_end_in,
    never_defined,
    scalars_of,
    shape_of,
)
from knuckle.engine.kernels.kernel_registry import DTYPES, kernels
from knuckle.engine.kernels.specialization import Recipe
from knuckle.spatial import Matrix, Vector

NumPyArray: TypeAlias = np.ndarray[Any, Any]
_Lanes: TypeAlias = Mapping[str, NumPyArray]
_Shapes: TypeAlias = Mapping[str, Shape]

BLOCK = 8192
"""States computed at a time: their intermediate lanes stay in the cache, and memory stays bounded."""

_PYTHON = (np.dtype(np.float64), np.dtype(np.complex128))
"""For a single state of these, Python's own numbers are faster than arrays of one entry."""


class Lanes(Container):
    """NumPy arrays of numbers, with any batch axes before those an argument needs.

    The result has the precision that the arguments have together: float32 only if all are, float64 for integers.
    """

    def compute(self, text: Text, arrays: Arrays) -> Any:
        given = {name: numbers(name, value, shape) for name, (value, shape) in arrays.items()}
        batch, asked = common_batch(given, arrays), _precision(given.values())
        dtype = np.result_type(asked, np.float64) if isinstance(text, Recipe) and text.wide else asked
        shapes = {name: shape for name, (_, shape) in arrays.items()}
        lanes = {name: array.astype(dtype, copy=False) for name, array in given.items()}
        try:
            result = _native(text, lanes, shapes, batch, dtype)
            result = _plain(text, lanes, shapes, batch, dtype) if result is None else result[()]
            return result.astype(asked, copy=False)
        except ZeroDivisionError as error:
            raise never_defined(error) from error


def checked(arrays: Arrays) -> tuple[dict[str, NumPyArray], np.dtype[Any]]:
    """The arguments in double precision, or an error that names the one that does not fit; the precision they have."""
    given = {name: numbers(name, value, shape) for name, (value, shape) in arrays.items()}
    common_batch(given, arrays)
    asked = _precision(given.values())
    wide = np.result_type(asked, np.float64)
    return {name: array.astype(wide, copy=False) for name, array in given.items()}, asked


def numbers(name: str, value: Any, shape: Shape) -> NumPyArray:
    """`value` as an array of numbers that ends in `shape`, or an error that names the argument."""
    masked = sys.modules.get("numpy.ma")  # which takes a while to load: nobody has one before
    if masked is not None and isinstance(value, masked.MaskedArray):
        raise TypeError(f"{name} is a masked array: fill in or leave out what is masked")
    try:
        array: NumPyArray = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "iufc":
        raise TypeError(f"{name} holds {_held(array)}, and must hold real or complex numbers")
    must_end_in(name, array.shape, shape)
    return array


def _held(array: NumPyArray) -> str:
    if array.dtype != object:
        return str(array.dtype)
    strange: list[Any] = [x for x in array.ravel().tolist() if not isinstance(x, (int, float, complex))]
    return f"{type(strange[0]).__name__} objects" if strange else "objects"


def _native(text: Text, lanes: _Lanes, shapes: _Shapes, batch: Shape, dtype: np.dtype[Any]) -> NumPyArray | None:
    """The result by native code; None without it."""
    kernel = kernels.find(text, shapes, dtype, math.prod(batch)) if isinstance(text, Recipe) else None
    return None if kernel is None else kernel(list(lanes.values()), batch)


def _plain(text: Text, lanes: _Lanes, shapes: _Shapes, batch: Shape, dtype: np.dtype[Any]) -> Any:
    """The result by the text itself."""
    with np.errstate(all="ignore"):
        if batch == () and dtype in _PYTHON:
            try:
                result = text({name: apart(array.tolist(), shapes[name]) for name, array in lanes.items()})
                return _filled(result, batch, dtype)
            except (ArithmeticError, ValueError):
                pass  # a division by zero or a sine of infinity: NumPy carries on with inf and nan
        return _in_blocks(text, lanes, shapes, batch, dtype)


def _precision(given: Iterable[NumPyArray]) -> np.dtype[Any]:
    different = {array.dtype for array in given}
    if len(different) == 1 and different <= DTYPES.keys():
        return different.pop()
    return np.result_type(np.float32, *(np.float64 if dtype.kind in "iu" else dtype for dtype in different))


def _in_blocks(text: Text, arrays: _Lanes, shapes: _Shapes, batch: Shape, dtype: np.dtype[Any]) -> Any:
    size = math.prod(batch)
    if size <= BLOCK:
        return _filled(text({name: _lanes(array, shapes[name]) for name, array in arrays.items()}), batch, dtype)
    flat = {name: _flat(array, batch, shapes[name]) for name, array in arrays.items()}
    parts: list[NumPyArray] = []
    for start in range(0, size, BLOCK):
        block = {name: array[start : start + BLOCK] if array.ndim > len(shapes[name]) else array
                 for name, array in flat.items()}  # fmt: skip
        result = text({name: _lanes(array, shapes[name]) for name, array in block.items()})
        parts.append(_filled(result, (min(BLOCK, size - start),), dtype))
    return np.concatenate(parts).reshape(batch + parts[0].shape[1:])


def _flat(array: NumPyArray, batch: Shape, shape: Shape) -> NumPyArray:
    """The array with its batch axes made one; without one if all states share it."""
    if array.size == math.prod(shape):
        return array.reshape(shape)
    return in_one_row(array, batch, shape)


def _lanes(array: NumPyArray, shape: Shape) -> Vector | Matrix:
    if len(shape) == 1:
        return Vector(np.ascontiguousarray(array[..., k]) for k in range(shape[0]))
    rows = ([np.ascontiguousarray(array[..., j, k]) for k in range(shape[1])] for j in range(shape[0]))
    return Matrix(rows, shape[1])


def _filled(result: Any, batch: Shape, dtype: np.dtype[Any]) -> Any:
    """The result as an array; a single number as NumPy's scalar, as NumPy's own functions give it."""
    scalars = scalars_of(result)
    filled = np.empty((*batch, len(scalars)), dtype)
    for k, x in enumerate(scalars):
        filled[..., k] = x
    return filled.reshape(batch + shape_of(result))[()]
