"""`where`: a choice between two values, in texts of kernels and with arrays."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np

from knuckle.public_names import public
from knuckle.scalar.arrays.array_like import ArrayLike
from knuckle.scalar.conditions import chosen

Array: TypeAlias = np.ndarray[Any, Any]


@public
def where(condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds, else `y`. Both are computed.

    In the text of a kernel a comparison such as `v[0] == 0.0` or `q > limit` is a condition, of a vector one for each
    entry; `if` cannot look at it, as its value is not known while code is made of the text. Scalars, vectors and
    matrices broadcast as with `numpy.where`, which does the same there, and which this is outside of kernels.
    """
    if any(isinstance(a, (np.ndarray, list, tuple, ArrayLike)) for a in (condition, x, y)):
        return cast("Array", np.where(condition, x, y))
    return chosen(condition, x, y)
