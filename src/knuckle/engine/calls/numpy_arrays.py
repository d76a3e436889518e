"""NumPy arrays of numbers: scalars are lanes, arrays over the batch axes."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from knuckle.engine.arrays.base import (
    Arrays,
    Container,
    Shape,
    Text,
    apart,
    common_batch,
    in_one_row,
    is_of_library,
    must_end_in,
    never_defined,
)
from knuckle.engine.arrays.result_layout import Layout
from knuckle.engine.kernels.kernel_registry import DTYPES, Kernel, kernels
from knuckle.engine.kernels.one_state import OneState
from knuckle.engine.kernels.specialization import Specialization
from knuckle.spatial import Matrix, Vector

NumPyArray: TypeAlias = np.ndarray[Any, Any]
_Lanes: TypeAlias = Mapping[str, NumPyArray]
_Shapes: TypeAlias = Mapping[str, Shape]

BLOCK = 8192
"""States computed at a time: their intermediate lanes stay in the cache, and memory stays bounded."""

_PYTHON = (np.dtype(np.float64), np.dtype(np.complex128))
"""For a single state of these, Python's own numbers are faster than arrays of one entry."""


class Computed(NamedTuple):
    """The scalars of the results of a batch: on the last axis, or in the shape of the one array that they make.

    `goes_straight` says whether batches of this size may go to native code without Python.
    """

    flat: Any
    layout: Layout
    batch: Shape
    dtype: np.dtype[Any]
    goes_straight: bool = False

    def together(self) -> Any:
        """The results."""

        def array(part: Any, shape: Shape) -> Any:
            """Some of the scalars as an array; a single number as NumPy's scalar, as NumPy's own functions give it."""
            whole = np.asarray(part).reshape(self.batch + shape)
            return (whole if whole.dtype is self.dtype else whole.astype(self.dtype, copy=False))[()]

        return self.layout.together(self.flat, array)


@dataclass(frozen=True)
class NumPyArrays(Container):
    """NumPy arrays of numbers, with any batch axes before those an argument needs.

    The result has the precision that the arguments have together: float32 only if all are, float64 for integers.
    Arguments that are `weak`, Python's numbers, go with the others. Code is made at once for calls that are `eager`.
    """

    weak: frozenset[str] = frozenset()
    eager: bool = False

    def compute(self, text: Text, arrays: Arrays) -> Any:
        return self.scalars(text, arrays).together()

    def scalars(self, text: Text, arrays: Arrays) -> Computed:
        """The scalars of the results, by native code or by the text itself."""
        values = {name: numbers(name, value, shape) for name, (value, shape) in arrays.items()}
        batch = common_batch(values, arrays) if values else ()
        asked = self.precision(values)
        needs_double = isinstance(text, Specialization) and text.needs_double
        dtype = np.result_type(asked, np.float64) if needs_double else asked
        shapes = {name: shape for name, (_, shape) in arrays.items()}
        lanes = {name: x if x.dtype is dtype else x.astype(dtype, copy=False) for name, x in values.items()}
        try:
            code = self._native(text, shapes, batch, dtype)
            if code is not None:
                straight = math.prod(batch) <= code.most_straight
                return Computed(code(list(lanes.values()), batch), code.layout, batch, asked, straight)
            flat, layout = _plain(text, lanes, shapes, batch, dtype)
        except ZeroDivisionError as error:
            if isinstance(text, Specialization) and text.is_users and not is_of_library(error):
                raise  # a division in the user's own text
            raise never_defined(error) from error
        if isinstance(text, Specialization) and text.is_users:
            kernels.warn_if_refused(text, shapes, dtype)
        return Computed(flat, layout, batch, asked)

    def _native(self, text: Text, shapes: _Shapes, batch: Shape, dtype: np.dtype[Any]) -> Kernel | OneState | None:
        """Native code, if there is some."""
        return kernels.find(text, shapes, dtype, batch, eager=self.eager) if isinstance(text, Specialization) else None

    def precision(self, values: Mapping[str, NumPyArray]) -> np.dtype[Any]:
        """The precision of a result for these arguments."""
        strong = {array.dtype for name, array in values.items() if name not in self.weak}
        if len(strong) == 1 and strong <= DTYPES.keys():
            return strong.pop()
        if not strong:
            return np.dtype(np.float64)
        return np.result_type(np.float32, *(np.float64 if dtype.kind in "iu" else dtype for dtype in strong))


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


def _plain(text: Text, lanes: _Lanes, shapes: _Shapes, batch: Shape, dtype: np.dtype[Any]) -> tuple[NumPyArray, Layout]:
    """The scalars of the results on the last axis, by the text itself."""
    with np.errstate(all="ignore"):
        if isinstance(text, Specialization) and text.is_users:
            return _state_by_state(text, lanes, shapes, batch, dtype)
        if batch == () and dtype in _PYTHON:
            try:
                result = text({name: apart(array.tolist(), shapes[name]) for name, array in lanes.items()})
                return _filled(result, batch, dtype)
            except (ArithmeticError, ValueError):
                pass  # a division by zero or a sine of infinity: NumPy carries on with inf and nan
        return _in_blocks(text, lanes, shapes, batch, dtype)


def _state_by_state(
    text: Text, lanes: _Lanes, shapes: _Shapes, batch: Shape, dtype: np.dtype[Any]
) -> tuple[NumPyArray, Layout]:
    """The text for one state after the other: it may look at values."""
    flat = {name: in_one_row(array, batch, shapes[name]) for name, array in lanes.items()}
    results = [_one(text, {name: array[k] for name, array in flat.items()}, shapes) for k in range(math.prod(batch))]
    if not results:
        anything = {name: apart(np.full(shape, math.nan).tolist(), shape) for name, shape in shapes.items()}
        _, layout = text(anything)
        return np.empty((*batch, layout.size), dtype), layout
    return np.array([scalars for scalars, _ in results], dtype).reshape(*batch, -1), results[-1][1]


def _one(text: Text, state: _Lanes, shapes: _Shapes) -> tuple[list[Any], Layout]:
    try:
        return text({name: apart(x.tolist(), shapes[name]) for name, x in state.items()})
    except (ArithmeticError, ValueError):  # Python's numbers stop at a division by zero; NumPy's go on with inf and nan
        return text({name: apart(list(x), shapes[name]) for name, x in state.items()})


def _in_blocks(
    text: Text, arrays: _Lanes, shapes: _Shapes, batch: Shape, dtype: np.dtype[Any]
) -> tuple[NumPyArray, Layout]:
    size = math.prod(batch)
    if size <= BLOCK:
        return _filled(text({name: _lanes(array, shapes[name]) for name, array in arrays.items()}), batch, dtype)
    flat = {name: _flat(array, batch, shapes[name]) for name, array in arrays.items()}
    parts: list[tuple[NumPyArray, Layout]] = []
    for start in range(0, size, BLOCK):
        block = {name: array[start : start + BLOCK] if array.ndim > len(shapes[name]) else array
                 for name, array in flat.items()}  # fmt: skip
        result = text({name: _lanes(array, shapes[name]) for name, array in block.items()})
        parts.append(_filled(result, (min(BLOCK, size - start),), dtype))
    return np.concatenate([part for part, _ in parts]).reshape(*batch, -1), parts[-1][1]


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


def _filled(result: tuple[list[Any], Layout], batch: Shape, dtype: np.dtype[Any]) -> tuple[NumPyArray, Layout]:
    """The scalars of a result, lanes or numbers, on the last axis."""
    scalars, layout = result
    filled = np.empty((*batch, len(scalars)), dtype)
    for k, x in enumerate(scalars):
        filled[..., k] = x
    return filled, layout
