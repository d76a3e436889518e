"""Constraints made orthogonal one after the other: the factor of A = K H⁻¹ Kᵀ without forming it (RBDA 8.37-8.41)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.algorithms.dynamics import branch_sparsity
from knuckle.scalar import ONE, ZERO, less, select
from knuckle.spatial import Matrix, Vector

from .constraint_rank import Constraints, ReducedRow, parts


@dataclass(frozen=True)
class Orthogonal:
    """Constraints K made orthogonal, one after the other, in the metric H⁻¹. `orthogonal` makes it.

    H = LᵀDL with the sparsity of the tree, and Y = L⁻ᵀKᵀ: its orthogonal columns q stand for the factor of
    A = K H⁻¹ Kᵀ = YᵀD⁻¹Y, and no condition is squared.
    """

    L: Matrix
    parents: branch_sparsity.Parents
    inverse: Vector
    Y: list[Vector]
    parts: list[ReducedRow]

    def response(self, k: Vector, force: Vector | None = None) -> tuple[Vector, Vector]:
        """(a, λ) with H a = τ + Kᵀλ and K a = k: t = L⁻ᵀτ + Y λ is corrected along each q, and a = L⁻¹D⁻¹t."""
        nothing = Vector.zero(len(self.inverse))
        t = nothing if force is None else branch_sparsity.solve_transposed(self.L, self.parents, force)
        found: list[Any] = []
        for part in self.parts:
            missing = k[part.row] - (self.Y[part.row] * self.inverse) @ t
            c = select(part.kept, missing * part.reciprocal, ZERO)
            t = t + c * part.q
            found.append(c)
        return branch_sparsity.solve_lower(self.L, self.parents, t * self.inverse), of_rows(
            self.parts, found, len(self.Y)
        )


def of_rows(parts: list[ReducedRow], along: list[Any], count: int) -> Vector:
    """λ of the rows themselves with Kᵀλ = Σ c q, from the coefficients of the orthogonal parts."""
    of_part: list[Any] = [ZERO] * len(along)
    lam: list[Any] = [ZERO] * count
    for j in reversed(range(len(along))):
        later = range(j + 1, len(along))
        rest = along[j] - sum((parts[i].ratios[j] * of_part[i] for i in later), ZERO)
        of_part[j] = select(parts[j].kept, rest, ZERO)
        lam[parts[j].row] = lam[parts[j].row] + of_part[j]
    return Vector(lam)


def nearest(parts: list[ReducedRow], k: Vector, group: Sequence[int]) -> Vector:
    """The k nearest to the one given for which K a = k has a solution, looking at some rows.

    In a singular position a velocity may keep the loops closed for the moment and no longer: then K a misses k, and
    this is how it misses it least. What a row depends on makes a vector w with wᵀK = 0; these are made orthogonal.
    """
    found: list[tuple[Vector, Any]] = []
    last = {part.row: p for p, part in enumerate(parts)}
    for p in sorted(last[row] for row in group):
        part = parts[p]
        if all(ratio is ZERO for ratio in part.ratios):
            continue
        unit = Vector(ONE if i == part.row else ZERO for i in range(len(k)))
        w = unit - of_rows(parts[:p], part.ratios, len(k))
        for other, reciprocal in found:
            w = w - ((other @ w) * reciprocal) * other
        size = select(part.kept, ZERO, w @ w)
        depends = less(0.5, size)
        found.append((w, select(depends, ONE / select(depends, size, ONE), ZERO)))
    for w, reciprocal in found:
        k = k - ((w @ k) * reciprocal) * w
    return k


def orthogonal(
    H: Matrix, parents: branch_sparsity.Parents, rows: Constraints, *, redundant: bool = False
) -> Orthogonal:
    """H factored and K made orthogonal. Of what depends on constraints before it, nothing is kept.

    Where there are more constraints than there can be independent ones, which of them say the same with more weight
    changes as the mechanism moves. `redundant` looks through them twice: first for those of which much is left, then
    for the rest.
    """
    L, D = branch_sparsity.ltdl(H, parents)
    inverse = Vector(ONE / d for d in D)
    Y = [branch_sparsity.solve_transposed(L, parents, Vector(row)) for row in rows.K.rows]
    sizes = [(y * inverse) @ y + (s * inverse) @ s for y, s in zip(Y, map(Vector, rows.size.rows), strict=True)]
    return Orthogonal(L, parents, inverse, Y, parts(Y, inverse, sizes, rows.doubt, redundant))


def least_norm(rows: Constraints, lam: Vector) -> Vector:
    """The λ with the same Kᵀλ and the least norm: its part in the range of K, by orthogonal parts of the columns."""
    K, one = rows.K, Vector((ONE,) * rows.K.nrows)
    columns = [K.column(j) for j in range(K.ncols)]
    sizes = [s @ s for s in map(rows.size.column, range(K.ncols))]
    projected = Vector.zero(K.nrows)
    for part in parts(columns, one, sizes, rows.doubt):
        projected = projected + ((part.q @ (lam - projected)) * part.reciprocal) * part.q
    return projected
