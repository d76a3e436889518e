"""Derivatives along the independent variables of a tree whose joints follow others: τ_y = Gᵀ τ(γ(y), Gẏ, Gÿ + Ġẏ).

By the chain rule, ∂v/∂y = Ġ, ∂a/∂y = Ġ(ÿ) + ∂(Ġẏ)/∂y and ∂a/∂ẏ = 2Ġ, where Ġ(u) is the rate of G while y moves with u.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from knuckle.algorithms.types import PerJoint
from knuckle.model import Model
from knuckle.model.reduction import Row, row_rates, square_by
from knuckle.scalar import ONE, ZERO, Dual, parts
from knuckle.spatial import Matrix, Vector

from .inverse_slopes import Blocks


class ReducedSlopes(NamedTuple):
    """∂τ/∂y, ∂τ/∂ẏ and ∂τ/∂ÿ."""

    q: Matrix
    v: Matrix
    a: Matrix


def reduced(model: Model, q: Any, v: Any, a: Any, tau: PerJoint, dq: Blocks, dv: Blocks, da: Blocks) -> ReducedSlopes:
    """The derivatives of the tree's forces τ as those of the independent ones."""
    by_q, by_v, by_a = (model.square(q, blocks) for blocks in (dq, dv, da))
    if not model.couplings:
        return ReducedSlopes(by_q, by_v, by_a)
    rates, more = row_rates(model, q, v), row_rates(model, q, a)
    drift = {i: _plus(row, more[i]) for i, row in _drift_slopes(model, q, v).items()}
    twice = {i: {k: x + x for k, x in row.items()} for i, row in rates.items()}
    by_q = by_q + square_by(model, q, dv, rates) + square_by(model, q, da, drift) + _turning(model, q, tau)
    return ReducedSlopes(by_q, by_v + square_by(model, q, da, twice), by_a)


def _plus(a: Row, b: Row) -> Row:
    return {k: x + b[k] for k, x in a.items()}


def _drift_slopes(model: Model, q: Any, v: Any) -> dict[int, Row]:
    """∂(Ġẏ)/∂y: the third derivatives of the laws, twice along ẏ."""
    moving = Vector(Dual(x, dx) for x, dx in zip(q, _rate(model, q, v), strict=True))
    rates = row_rates(model, moving, Vector(map(Dual, v)))
    return {i: {k: parts(x)[1] for k, x in row.items()} for i, row in rates.items()}


def _rate(model: Model, q: Any, v: Any) -> list[Any]:
    """q̇ of the variables that others follow, which are plain; none of the others."""
    rate: list[Any] = [ZERO] * len(q)
    for c in model.couplings:
        for s in c.sources:
            rate[model.q_slices[s].start] = v[model.v_slices[s].start]
    return rate


def _turning(model: Model, q: Any, tau: PerJoint) -> Matrix:
    """(∂Gᵀ/∂y) τ: the second derivatives of the laws, each times the force of the joint that follows by it."""
    n = model.nv
    columns: list[Vector] = []
    for m in range(n):
        column: list[Any] = [ZERO] * n
        for i, row in row_rates(model, q, Vector(ONE if k == m else ZERO for k in range(n))).items():
            for k, x in row.items():
                column[k] = column[k] + x * tau[i][0]
        columns.append(Vector(column))
    return Matrix.columns(columns, n)
