"""From the tree's variables to the independent ones and back (RBDA 8.42, 9.26): v = G ẏ, a = G ÿ + g, τ = Gᵀ τ_tree.

A joint that follows none has rows of the identity in G. G and Ġ are used row by row, by the entries that are not zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Vector

if TYPE_CHECKING:
    from .coupling import Coupling
    from .model import Model

Row: TypeAlias = Mapping[int, Any]
"""A row of G, or of Ġ, by its entries that are not zero."""
Blocks: TypeAlias = Mapping[tuple[int, int], Matrix]
"""A matrix over the tree's joints, by its blocks that are not zero."""


def rows(model: Model, q: Any) -> list[Sequence[Row]]:
    """G at the position q: for each joint of the tree its rows, one for each of its variables."""
    found: list[Sequence[Row]] = [[{k: ONE} for k in range(s.start, s.stop)] for s in model.v_slices]
    for c in model.couplings:
        found[c.joint] = [_row(model, c, c.law.slopes(_of_sources(c, q, model.q_slices)))]
    return found


def row_rates(model: Model, q: Any, v: Any) -> dict[int, Row]:
    """Ġ by the rows that may not be zero: those of the joints that follow others."""
    found: dict[int, Row] = {}
    for c in model.couplings:
        y, dy = _of_sources(c, q, model.q_slices), _of_sources(c, v, model.v_slices)
        found[c.joint] = _row(model, c, c.law.slope_rates(y, dy))
    return found


def _of_sources(coupling: Coupling, x: Any, slices: Sequence[slice]) -> Vector:
    return Vector(x[slices[s].start] for s in coupling.sources)


def _row(model: Model, coupling: Coupling, entries: Vector) -> Row:
    return {model.v_slices[s].start: x for s, x in zip(coupling.sources, entries, strict=True)}


def positions(model: Model, q: Any) -> tuple[Vector, ...]:
    """γ(q), joint by joint."""
    parts = [Vector(q[s]) for s in model.q_slices]
    for c in model.couplings:
        parts[c.joint] = Vector((c.law.value(_of_sources(c, q, model.q_slices)),))
    return tuple(parts)


def velocities(model: Model, q: Any, v: Any) -> tuple[Vector, ...]:
    """G v, joint by joint."""
    parts = [Vector(v[s]) for s in model.v_slices]
    G = rows(model, q) if model.couplings else ()
    for c in model.couplings:
        parts[c.joint] = Vector(_product(row, v) for row in G[c.joint])
    return tuple(parts)


def accelerations(model: Model, q: Any, v: Any, a: Any) -> tuple[Vector, ...]:
    """G a + g with g = Ġ v, joint by joint."""
    parts = list(velocities(model, q, a))
    for i, row in row_rates(model, q, v).items():
        parts[i] = parts[i] + Vector((_product(row, v),))
    return tuple(parts)


def _product(row: Row, v: Any) -> Any:
    return sum((x * v[k] for k, x in row.items()), ZERO)


def forces(model: Model, q: Any, tau: Mapping[int, Vector] | Sequence[Vector]) -> Vector:
    """Gᵀ τ."""
    total: list[Any] = [ZERO] * model.nv
    for i, G in enumerate(rows(model, q)):
        for row, x in zip(G, tau[i], strict=True):
            for k, ratio in row.items():
                total[k] = total[k] + ratio * x
    return Vector(total)


def square(model: Model, q: Any, blocks: Blocks) -> Matrix:
    """Gᵀ H G."""
    n, G = model.nv, rows(model, q)
    total: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    for (i, j), block in blocks.items():
        for left, row in zip(G[i], block.rows, strict=True):
            for right, x in zip(G[j], row, strict=True):
                for k, a in left.items():
                    for m, b in right.items():
                        total[k][m] = total[k][m] + a * b * x
    return Matrix(total, n)


def square_rate(model: Model, q: Any, v: Any, blocks: Blocks) -> Matrix:
    """Gᵀ H Ġ."""
    return square_by(model, q, blocks, row_rates(model, q, v))


def square_by(model: Model, q: Any, blocks: Blocks, right: Mapping[int, Row]) -> Matrix:
    """Gᵀ H R, for R with rows of the joints that follow others only."""
    n, G = model.nv, rows(model, q)
    total: list[list[Any]] = [[ZERO] * n for _ in range(n)]
    for (i, j), block in blocks.items():
        for left, row in zip(G[i], block.rows, strict=True) if j in right else ():
            for k, a in left.items():
                for m, b in right[j].items():
                    total[k][m] = total[k][m] + a * b * row[0]
    return Matrix(total, n)


def columns(model: Model, q: Any, parts: Mapping[int, Iterable[Any]], zero: Any) -> list[Any]:
    """J G from the columns of J, joint by joint."""
    total, G = [zero] * model.nv, rows(model, q)
    for i, own in parts.items():
        for row, column in zip(G[i], own, strict=True):
            for k, ratio in row.items():
                total[k] = total[k] + column * ratio
    return total


def column_rates(model: Model, q: Any, v: Any, parts: Mapping[int, Iterable[Any]], zero: Any) -> list[Any]:
    """J Ġ from the columns of J, joint by joint."""
    total = [zero] * model.nv
    for i, row in row_rates(model, q, v).items():
        for column in parts.get(i, ()):
            for k, rate in row.items():
                total[k] = total[k] + column * rate
    return total
