"""Between vectors and matrices of scalars and NumPy's arrays of objects, which have axes and places but no meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from knuckle.scalar.inside_kernel import is_of_one_state

from .dense import Matrix, Vector
from .stack import Stack

Objects: TypeAlias = np.ndarray[Any, np.dtype[Any]]

COMPOSED = (Vector, Matrix, Stack)


def objects_of(x: Any) -> Objects:
    """An array of the scalars of a vector, a matrix, an array, a nested list or a scalar.

    In the text of a kernel an array of NumPy's is one of constants; elsewhere it is one scalar, of many states.
    """
    if isinstance(x, Stack):
        return x.entries
    if isinstance(x, Vector):
        return _filled(x.items, (len(x),))
    if isinstance(x, Matrix):
        return _filled([entry for row in x.rows for entry in row], (x.nrows, x.ncols))
    if isinstance(x, (list, tuple)):
        parts = [objects_of(part) for part in cast("Sequence[Any]", x)]
        return np.stack(parts) if parts else np.empty(0, object)
    if isinstance(x, np.ndarray) and is_of_one_state():
        return cast("Objects", x).astype(object)
    return _filled([x.item() if isinstance(x, np.generic) and is_of_one_state() else x], ())


def array_of(scalars: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Scalars in a row as a vector, a matrix or a stack."""
    return together(_filled(scalars, shape))


def _filled(scalars: Sequence[Any], shape: tuple[int, ...]) -> Objects:
    """NumPy would look into some scalars, and convert others: each is put where it belongs."""
    flat = np.empty(len(scalars), object)
    for k, x in enumerate(scalars):
        flat[k] = x
    return flat.reshape(shape)


def together(result: Any) -> Any:
    """A scalar, a vector, a matrix or a stack of what NumPy made of arrays of objects; of several, each."""
    if isinstance(result, (list, tuple)):
        parts = [together(part) for part in cast("Sequence[Any]", result)]
        return tuple(parts) if isinstance(result, tuple) else parts
    if not isinstance(result, np.ndarray) or result.dtype != object:
        return result
    array = cast("Objects", result)
    match array.ndim:
        case 0:
            return array[()]
        case 1:
            return Vector(list(array))
        case 2:
            return Matrix([list(row) for row in array], array.shape[1])
        case _:
            return Stack(array)


def holds_scalars(x: Any) -> bool:
    """Whether an argument is, or holds, vectors or scalars of ours."""
    if isinstance(x, (list, tuple)):
        return any(map(holds_scalars, cast("Sequence[Any]", x)))
    return hasattr(type(x), "__array_function__") and not isinstance(x, (np.ndarray, np.generic))


def are_numbers(x: Any) -> bool:
    """Whether what is ours in some arguments is made of plain numbers, which NumPy knows by itself."""
    if isinstance(x, (list, tuple)):
        return all(map(are_numbers, cast("Sequence[Any]", x)))
    return bool(np.asarray(x).dtype != object) if isinstance(x, COMPOSED) else not holds_scalars(x)
