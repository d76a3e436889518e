"""From the flat vectors of a text to what the algorithms take, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knuckle.algorithms.elements.element_forces import body_forces
from knuckle.model import Model
from knuckle.spatial import Matrix, Vector

PerJoint = Mapping[int, Vector]


def plus(a: PerJoint, b: PerJoint) -> dict[int, Vector]:
    """a + b, joint by joint."""
    return {i: a[i] + b[i] for i in a}


def minus(a: Any, b: PerJoint) -> dict[int, Vector]:
    """a − b, joint by joint."""
    return {i: a[i] - b[i] for i in b}


def drift(model: Model, q: Any, v: Any) -> tuple[Vector, ...]:
    """g (RBDA 8.42): the acceleration of the tree's joints while the independent variables have none."""
    return model.accelerations(q, v, Vector.zero(model.nv))


def as_vector(x: Any) -> Vector:
    """A flat sequence of scalars as a vector."""
    return x if isinstance(x, Vector) else Vector(x)


def as_rows(f_ext: Any) -> Matrix | None:
    """Wrenches on bodies as a matrix, if there are any."""
    return f_ext if f_ext is None or isinstance(f_ext, Matrix) else Matrix(f_ext)


def wrenches(model: Model, f_ext: Any) -> dict[int, Any]:
    """The external force on each body; none where none is given."""
    if f_ext is None:
        return {i: model.zero_force for i in range(model.nb)}
    rows = f_ext.rows if isinstance(f_ext, Matrix) else f_ext
    return {i: model.algebra.Force.of(row) for i, row in enumerate(rows)}


def all_wrenches(model: Model, Q: Any, V: Any, f_ext: Any) -> dict[int, Any]:
    """The external force on each body, and what force elements add to it."""
    total = wrenches(model, f_ext)
    for i, f in body_forces(model, Q, V).items():
        if i in total:
            total[i] = total[i] + f
    return total
