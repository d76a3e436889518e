"""Rigid-body inertia in ten numbers (RBDA 2.13, A.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

from knuckle.scalar import ONE, ZERO, MadeOfScalars, constant
from knuckle.scalar.arrays.dense import Matrix

from .forms import Applied
from .three import (
    ZERO3,
    Mat3,
    Sym3,
    Vec3,
    add,
    cross,
    cross_cross,
    cross_matrix,
    dot,
    matadd,
    matsub,
    matvec,
    scale,
    skew,
    spin,
    sub,
    tmatvec,
    transpose,
)
from .vectors import Force, Motion, refuse


@dataclass(frozen=True, slots=True)
class Inertia(MadeOfScalars):
    """A rigid body's inertia about the frame's origin: mass, first moment h = m c, second moments I."""

    is_inertia = True
    dimension = 6

    mass: Any
    h: Vec3
    I: Sym3

    @classmethod
    def zero(cls) -> Inertia:
        return cls(ZERO, (ZERO, ZERO, ZERO), Sym3.zero())

    @classmethod
    def of(cls, mass: Any, com: Any, I_com: Any) -> Inertia:
        """From the mass, the centre of mass and the 3x3 rotational inertia about it (RBDA 2.63)."""
        m = constant(mass)
        c: Vec3 = tuple(constant(x) for x in com)  # type: ignore[assignment]
        moments = I_com if isinstance(I_com, Sym3) else Sym3.of(tuple(tuple(row) for row in I_com))  # type: ignore[arg-type]
        rotational = Sym3(*(constant(x) for x in moments))
        return cls(m, scale(m, c), rotational.minus(cross_cross(c, c).times(m)))

    @property
    def com(self) -> Vec3:
        """The centre of mass."""
        return self.h[0] / self.mass, self.h[1] / self.mass, self.h[2] / self.mass

    @property
    def first_moment(self) -> Vec3:
        """Mass times centre of mass."""
        return self.h

    @property
    def I_com(self) -> Sym3:
        """The rotational inertia about the centre of mass."""
        c = self.com
        return self.I.plus(cross_cross(c, c).times(self.mass))

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Motion):
            w, v = other.angular, other.linear
            n, f = add(self.I.apply(w), cross(self.h, v)), sub(scale(self.mass, v), cross(self.h, w))
            return Force(n, f).formed(Applied(self, other))
        if getattr(other, "is_motion", False) and hasattr(other, "mapped_by"):
            return other.mapped_by(self)
        raise TypeError(f"an inertia applies to a motion, not to {type(other).__name__}")

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Inertia):
            return Inertia(self.mass + other.mass, add(self.h, other.h), self.I.plus(other.I))
        return NotImplemented

    def __mul__(self, s: Any) -> Inertia:
        if isinstance(s, MadeOfScalars):
            raise refuse("the product", self, s)
        return Inertia(s * self.mass, scale(s, self.h), self.I.times(s))

    __rmul__ = __mul__

    def __neg__(self) -> Inertia:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def carried(self, X: Any) -> Inertia:
        """X* I X⁻¹ (RBDA table A.4)."""
        y = sub(self.h, scale(self.mass, X.r))
        I = self.I.plus(cross_cross(X.r, self.h)).plus(cross_cross(y, X.r))
        return Inertia(self.mass, matvec(X.E, y), I.rotated(X.E))

    def brought_back(self, X: Any) -> Inertia:
        """Xᵀ I X (RBDA table A.4)."""
        h = tmatvec(X.E, self.h)
        shifted = add(h, scale(self.mass, X.r))
        I = self.I.rotated(transpose(X.E)).minus(cross_cross(X.r, h)).minus(cross_cross(shifted, X.r))
        return Inertia(self.mass, shifted, I)

    def rate(self, v: Motion) -> Any:
        """v×* I − I v×, how the inertia of a body moving with `v` changes (RBDA 2.65): symmetric, 21 numbers."""
        from .articulated import ArticulatedInertia

        return ArticulatedInertia.from_columns([v.cross(self @ e) - self @ v.cross(e) for e in Motion.basis()])

    def coriolis(self, v: Motion) -> BodyCoriolis:
        """2B of a body that moves with `v`: J = ω×I − Iω× − v×h× − h×v×, and its momentum."""
        w = cross_matrix(v.angular, self.I.matrix)
        turning, shifting = (
            Sym3.of(matadd(w, transpose(w))),
            cross_cross(v.linear, self.h).plus(cross_cross(self.h, v.linear)),
        )
        momentum = self @ v
        return BodyCoriolis(turning.minus(shifting), momentum.angular, momentum.linear)

    def gyration(self, v: Motion) -> tuple[Vec3, Vec3]:
        """v ×* I v = (ω × Iω + h × (ω × v), m ω × v + ω × (ω × h)), by Jacobi's identity (RBDA 2.14)."""
        w = v.angular
        p = cross(w, v.linear)
        return add(cross(w, self.I.apply(w)), cross(self.h, p)), add(scale(self.mass, p), cross(w, cross(w, self.h)))

    def inertial_force(self, w: Vec3, dw: Vec3, p: Vec3) -> tuple[Vec3, Vec3]:
        """(Iω̇ + ω × Iω + h × p̈, m p̈ + (ω̇× + ω×ω×) h): moment and force to move a body whose origin accelerates by p̈.

        With a = (ω̇, p̈ − ω × v) it is I a + v ×* I v, whatever v is (RBDA 2.11, 2.14).
        """
        xx, xy, yy, xz, yz, zz = self.I
        A, (x, y, z) = spin(w, dw), w
        n = (
            xx * dw[0] + xz * A[1][0] - xy * A[2][0] + yz * (y * y - z * z) + (zz - yy) * (y * z),
            yy * dw[1] + xy * A[2][1] - yz * A[0][1] + xz * (z * z - x * x) + (xx - zz) * (x * z),
            zz * dw[2] + yz * A[0][2] - xz * A[1][2] + xy * (x * x - y * y) + (yy - xx) * (x * y),
        )
        return add(n, cross(self.h, p)), add(scale(self.mass, p), matvec(A, self.h))

    def kinetic_energy(self, v: Motion) -> Any:
        """½ v·Iv (RBDA 2.67)."""
        return v.dot(self @ v) / 2

    @property
    def inverse(self) -> InverseInertia:
        """The inverse inertia Φ, from forces to motions (RBDA 2.74)."""
        return InverseInertia(1 / self.mass, self.com, _sym_inverse(self.I_com))

    @property
    def matrix(self) -> Matrix:
        """The dense 6x6 matrix (RBDA 2.63)."""
        return Matrix.columns(((self @ e).components for e in Motion.basis()), 6)


@dataclass(frozen=True, slots=True)
class BodyCoriolis(MadeOfScalars):
    """2B u = İu + u ×* h with İ = v×*I − Iv× and h = I v: what changes of a body's force when its velocity changes.

    İ is an inertia without mass (RBDA 2.65): its second moments J, and the linear momentum p for first moment. With
    h = (L, p), 2B u = ((J − L×) ω, −2p × ω), whatever the linear part of u = (ω, v) is: twelve numbers.
    """

    is_inertia = True
    dimension = 6

    J: Sym3
    L: Vec3
    p: Vec3

    @classmethod
    def zero(cls) -> BodyCoriolis:
        return cls(Sym3.zero(), ZERO3, ZERO3)

    @property
    def T(self) -> TransposedCoriolis:
        """2Bᵀ."""
        return TransposedCoriolis(self)

    @property
    def momentum(self) -> Force:
        """h."""
        return Force(self.L, self.p)

    @property
    def angular(self) -> Mat3:
        """J − L×: the moment of a turn."""
        return matsub(self.J.matrix, skew(self.L))

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Motion):
            return Force(matvec(self.angular, other.angular), cross(other.angular, add(self.p, self.p)))
        return other.mapped_by(self)

    def __add__(self, other: BodyCoriolis) -> BodyCoriolis:
        return BodyCoriolis(self.J.plus(other.J), add(self.L, other.L), add(self.p, other.p))

    def brought_back(self, X: Any) -> BodyCoriolis:
        """Xᵀ 2B X: J as that of an inertia without mass, h as a force."""
        h, rate = X.T @ self.momentum, Inertia(ZERO, self.p, self.J).brought_back(X)
        return BodyCoriolis(rate.I, h.angular, h.linear)


@dataclass(frozen=True, slots=True)
class TransposedCoriolis(MadeOfScalars):
    """2Bᵀ u = ((J + L×) ω + 2p × v, 0): a moment, wherever it is looked at from."""

    B: BodyCoriolis

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Motion):
            p = add(self.B.p, self.B.p)
            return Force(add(tmatvec(self.B.angular, other.angular), cross(p, other.linear)), ZERO3)
        return other.mapped_by(self)


@dataclass(frozen=True, slots=True)
class InverseInertia(MadeOfScalars):
    """Φ_O = [I⁻¹, I⁻¹c×ᵀ; c×I⁻¹, 1/m + c×I⁻¹c×ᵀ] (RBDA 2.74): the acceleration that a force gives a free body."""

    dimension = 6

    inverse_mass: Any
    com: Vec3
    I_inverse: Sym3

    @overload
    def __matmul__(self, other: Force) -> Motion: ...
    @overload
    def __matmul__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Force):
            w = self.I_inverse.apply(sub(other.angular, cross(self.com, other.linear)))
            return Motion(w, add(scale(self.inverse_mass, other.linear), cross(self.com, w)))
        if getattr(other, "is_force", False) and hasattr(other, "mapped_by"):
            return other.mapped_by(self)
        raise TypeError(f"an inverse inertia applies to a force, not to {type(other).__name__}")

    def carried(self, X: Any) -> InverseInertia:
        """X Φ Xᵀ (RBDA table 2.5)."""
        return InverseInertia(self.inverse_mass, X.point(self.com), self.I_inverse.rotated(X.E))

    def brought_back(self, X: Any) -> InverseInertia:
        """X⁻¹ Φ X⁻ᵀ."""
        return InverseInertia(self.inverse_mass, X.inv.point(self.com), self.I_inverse.rotated(transpose(X.E)))

    @property
    def matrix(self) -> Matrix:
        return Matrix.columns(((self @ e).components for e in Force.basis()), 6)


def _sym_inverse(A: Sym3) -> Sym3:
    """The inverse of a symmetric 3x3 matrix by cofactors."""
    a, b, c = A.matrix
    cofactors = cross(b, c), cross(c, a), cross(a, b)
    det = dot(a, cofactors[0])
    return Sym3(*(x / det for x in Sym3.of(cofactors)))


UNIT_MASS = Inertia(ONE, (ZERO, ZERO, ZERO), Sym3.zero())
