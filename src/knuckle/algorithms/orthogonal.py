"""Constraints made orthogonal one after the other: the factor of A = K H⁻¹ Kᵀ without forming it (RBDA 8.37-8.41)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from knuckle.scalar import ONE, ZERO, less, select
from knuckle.spatial import Matrix, Vector

from . import sparse

RANK = 1e-6
"""A constraint is implied by those before it when no more than this part of all is left of it.

It has to be more than the loop errors that simulation leaves: they make constraints that depend on each other look
independent, and a mechanism like Bennett's look rigid.
"""
MUCH = 0.03
"""What counts as much, where there are more constraints than independent ones."""


class _Part(NamedTuple):
    """A constraint less those before it: q, D⁻¹q, whether much is left of it, 1/qᵀD⁻¹q, and what went, by ratios."""

    row: int
    q: Vector
    weighted: Vector
    kept: Any
    reciprocal: Any
    ratios: list[Any]


@dataclass(frozen=True)
class Orthogonal:
    """Constraints K made orthogonal, one after the other, in the metric H⁻¹. `orthogonal` makes it.

    H = LᵀDL with the sparsity of the tree, and Y = L⁻ᵀKᵀ: its orthogonal columns q stand for the factor of
    A = K H⁻¹ Kᵀ = YᵀD⁻¹Y, and no condition is squared.
    """

    L: Matrix
    parents: sparse.Parents
    inverse: Vector
    Y: list[Vector]
    parts: list[_Part]

    def response(self, k: Vector, force: Vector | None = None) -> tuple[Vector, Vector]:
        """(a, λ) with H a = τ + Kᵀλ and K a = k: t = L⁻ᵀτ + Y λ is corrected along each q, and a = L⁻¹D⁻¹t."""
        nothing = Vector.zero(len(self.inverse))
        t = nothing if force is None else sparse.solve_transposed(self.L, self.parents, force)
        found: list[Any] = []
        for part in self.parts:
            missing = k[part.row] - (self.Y[part.row] * self.inverse) @ t
            c = select(part.kept, missing * part.reciprocal, ZERO)
            t = t + c * part.q
            found.append(c)
        return sparse.solve_lower(self.L, self.parents, t * self.inverse), self._multipliers(found)

    def _multipliers(self, along: list[Any]) -> Vector:
        """λ from the coefficients of the orthogonal parts."""
        of_part: list[Any] = [ZERO] * len(along)
        lam: list[Any] = [ZERO] * len(self.Y)
        for j in reversed(range(len(along))):
            later = range(j + 1, len(along))
            rest = along[j] - sum((self.parts[i].ratios[j] * of_part[i] for i in later), ZERO)
            of_part[j] = select(self.parts[j].kept, rest, ZERO)
            lam[self.parts[j].row] = lam[self.parts[j].row] + of_part[j]
        return Vector(lam)


def orthogonal(H: Matrix, parents: sparse.Parents, K: Matrix, *, redundant: bool = False) -> Orthogonal:
    """H factored and K made orthogonal. Of what depends on constraints before it, nothing is kept.

    Where there are more constraints than there can be independent ones, which of them say the same with more weight
    changes as the mechanism moves. `redundant` looks through them twice: first for those of which much is left, then
    for the rest.
    """
    L, D = sparse.ltdl(H, parents)
    inverse = Vector(ONE / d for d in D)
    Y = [sparse.solve_transposed(L, parents, Vector(row)) for row in K.rows]
    size = sum(((y * inverse) @ y for y in Y), ZERO)
    parts: list[_Part] = []
    for share in (MUCH, RANK) if redundant else (RANK,):
        for row, y in enumerate(Y):
            q, ratios = y, []
            for other in parts:
                ratios.append((other.weighted @ q) * other.reciprocal)
                q = q - ratios[-1] * other.q
            weighted = q * inverse
            kept, reciprocal = _inverse(weighted @ q, share * share * size)
            parts.append(_Part(row, q, weighted, kept, reciprocal, ratios))
    return Orthogonal(L, parents, inverse, Y, parts)


def least_norm(K: Matrix, lam: Vector) -> Vector:
    """The λ with the same Kᵀλ and the least norm: its part in the range of K, by orthogonal parts of the columns."""
    found: list[tuple[Vector, Any]] = []
    projected = Vector.zero(K.nrows)
    least = RANK * RANK * sum((x * x for row in K.rows for x in row), ZERO)
    for j in range(K.ncols):
        q = K.column(j)
        for other, reciprocal in found:
            q = q - ((other @ q) * reciprocal) * other
        _, reciprocal = _inverse(q @ q, least)
        projected = projected + ((q @ (lam - projected)) * reciprocal) * q
        found.append((q, reciprocal))
    return projected


def _inverse(x: Any, least: Any) -> tuple[Any, Any]:
    """Whether x is more than `least`, and 1/x if so, else zero."""
    kept = less(least, x)
    return kept, select(kept, ONE / select(kept, x, ONE), ZERO)
