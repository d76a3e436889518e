"""Which constraints say something new: the one place in which they are told from rounding (RBDA 8.2, 8.8).

A row of constraints is a sum of products: lever arms times axes, along a loop. Rounding leaves a part of the size of
these terms in it, however small the row itself is. So what is left of a row, less all that the rows before it say, is
compared with the size of the terms it is made of, not with the row and not with other rows: they have other units and
other lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from knuckle.algorithms.types import PerJoint
from knuckle.model import Model
from knuckle.scalar import ONE, ZERO, absolute, less, minimum, select
from knuckle.spatial import Matrix, Subspace, Vector

ROUNDING = 1e-12
"""The part of its terms up to which what is left of a row is rounding: that of some thousand operations."""
OPENING = 10.0
"""Loops that are open make constraints that depend on each other look independent: by this times how far, or less.

Within a step a simulation comes to such positions all the time; taken for independent there, constraints like those of
Bennett's linkage would stop it.
"""
MOST = 1e-4
"""What is left of a row counts from this part of its terms on, however far open the loops are."""
RANK = 1e-6
"""The part of a row below which others say the same, where nothing finer is known: of inequalities, and of products."""
NO_LENGTH = 1e-60
"""The square of a way around a loop that has none, in square metres."""
MUCH = 0.03
"""What counts as much of the terms, where there are more constraints than independent ones."""


class Constraints(NamedTuple):
    """K, the sizes of the terms of each entry, and the square of the part of these that says nothing."""

    K: Matrix
    size: Matrix
    doubt: Any
    groups: tuple[tuple[int, ...], ...] = ()
    """The rows that can depend on each other: those of loops that share joints."""

    def of(self, columns: Sequence[int]) -> Constraints:
        """The same for some of the variables."""
        K, size = (Matrix(([row[j] for j in columns] for row in M.rows), len(columns)) for M in (self.K, self.size))
        return Constraints(K, size, self.doubt, self.groups)


class ReducedRow(NamedTuple):
    """A row less those before it: q, W q, whether it says something new, 1/qᵀWq, what went, by ratios; its size²."""

    row: int
    q: Vector
    weighted: Vector
    kept: Any
    reciprocal: Any
    ratios: list[Any]
    size: Any


def parts(
    rows: Sequence[Vector], weights: Vector, sizes: Sequence[Any], doubt: Any, much: bool = False
) -> list[ReducedRow]:
    """The rows made orthogonal, one after the other, in the metric of the weights; `sizes` are squares in it.

    What is taken off a row brings its rounding with it: sizes add up as squares. With `much` the rows are gone through
    twice: first for those of which much is left.
    """
    found: list[ReducedRow] = []
    for share in (MUCH * MUCH, doubt) if much else (doubt,):
        for i, row in enumerate(rows):
            q, size, ratios = row, sizes[i], list[Any]()
            for other in found:
                ratios.append((other.weighted @ q) * other.reciprocal)
                q = q - ratios[-1] * other.q
                size = size + ratios[-1] * ratios[-1] * other.size
            weighted = q * weights
            left = weighted @ q
            kept = less(share * size, left)
            reciprocal = select(kept, ONE / select(kept, left, ONE), ZERO)
            found.append(ReducedRow(i, q, weighted, kept, reciprocal, ratios, size))
    return found


def sizes_along(model: Model, q: PerJoint, path: Iterable[int], F: Sequence[tuple[Any, Any]]) -> dict[int, Matrix]:
    """The sizes of the terms of Fᵀ J, by blocks, for forces whose moments and forces have the sizes given."""
    blocks: dict[int, Matrix] = {}
    for j in path:
        S = sizes_of(model.joints[j].type.subspace(q[j]), model.joints[j].type.transform(q[j]))
        blocks[j] = Matrix(([n * w + f * v for w, v in S] for n, f in F), len(S))
        arm = reach(model, q, (j,))
        F = [(n + arm * f, f) for n, f in F]
    return blocks


def reach(model: Model, q: PerJoint, path: Iterable[int]) -> Any:
    """The length of the way along joints, at most."""
    ways = ((model.X_tree[j], model.joints[j].type.transform(q[j])) for j in path)
    return sum((length(X) for pair in ways for X in pair), ZERO)


def length(X: Any) -> Any:
    """How far apart the origins of a transform are, at most."""
    return sum(map(absolute, X.r), ZERO)


def sizes_of(vectors: Subspace, X: Any) -> list[tuple[Any, Any]]:
    """The sizes of the angular and linear parts of motions or forces at a joint that has moved by X, at most.

    A part that is not zero in every position may be made of the other one and the arm that the joint has made.
    """
    found: list[tuple[Any, Any]] = []
    for vector in vectors:
        sizes = [absolute(x) for x in vector.components]
        half = len(sizes) // 2
        first, second = sum(sizes[:half], ZERO), sum(sizes[half:], ZERO)
        made = [ZERO if own is ZERO else other * length(X) for own, other in ((first, second), (second, first))]
        found.append((first + made[0], second + made[1]))
    return found


def openness(delta: Vector, F: Sequence[tuple[Any, Any]], around: Any) -> Vector:
    """(δ/r)²: how far a loop joint with forces of these sizes is from closing, lengths as parts of the way around."""
    sizes = [n + f * around for n, f in F]
    return Vector(ZERO if r is ZERO else d * d * (1 / (r * r + NO_LENGTH)) for d, r in zip(delta, sizes, strict=True))


def doubt_of(openness: Any) -> Any:
    """The square of the part of its terms up to which a row says nothing, for loops that are open so far."""
    return minimum(MOST * MOST, ROUNDING * ROUNDING + OPENING * OPENING * openness)
