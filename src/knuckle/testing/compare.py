"""Comparisons up to rounding: every tolerance is a multiple of the last place of the numbers compared."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.spatial import Matrix

ROUNDING = 100 * float(np.finfo(float).eps)


def array(x: Any) -> NDArray[Any]:
    """Floats of a spatial vector, inertia, subspace, transform, matrix or sequence of scalars."""
    M: Any = x if isinstance(x, Matrix) else getattr(x, "matrix", None)
    if isinstance(M, Matrix):
        return np.array([[float(a) for a in row] for row in M.rows]).reshape(M.nrows, M.ncols)
    scalars: Any = getattr(x, "components", x)
    return np.array([float(a) for a in scalars])


def close(a: Any, b: Any, factor: float = 1.0, size: float = 0.0) -> None:
    """Asserts that a = b up to a hundred units in the last place of the largest number.

    `factor` is by how much the problem magnifies rounding, such as a condition number; `size` the magnitude of numbers
    that went in and cancelled.
    """
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    largest = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0), size, float(np.finfo(float).tiny))
    np.testing.assert_allclose(x, y, rtol=0, atol=ROUNDING * largest * factor)


def vanishes(x: Any, *factors: Any) -> None:
    """Asserts that x, a product of `factors`, is zero up to rounding."""
    size = math.prod(float(np.abs(np.asarray(f, dtype=float)).max(initial=0.0)) for f in factors)
    np.testing.assert_allclose(np.asarray(x, dtype=float), 0, rtol=0, atol=ROUNDING * size)
