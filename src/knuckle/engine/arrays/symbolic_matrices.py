"""Matrices of other packages: CasADi, SymPy, mpmath. One state; vectors are columns."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from knuckle.spatial import Matrix, Vector

from .base import Arrays, Container, Shape, Text


class Symbolic(Container):
    """Matrices of one package. Scalars come as its scalars, and several matrices as a list of them."""

    package: str

    @abstractmethod
    def matrix(self, rows: Sequence[Sequence[Any]], shape: Shape) -> Any:
        """A matrix of these rows."""

    @abstractmethod
    def scalar(self, x: Any) -> Any:
        """A number as a scalar of the package."""

    def compute(self, text: Text, arrays: Arrays) -> Any:
        scalars, layout = text({name: self._apart(name, value, shape) for name, (value, shape) in arrays.items()})
        return layout.together(scalars, self.together)

    def _apart(self, name: str, value: Any, shape: Shape) -> Vector | Matrix:
        actual = matrix_shape(value)
        if actual is None:
            flat: list[Any] = np.asarray(value, dtype=object).ravel().tolist()
            actual = np.shape(value)
            fits = actual == shape
        else:
            flat = [value[i, j] for i in range(actual[0]) for j in range(actual[1])]
            fits = actual in ((*shape, 1), (1, *shape)) if len(shape) == 1 else actual == shape
        if not fits:
            expected = f"({shape[0]}, 1)" if len(shape) == 1 else f"{shape}"
            raise ValueError(
                f"{name} has shape {actual}, and must have shape {expected}: {self.package} takes no batch"
            )
        return Vector(flat) if len(shape) == 1 else Matrix(_rows(flat, shape), shape[1])

    def together(self, flat: list[Any], shape: Shape) -> Any:
        """These scalars as a matrix of the package, or as several in a list."""
        if shape == ():
            return self.scalar(flat[0])
        if len(shape) < 3:
            whole = (*shape, 1)[:2]
            return self.matrix(_rows(flat, whole), whole)
        size = math.prod(shape[1:])
        return [self.together(flat[k * size : (k + 1) * size], shape[1:]) for k in range(shape[0])]


def _rows(flat: Sequence[Any], shape: Shape) -> list[Sequence[Any]]:
    m, n = shape
    return [flat[i * n : (i + 1) * n] for i in range(m)]


def matrix_shape(value: Any) -> tuple[int, int] | None:
    """The shape of a matrix of another package; None for what NumPy takes."""
    if isinstance(value, np.ndarray):
        return None
    if hasattr(value, "shape"):
        return value.shape
    return (value.rows, value.cols) if hasattr(value, "cols") else None


class CasADi(Symbolic):
    """SX, MX or DM."""

    package = "CasADi"

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def matrix(self, rows: Sequence[Sequence[Any]], shape: Shape) -> Any:
        import casadi

        ca: Any = casadi
        if 0 in shape:
            return self.kind(*shape)
        return self.kind(ca.vertcat(*(ca.horzcat(*row) for row in rows)))

    def scalar(self, x: Any) -> Any:
        return self.kind(x)


class SymPy(Symbolic):
    """Explicit matrices, mutable or not: results are of the class given."""

    package = "SymPy"

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def matrix(self, rows: Sequence[Sequence[Any]], shape: Shape) -> Any:
        return self.kind(*shape, [x for row in rows for x in row])

    def scalar(self, x: Any) -> Any:
        import sympy  # pyright: ignore[reportMissingTypeStubs]

        sp: Any = sympy
        return sp.sympify(x)


class MPMath(Symbolic):
    """mpmath.matrix, at whatever precision is set."""

    package = "mpmath"

    def matrix(self, rows: Sequence[Sequence[Any]], shape: Shape) -> Any:
        import mpmath  # pyright: ignore[reportMissingTypeStubs]

        mp: Any = mpmath
        filled = mp.matrix(*shape)
        for i, row in enumerate(rows):
            for j, x in enumerate(row):
                filled[i, j] = x
        return filled

    def scalar(self, x: Any) -> Any:
        import mpmath  # pyright: ignore[reportMissingTypeStubs]

        mp: Any = mpmath
        return mp.convert(x)
