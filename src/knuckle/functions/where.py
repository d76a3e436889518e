"""`where`: a choice between two values, in texts of kernels and with arrays."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np

from knuckle.public_names import public
from knuckle.scalar import is_of_one_state, select
from knuckle.spatial import Matrix, Vector

_COMPOSED = (Vector, Matrix, np.ndarray)
Array: TypeAlias = np.ndarray[Any, Any]


@public
def where(condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds, else `y`. Both are computed.

    In the text of a kernel a comparison such as `v[0] == 0.0` or `q[1] > limit` is a condition; `if` cannot look at it,
    as its value is not known while code is made of the text. There `x` and `y` are scalars, or vectors or matrices of
    one shape, or one of each. Outside of kernels this is `numpy.where`.
    """
    if not (is_of_one_state() or isinstance(x, (Vector, Matrix)) or isinstance(y, (Vector, Matrix))):
        if not any(map(_is_array, (condition, x, y))):
            return _one(condition, x, y)
        return cast("Array", np.where(condition, x, y))
    if isinstance(condition, _COMPOSED):
        raise TypeError("the condition of where is one comparison of scalars; choose entry by entry for vectors")
    if not (isinstance(x, _COMPOSED) or isinstance(y, _COMPOSED)):
        return _one(condition, x, y)
    a, b = _like(x, y), _like(y, x)
    if isinstance(a, Vector) and isinstance(b, Vector) and len(a) == len(b):
        return Vector(_one(condition, s, t) for s, t in zip(a, b, strict=True))
    if isinstance(a, Matrix) and isinstance(b, Matrix) and (a.nrows, a.ncols) == (b.nrows, b.ncols):
        rows = zip(a.rows, b.rows, strict=True)
        return Matrix(([_one(condition, s, t) for s, t in zip(*pair, strict=True)] for pair in rows), a.ncols)
    raise ValueError(f"where chooses between values of one shape, not between {_shape(a)} and {_shape(b)}")


def _one(condition: Any, x: Any, y: Any) -> Any:
    """One scalar or the other."""
    if isinstance(condition, (bool, np.bool_)):
        return x if condition else y
    return select(condition, x, y)


def _is_array(x: Any) -> bool:
    return isinstance(x, (np.ndarray, list, tuple))


def _like(x: Any, other: Any) -> Vector | Matrix:
    """A vector or matrix as it is, an array as one, and a scalar as often as the other needs it."""
    if isinstance(x, (Vector, Matrix)):
        return x
    if isinstance(x, np.ndarray) and x.ndim:
        array = cast("Array", x)
        return Vector(array.tolist()) if array.ndim == 1 else Matrix(array.tolist(), array.shape[-1])
    shape, scalar = _shape(other), cast("Any", x)
    return Vector([scalar] * shape[0]) if len(shape) == 1 else Matrix([[scalar] * shape[1]] * shape[0], shape[1])


def _shape(x: Any) -> tuple[int, ...]:
    return (x.nrows, x.ncols) if isinstance(x, Matrix) else (len(x),) if isinstance(x, Vector) else np.shape(x)
