"""Articulated-body inertia in 21 numbers (RBDA 7.1, A.3): maps acceleration to force and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ZERO, MadeOfScalars
from knuckle.scalar.arrays.dense import Matrix, Vector

from .inertia import Inertia
from .three import (
    Mat3,
    Sym3,
    add,
    cross_matrix,
    matadd,
    matrix_cross,
    matscale,
    matsub,
    matvec,
    rotated,
    skew,
    tmatvec,
    transpose,
)
from .vectors import Force, Motion, refuse


@dataclass(frozen=True, slots=True)
class ArticulatedInertia(MadeOfScalars):
    """[I H; Hᵀ M] with I and M symmetric."""

    is_inertia = True
    dimension = 6

    I: Sym3
    H: Mat3
    M: Sym3

    @classmethod
    def zero(cls) -> ArticulatedInertia:
        o = (ZERO, ZERO, ZERO)
        return cls(Sym3.zero(), (o, o, o), Sym3.zero())

    @classmethod
    def of(cls, inertia: Inertia) -> ArticulatedInertia:
        """A rigid-body inertia as an articulated one."""
        return cls(inertia.I, skew(inertia.h), Sym3.scalar(inertia.mass))

    @classmethod
    def from_columns(cls, columns: Sequence[Force]) -> ArticulatedInertia:
        """From the forces that the six unit motions need; the map must be symmetric."""
        top = transpose(tuple(f.angular for f in columns[:3]))  # type: ignore[arg-type]
        H = transpose(tuple(f.angular for f in columns[3:]))  # type: ignore[arg-type]
        M = transpose(tuple(f.linear for f in columns[3:]))  # type: ignore[arg-type]
        return cls(Sym3.of(top), H, Sym3.of(M))

    @classmethod
    def dyadic(cls, U: Sequence[Force], W: Sequence[Force]) -> ArticulatedInertia:
        """Σ Uₖ Wₖᵀ, a map that must come out symmetric."""
        total = cls.zero()
        for u, w in zip(U, W, strict=True):
            (a, b, c), (d, e, f) = u.angular, u.linear
            (A, B, C), (D, E, F) = w.angular, w.linear
            total = total + cls(
                Sym3(a * A, b * A, b * B, c * A, c * B, c * C),
                ((a * D, a * E, a * F), (b * D, b * E, b * F), (c * D, c * E, c * F)),
                Sym3(d * D, e * D, e * E, f * D, f * E, f * F),
            )
        return total

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Motion):
            w, v = other.angular, other.linear
            return Force(add(self.I.apply(w), matvec(self.H, v)), add(tmatvec(self.H, w), self.M.apply(v)))
        if getattr(other, "is_motion", False) and hasattr(other, "mapped_by"):
            return other.mapped_by(self)
        raise TypeError(f"an articulated inertia applies to an acceleration, not to {type(other).__name__}")

    def __add__(self, other: ArticulatedInertia | Inertia) -> ArticulatedInertia:
        o = ArticulatedInertia.of(other) if isinstance(other, Inertia) else other
        if not isinstance(o, ArticulatedInertia):
            raise refuse("the sum", self, other)
        return ArticulatedInertia(self.I.plus(o.I), matadd(self.H, o.H), self.M.plus(o.M))

    __radd__ = __add__

    def __neg__(self) -> ArticulatedInertia:
        return self * -1

    def __mul__(self, s: Any) -> ArticulatedInertia:
        if isinstance(s, MadeOfScalars):
            raise refuse("the product", self, s)
        return ArticulatedInertia(self.I.times(s), matscale(s, self.H), self.M.times(s))

    __rmul__ = __mul__

    def __sub__(self, other: ArticulatedInertia | Inertia) -> ArticulatedInertia:
        o = ArticulatedInertia.of(other) if isinstance(other, Inertia) else other
        if not isinstance(o, ArticulatedInertia):
            raise refuse("the difference", self, other)
        return ArticulatedInertia(self.I.minus(o.I), matsub(self.H, o.H), self.M.minus(o.M))

    def carried(self, X: Any) -> ArticulatedInertia:
        """X* I X⁻¹ (RBDA table A.4): Y = H − r×M; (E M Eᵀ, E Y Eᵀ, E (I − r×Hᵀ + Y r×) Eᵀ)."""
        Y = matsub(self.H, cross_matrix(X.r, self.M.matrix))
        Z = matadd(matsub(self.I.matrix, cross_matrix(X.r, transpose(self.H))), matrix_cross(Y, X.r))
        return ArticulatedInertia(Sym3.of(Z).rotated(X.E), rotated(X.E, Y), self.M.rotated(X.E))

    def brought_back(self, X: Any) -> ArticulatedInertia:
        """Xᵀ I X (RBDA table A.4): M' = EᵀME, H' = EᵀHE; (M', H' + r×M', EᵀIE + r×H'ᵀ − (H' + r×M') r×)."""
        Et = transpose(X.E)
        M, H = self.M.rotated(Et), rotated(Et, self.H)
        Y = matadd(H, cross_matrix(X.r, M.matrix))
        Z = matsub(cross_matrix(X.r, transpose(H)), matrix_cross(Y, X.r))
        return ArticulatedInertia(self.I.rotated(Et).plus(Sym3.of(Z)), Y, M)

    def solve(self, f: Force) -> Motion:
        """The acceleration that force `f` gives: I⁻¹f, for a positive definite inertia."""
        return Motion.of(self.matrix.solve(Vector(f.components)))

    @property
    def matrix(self) -> Matrix:
        """The dense 6x6 matrix."""
        return Matrix.columns(((self @ e).components for e in Motion.basis()), 6)
