"""Jacobians by dual numbers: of functions of a vector, and of a state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from knuckle.functions.configuration import velocity_to_qdot
from knuckle.model import Model
from knuckle.scalar import ONE, ZERO, Dual
from knuckle.spatial import Matrix, Vector, called

FEW = 6
"""Up to so many directions, each has code of its own, which knows where it is zero."""


def along(x: Vector, direction: Vector) -> Vector:
    """x with a direction: what is computed of it carries its derivative."""
    return Vector(Dual(a, d) for a, d in zip(x, direction, strict=True))


def derivative_of(y: Vector) -> Vector:
    """The derivative that y carries."""
    return Vector(a.derivative if isinstance(a, Dual) else ZERO for a in y)


def jacobian(f: Callable[[Vector], Vector], x: Vector) -> Matrix:
    """∂f/∂x, column by column."""
    n = len(x)

    def along_one(x: Vector, e: Vector) -> Vector:
        return derivative_of(f(along(x, e)))

    slope = called(along_one, is_general=n > FEW)
    columns = [slope(x, Vector(ONE if i == k else ZERO for i in range(n))) for k in range(n)]
    return Matrix.columns(columns, len(columns[0]) if columns else 0)


def slopes_of(f: Callable[[Any, Any], Any], model: Model, q: Any, v: Any) -> tuple[Iterator[Vector], Iterator[Vector]]:
    """The columns of ∂f/∂v and of ∂f/∂q, a position moving along each velocity variable in turn."""
    units = [Vector(ONE if i == k else ZERO for i in range(model.nv)) for k in range(model.nv)]
    return (
        (derivative_of(f(q, along(v, e))) for e in units),
        (derivative_of(f(along(q, velocity_to_qdot.reference(model, q, e)), v)) for e in units),
    )
