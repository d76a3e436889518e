"""Linear equations without symmetry, over scalars of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ONE, ZERO, Dual, kind_of
from knuckle.scalar.arrays.dense import Matrix, Vector

MANY = 10
"""Unknowns from which on code has loops for them, instead of every operation."""


@dataclass(frozen=True)
class Eliminated:
    """A matrix eliminated from the last row to the first, without pivots; see `eliminated`."""

    A: Matrix
    factors: tuple[tuple[Any, ...], ...]
    """Below the diagonal what is left of rows, above it their factors, and on it reciprocals."""
    is_looped: bool

    def solve(self, b: Vector) -> Vector:
        """x with A x = b. Where b has derivatives, A x' = b' gives those of x."""
        if any(isinstance(x, Dual) for x in b):
            value, slope = _apart(b)
            return _together(self.solve(value), self.solve(slope))
        x = list(b)
        if self.is_looped:
            flat = [a for row in self.factors for a in row]
            looped = looping(flat)
            assert looped is not None
            return Vector(looped("substitute", len(x), [*flat, *x]))
        n = len(x)
        for k in reversed(range(n)):
            for i in range(k):
                x[i] = x[i] - self.factors[i][k] * x[k]
        for k in range(n):
            x[k] = (x[k] - sum((self.factors[k][j] * x[j] for j in range(k)), ZERO)) * self.factors[k][k]
        return Vector(x)


@dataclass(frozen=True)
class EliminatedDual:
    """A matrix with derivatives, A + A'ε: from A x = b follows A x' = b' − A' x, with the same factors."""

    value: Eliminated | EliminatedDual
    slope: Matrix

    def solve(self, b: Vector) -> Vector:
        """x with A x = b, and its derivative."""
        value, slope = _apart(b)
        x = self.value.solve(value)
        return _together(x, self.value.solve(slope - self.slope @ x))


def eliminated(A: Matrix, many: int = MANY) -> Eliminated | EliminatedDual:
    """The factors of a matrix; from `many` unknowns on, code has loops for them.

    On matrices with the sparsity of a kinematic tree, as H and what joints add to it, this order fills nothing in (RBDA
    6.3). It needs no pivots where A has a positive definite symmetric part.
    """
    n = A.nrows
    if any(isinstance(x, Dual) for row in A.rows for x in row):
        parts = [_apart(Vector(row)) for row in A.rows]
        return EliminatedDual(eliminated(Matrix((p[0] for p in parts), n), many), Matrix((p[1] for p in parts), n))
    flat = [x for row in A.rows for x in row]
    looped = looping(flat) if n >= many else None
    if looped is not None:
        found = looped("eliminate", n, flat)
        return Eliminated(A, tuple(tuple(found[i * n : (i + 1) * n]) for i in range(n)), True)
    rows = [list(row) for row in A.rows]
    for k in reversed(range(n)):
        rows[k][k] = ONE / rows[k][k]
        for i in range(k):
            if rows[i][k] is not ZERO:
                rows[i][k] = rows[i][k] * rows[k][k]
                rows[i][:k] = [a - rows[i][k] * p for a, p in zip(rows[i][:k], rows[k][:k], strict=True)]
    return Eliminated(A, tuple(map(tuple, rows)), False)


def solve(A: Matrix, b: Vector, many: int = MANY) -> Vector:
    """x with A x = b, without pivots; from `many` unknowns on by loops."""
    return eliminated(A, many).solve(b)


def product_count(A: Matrix) -> int:
    """How many products the elimination of a matrix takes, by its entries that are not always zero."""
    rows = [{j for j, x in enumerate(row) if x is not ZERO} for row in A.rows]
    count = 0
    for k in reversed(range(len(rows))):
        before = {j for j in rows[k] if j < k}
        for i in range(k):
            if k in rows[i]:
                count += 1 + len(before)
                rows[i] |= before
    return count


def looping(scalars: Sequence[Any]) -> Any:
    """How the kind of these scalars writes loops over many of them; None if it does not."""
    return next((kind.looped for kind in map(kind_of, scalars) if kind.looped is not None), None)


def _apart(b: Vector) -> tuple[Vector, Vector]:
    """Values and derivatives."""
    duals = [x if isinstance(x, Dual) else Dual(x) for x in b]
    return Vector(x.value for x in duals), Vector(x.derivative for x in duals)


def _together(value: Vector, slope: Vector) -> Vector:
    return Vector(map(Dual, value, slope))
