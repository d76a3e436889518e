"""Loops on their way to the base: the sides of a loop, and what happens where they meet (`articulated_loops`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from knuckle.scalar import ONE, ZERO, less, select
from knuckle.spatial import Matrix, Subspace, Vector

from .constraint_rank import ReducedRow, parts

Key = tuple[int, int]
"""A joint and one of its variables; or, below −1, a body at which loops were closed, and a number."""


class LoopRows(NamedTuple):
    """The constraints of a loop: forces on its two bodies, in their coordinates, and the sizes of terms by joint."""

    successor: int
    predecessor: int
    T_successor: Subspace
    T_predecessor: Subspace
    sizes: dict[int, Matrix]
    is_alone: bool
    """Whether it shares no joint with another loop."""


class Side(NamedTuple):
    """One side of a loop, as far as some body, or both where they meet."""

    T: Subspace
    G: Subspace
    y: dict[Key, Vector]
    """For each variable passed, an entry of every row: Y is their product in the metric of the weights."""
    size: Vector
    """The squares of the terms of y, in the same metric."""


class Passed(NamedTuple):
    """A loop at a joint that it passes: (T + G)ᵀS, and G beyond the joint."""

    y: Matrix
    G: Subspace


class Closed(NamedTuple):
    """Loops closed at a body: their rows made independent, G of these, and their ratios in rows of loops that go on."""

    loops: tuple[int, ...]
    parts: list[ReducedRow]
    G: list[Any]
    ratios: dict[int, list[list[Any]]]


def put(sides: dict[int, Side], loop: int, side: Side) -> None:
    """A side at a body, where the other one may be already."""
    if loop in sides:
        other = sides[loop]
        side = Side(side.T, side.G + other.G, side.y | other.y, side.size + other.size)
    sides[loop] = side


def beyond(side: Side, i: int, at: Passed, L: Matrix, terms: Matrix, weights: dict[Key, Any]) -> Side:
    """A side beyond joint i: one more entry L⁻¹(T + G)ᵀS for each variable."""
    columns, size = [at.y.column(k) for k in range(at.y.ncols)], side.size
    for k in range(len(columns)):
        for j in range(k):
            columns[k] = columns[k] - L[k][j] * columns[j]
        s = terms.column(k)
        size = size + (columns[k] * columns[k] + s * s) * weights[i, k]
    return Side(side.T, at.G, side.y | {(i, k): column for k, column in enumerate(columns)}, size)


def closed(
    i: int,
    closing: tuple[int, ...],
    here: dict[int, Side],
    loops: Sequence[LoopRows],
    weights: dict[Key, Any],
    doubt: Any,
    redundant: bool,
) -> tuple[Closed, dict[int, Side]]:
    """The loops that close at body i solved for their λ, and the others less what these say."""
    keys = list(dict.fromkeys(key for loop in closing for key in here[loop].y))
    rows = [_row(here[loop], r, keys) for loop in closing for r in range(len(here[loop].G))]
    sizes = [x for loop in closing for x in here[loop].size]
    G = [g for loop in closing for g in here[loop].G]
    found = parts(rows, Vector(weights[key] for key in keys), sizes, doubt, redundant)
    own: list[Any] = []
    for part in found:
        own.append(sum((-(g * ratio) for ratio, g in zip(part.ratios, own, strict=True)), G[part.row]))
    made = Closed(closing, found, own, {})
    going: dict[int, Side] = {}
    for loop, side in here.items():
        if loop not in closing:
            going[loop], made.ratios[loop] = _without(side, made, keys)
    return made, _shortened(i, going, weights)


def _row(side: Side, r: int, keys: Iterable[Key]) -> Vector:
    return Vector(side.y[key][r] if key in side.y else ZERO for key in keys)


def _without(side: Side, closed: Closed, keys: list[Key]) -> tuple[Side, list[list[Any]]]:
    """A side less what closed rows say, and the ratios of these, by rows."""
    every = list(dict.fromkeys((*keys, *side.y)))
    G, size, left, ratios = list(side.G), list(side.size), list[Vector](), list[list[Any]]()
    for r in range(len(G)):
        q, row = _row(side, r, every), list[Any]()
        for part, g in zip(closed.parts, closed.G, strict=True):
            ratio = (part.weighted @ q[: len(keys)]) * part.reciprocal
            q = Vector([*(q[: len(keys)] - ratio * part.q), *q[len(keys) :]])
            size[r] = size[r] + ratio * ratio * part.size
            G[r] = G[r] - g * ratio
            row.append(ratio)
        left.append(q)
        ratios.append(row)
    y = {key: Vector(q[n] for q in left) for n, key in enumerate(every)}
    return Side(side.T, Subspace(side.G.vector, G), y, Vector(size)), ratios


def _shortened(i: int, sides: dict[int, Side], weights: dict[Key, Any]) -> dict[int, Side]:
    """The same sides with no more entries than there are rows: their products stay what they are."""
    keys = list(dict.fromkeys(key for side in sides.values() for key in side.y))
    if len(keys) <= sum(len(side.G) for side in sides.values()):
        return sides
    metric = Vector(weights[key] for key in keys)
    basis: list[tuple[Vector, Vector, Any]] = []
    shorter: dict[int, Side] = {}
    for loop, side in sides.items():
        entries: list[list[Any]] = []
        for r in range(len(side.G)):
            q, row = _row(side, r, keys), list[Any]()
            for other, weighted, reciprocal in basis:
                row.append((weighted @ q) * reciprocal)
                q = q - row[-1] * other
            weighted = q * metric
            left = weighted @ q
            positive = less(0, left)
            weights[-2 - i, len(basis)] = left
            basis.append((q, weighted, select(positive, ONE / select(positive, left, ONE), ZERO)))
            entries.append([*row, ONE])
        y = {(-2 - i, n): Vector(row[n] if n < len(row) else ZERO for row in entries) for n in range(len(basis))}
        shorter[loop] = side._replace(y=y)
    return shorter
