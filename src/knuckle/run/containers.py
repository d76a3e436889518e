"""Arrays of every kind in, the same kind out.

A container takes an array apart into scalars, which the algorithms work on, and puts results back together. For NumPy
the scalars are lanes: arrays over the batch axes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Vector

Shape = tuple[int, ...]


def shape_of(result: Any) -> Shape:
    """The shape of what an algorithm returned."""
    if isinstance(result, Matrix):
        return result.nrows, result.ncols
    if isinstance(result, (Vector, tuple, list)):
        return (len(result), *shape_of(result[0])) if len(result) and isinstance(result[0], (Vector, Matrix)) else (
            len(result),
        )  # fmt: skip
    return (len(result.components),) if hasattr(result, "components") else ()


def scalars_of(result: Any) -> list[Any]:
    """The scalars of what an algorithm returned, row by row."""
    if isinstance(result, Matrix):
        return [x for row in result.rows for x in row]
    if isinstance(result, (Vector, tuple, list)):
        return [x for item in result for x in scalars_of(item)]
    return list(result.components) if hasattr(result, "components") else [result]


def plain(x: Any) -> Any:
    """A structural zero or one as a number."""
    return int(x) if x is ZERO or x is ONE else x


class Container(ABC):
    """One kind of array."""

    @abstractmethod
    def compute(self, text: Callable[[Mapping[str, Any]], Any], arrays: Mapping[str, tuple[Any, Shape]]) -> Any:
        """`text` of the scalars of `arrays` (each with the shape it must end in), as an array of this kind."""


class Lanes(Container):
    """NumPy arrays of numbers, with any batch axes before those an argument needs."""

    def compute(self, text: Callable[[Mapping[str, Any]], Any], arrays: Mapping[str, tuple[Any, Shape]]) -> Any:
        given = {name: checked(name, value, shape) for name, (value, shape) in arrays.items()}
        batch = _common_batch({name: (value, shape) for (name, (_, shape)), value in zip(
            arrays.items(), given.values(), strict=True)})  # fmt: skip
        dtype = np.result_type(np.float32, *given.values())
        lanes = {name: value.astype(dtype, copy=False) for name, value in given.items()}
        with np.errstate(all="ignore"):
            if batch == () and dtype in (np.float64, np.complex128):
                try:
                    return _stack(text({n: _apart(x.tolist(), arrays[n][1]) for n, x in lanes.items()}), batch, dtype)
                except (ArithmeticError, ValueError):
                    pass  # a division by zero or a sine of infinity: NumPy carries on with inf and nan
            return _stack(text({n: _apart_lanes(x, arrays[n][1]) for n, x in lanes.items()}), batch, dtype)


def checked(name: str, value: Any, shape: Shape) -> np.ndarray[Any, Any]:
    """`value` as an array of numbers that ends in `shape`, or an error that names the argument."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{name} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "iufc":
        raise TypeError(f"{name} holds {array.dtype}, and must hold real or complex numbers")
    if array.shape[len(array.shape) - len(shape) :] != shape or array.ndim < len(shape):
        wanted = ", ".join(["...", *map(str, shape)])
        raise ValueError(f"{name} has shape {array.shape}, and must have shape ({wanted})")
    return array


def _common_batch(arrays: Mapping[str, tuple[np.ndarray[Any, Any], Shape]]) -> Shape:
    batches = {name: array.shape[: array.ndim - len(shape)] for name, (array, shape) in arrays.items()}
    try:
        return np.broadcast_shapes(*batches.values())
    except ValueError:
        listed = ", ".join(f"{name} {batch}" for name, batch in batches.items())
        raise ValueError(f"the batch axes of the arguments do not broadcast: {listed}") from None


def _apart(values: list[Any], shape: Shape) -> Any:
    return Vector(values) if len(shape) == 1 else Matrix(values, shape[-1])


def _apart_lanes(array: np.ndarray[Any, Any], shape: Shape) -> Any:
    if len(shape) == 1:
        return Vector(array[..., k] for k in range(shape[0]))
    return Matrix(([array[..., j, k] for k in range(shape[1])] for j in range(shape[0])), shape[1])


def _stack(result: Any, batch: Shape, dtype: Any) -> np.ndarray[Any, Any]:
    scalars, shape = scalars_of(result), shape_of(result)
    stacked = np.empty((*batch, len(scalars)), dtype)
    for k, x in enumerate(scalars):
        stacked[..., k] = plain(x)
    return stacked.reshape((*batch, *shape))


class Objects(Container):
    """Sequences and NumPy arrays of objects: mpmath and SymPy numbers, fractions … one state, or a batch one by one."""

    def compute(self, text: Callable[[Mapping[str, Any]], Any], arrays: Mapping[str, tuple[Any, Shape]]) -> Any:
        given = {name: np.asarray(value, dtype=object) for name, (value, _) in arrays.items()}
        for name, array in given.items():
            checked(name, np.empty(array.shape), arrays[name][1])
        batch = _common_batch({name: (array, arrays[name][1]) for name, array in given.items()})
        full = {name: np.broadcast_to(array, batch + arrays[name][1]) for name, array in given.items()}
        results = [
            text({name: _apart(array[index].tolist(), arrays[name][1]) for name, array in full.items()})
            for index in np.ndindex(batch)
        ]
        shape = shape_of(results[0]) if results else ()
        out = np.empty((len(results), math.prod(shape)), dtype=object)
        for k, result in enumerate(results):
            out[k] = [plain(x) for x in scalars_of(result)]
        return out.reshape(batch + shape) if batch + shape else out[0, 0]


class Symbolic(Container):
    """Matrices of another package: taken apart with `entries`, put together with `matrix(rows)`."""

    def __init__(self, entries: Callable[[Any], Sequence[Any]], matrix: Callable[[list[list[Any]]], Any]) -> None:
        self.entries, self.matrix = entries, matrix

    def compute(self, text: Callable[[Mapping[str, Any]], Any], arrays: Mapping[str, tuple[Any, Shape]]) -> Any:
        scalars: dict[str, Any] = {}
        for name, (value, shape) in arrays.items():
            flat = list(self.entries(value))
            if len(flat) != math.prod(shape):
                raise ValueError(f"{name} has {len(flat)} entries, and must have {math.prod(shape)}")
            n = shape[-1]
            rows = [flat[k : k + n] for k in range(0, len(flat), n)]
            scalars[name] = Vector(flat) if len(shape) == 1 else Matrix(rows, n)
        result = text(scalars)
        flat, shape = [plain(x) for x in scalars_of(result)], shape_of(result)
        if shape == ():
            return flat[0]
        n = shape[1] if len(shape) == 2 else 1
        return self.matrix([flat[k : k + n] for k in range(0, len(flat), n)])


def _casadi(kind: Any) -> Container:
    import casadi as ca

    def entries(x: Any) -> list[Any]:
        x = kind(x) if not isinstance(x, kind) else x
        return [x[i, j] for i in range(x.shape[0]) for j in range(x.shape[1])]

    def matrix(rows: list[list[Any]]) -> Any:
        return ca.vertcat(*(ca.horzcat(*row) for row in rows)) if rows else kind(0, 1)

    return Symbolic(entries, matrix)


def _sympy() -> Container:
    import sympy as sp

    return Symbolic(list, lambda rows: sp.Matrix(rows))


def _mpmath() -> Container:
    import mpmath as mp

    return Symbolic(list, lambda rows: mp.matrix(rows))


def container_of(values: Sequence[Any]) -> Container:
    """The container that takes these arguments."""
    for value in values:
        package = type(value).__module__.partition(".")[0]
        if package == "casadi" and type(value).__name__ in ("SX", "MX"):
            return _casadi(type(value))
        if package == "sympy" and hasattr(value, "rows"):
            return _sympy()
        if package == "mpmath" and hasattr(value, "rows"):
            return _mpmath()
    return Objects() if any(map(_of_objects, values)) else Lanes()


def _of_objects(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype == object
    while isinstance(value, (list, tuple, Vector)) and len(value):
        value = value[0]
    return not isinstance(value, (int, float, complex, str, bytes, np.ndarray, np.generic, list, tuple, Vector))
