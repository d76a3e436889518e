"""The planar twins of rigid-body, inverse and articulated inertia (RBDA 2.16, 7.1, A.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ZERO, MadeOfScalars, constant
from knuckle.scalar.arrays.dense import Matrix, Vector
from knuckle.spatial.vectors import refuse

from .planar_vectors import PlanarForce, PlanarMotion, PlanarTransform


@dataclass(frozen=True, slots=True)
class PlanarInertia(MadeOfScalars):
    """Mass, first moments and second moment about the origin: four numbers (RBDA A.1, mcI)."""

    is_inertia = True
    dimension = 3

    mass: Any
    hx: Any
    hy: Any
    I: Any

    @classmethod
    def zero(cls) -> PlanarInertia:
        return cls(ZERO, ZERO, ZERO, ZERO)

    @classmethod
    def of(cls, mass: Any, com: Any, I_com: Any) -> PlanarInertia:
        m, x, y, i = (constant(a) for a in (mass, *com, I_com))
        return cls(m, m * x, m * y, i + m * (x * x + y * y))

    @property
    def com(self) -> tuple[Any, Any]:
        return self.hx / self.mass, self.hy / self.mass

    @property
    def first_moment(self) -> tuple[Any, Any]:
        """Mass times centre of mass."""
        return self.hx, self.hy

    @property
    def I_com(self) -> Any:
        """The rotational inertia about the centre of mass."""
        x, y = self.com
        return self.I - self.hx * x - self.hy * y

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, PlanarMotion):
            w, x, y = other.components
            return PlanarForce(
                self.I * w + self.hx * y - self.hy * x, self.mass * x - self.hy * w, self.mass * y + self.hx * w
            )
        if getattr(other, "is_motion", False) and hasattr(other, "mapped_by"):
            return other.mapped_by(self)
        raise TypeError(f"an inertia applies to a motion, not to {type(other).__name__}")

    def __add__(self, other: Any) -> Any:
        if isinstance(other, PlanarInertia):
            return PlanarInertia(self.mass + other.mass, self.hx + other.hx, self.hy + other.hy, self.I + other.I)
        return NotImplemented

    def __mul__(self, s: Any) -> PlanarInertia:
        if isinstance(s, MadeOfScalars):
            raise refuse("the product", self, s)
        return PlanarInertia(s * self.mass, s * self.hx, s * self.hy, s * self.I)

    __rmul__ = __mul__

    def __neg__(self) -> PlanarInertia:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def brought_back(self, X: PlanarTransform) -> PlanarInertia:
        """Xᵀ I X."""
        hx, hy = X.inv.direction(self.hx, self.hy)
        gx, gy = hx + self.mass * X.x, hy + self.mass * X.y
        return PlanarInertia(self.mass, gx, gy, self.I + X.x * (hx + gx) + X.y * (hy + gy))

    def carried(self, X: PlanarTransform) -> PlanarInertia:
        """X* I X⁻¹."""
        return self.brought_back(X.inverse())

    def rate(self, v: PlanarMotion) -> PlanarArticulatedInertia:
        """v×* I − I v×."""
        return PlanarArticulatedInertia.from_columns(
            [v.cross(self @ e) - self @ v.cross(e) for e in PlanarMotion.basis()]
        )

    def coriolis(self, v: PlanarMotion) -> PlanarCoriolis:
        """2B of a body that moves with `v`: J = 2 h·v, and its linear momentum."""
        momentum, moving = self @ v, self.hx * v.x + self.hy * v.y
        return PlanarCoriolis(moving + moving, momentum.angular, momentum.x, momentum.y)

    def kinetic_energy(self, v: PlanarMotion) -> Any:
        return v.dot(self @ v) / 2

    @property
    def inverse(self) -> PlanarInverseInertia:
        """The inverse inertia Φ, from forces to motions."""
        return PlanarInverseInertia(1 / self.mass, self.com, 1 / self.I_com)

    @property
    def matrix(self) -> Matrix:
        """The dense 3x3 matrix (RBDA A.1, mcI)."""
        return Matrix.columns(((self @ e).components for e in PlanarMotion.basis()), 3)


@dataclass(frozen=True, slots=True)
class PlanarCoriolis(MadeOfScalars):
    """2B u = İu + u ×* h = (J ω, −2 p_y ω, 2 p_x ω) in the plane, with h = (L, p_x, p_y)."""

    is_inertia = True
    dimension = 3

    J: Any
    L: Any
    px: Any
    py: Any

    @classmethod
    def zero(cls) -> PlanarCoriolis:
        return cls(ZERO, ZERO, ZERO, ZERO)

    @property
    def T(self) -> TransposedPlanarCoriolis:
        """2Bᵀ."""
        return TransposedPlanarCoriolis(self)

    @property
    def momentum(self) -> PlanarForce:
        """h."""
        return PlanarForce(self.L, self.px, self.py)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, PlanarMotion):
            w = other.angular
            return PlanarForce(self.J * w, -((self.py + self.py) * w), (self.px + self.px) * w)
        return other.mapped_by(self)

    def __add__(self, other: PlanarCoriolis) -> PlanarCoriolis:
        return PlanarCoriolis(self.J + other.J, self.L + other.L, self.px + other.px, self.py + other.py)

    def brought_back(self, X: PlanarTransform) -> PlanarCoriolis:
        """Xᵀ 2B X."""
        h = X.T @ self.momentum
        moving = X.x * h.x + X.y * h.y
        return PlanarCoriolis(self.J + (moving + moving), *h.components)


@dataclass(frozen=True, slots=True)
class TransposedPlanarCoriolis(MadeOfScalars):
    """2Bᵀ u: a moment."""

    B: PlanarCoriolis

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, PlanarMotion):
            B = self.B
            moment = B.J * other.angular + (B.px + B.px) * other.y - (B.py + B.py) * other.x
            return PlanarForce(moment, ZERO, ZERO)
        return other.mapped_by(self)


@dataclass(frozen=True, slots=True)
class PlanarInverseInertia(MadeOfScalars):
    """Φ: the acceleration that a force gives a free body in the plane (RBDA 2.73)."""

    dimension = 3

    inverse_mass: Any
    com: tuple[Any, Any]
    I_inverse: Any

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, PlanarForce):
            x, y = self.com
            w = self.I_inverse * (other.angular - x * other.y + y * other.x)
            return PlanarMotion(w, self.inverse_mass * other.x + y * w, self.inverse_mass * other.y - x * w)
        if getattr(other, "is_force", False) and hasattr(other, "mapped_by"):
            return other.mapped_by(self)
        raise TypeError(f"an inverse inertia applies to a force, not to {type(other).__name__}")

    def carried(self, X: PlanarTransform) -> PlanarInverseInertia:
        """X Φ Xᵀ (RBDA table 2.5)."""
        return PlanarInverseInertia(self.inverse_mass, X.point(self.com), self.I_inverse)

    def brought_back(self, X: PlanarTransform) -> PlanarInverseInertia:
        """X⁻¹ Φ X⁻ᵀ."""
        return PlanarInverseInertia(self.inverse_mass, X.inv.point(self.com), self.I_inverse)

    @property
    def matrix(self) -> Matrix:
        """The dense 3x3 matrix."""
        return Matrix.columns(((self @ e).components for e in PlanarForce.basis()), 3)


@dataclass(frozen=True, slots=True)
class PlanarArticulatedInertia(MadeOfScalars):
    """A symmetric 3x3 map from motions to forces: six numbers, the lower triangle by rows."""

    is_inertia = True
    dimension = 3

    a: Any
    b: Any
    c: Any
    d: Any
    e: Any
    f: Any

    @classmethod
    def zero(cls) -> PlanarArticulatedInertia:
        return cls(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)

    @classmethod
    def of(cls, i: PlanarInertia) -> PlanarArticulatedInertia:
        return cls(i.I, -i.hy, i.mass, i.hx, ZERO, i.mass)

    @classmethod
    def from_columns(cls, columns: Any) -> PlanarArticulatedInertia:
        p, q, r = columns
        return cls(p.angular, p.x, q.x, p.y, q.y, r.y)

    @classmethod
    def dyadic(cls, U: Any, W: Any) -> PlanarArticulatedInertia:
        """Σ Uₖ Wₖᵀ, a map that must come out symmetric."""
        total = cls.zero()
        for u, w in zip(U, W, strict=True):
            a, b, c = u.components
            A, B, C = w.components
            total = total + cls(a * A, b * A, b * B, c * A, c * B, c * C)
        return total

    @property
    def _rows(self) -> tuple[tuple[Any, Any, Any], ...]:
        return (self.a, self.b, self.d), (self.b, self.c, self.e), (self.d, self.e, self.f)

    @property
    def _entries(self) -> tuple[Any, ...]:
        return self.a, self.b, self.c, self.d, self.e, self.f

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, PlanarMotion):
            m = other.components
            return PlanarForce(*(r[0] * m[0] + r[1] * m[1] + r[2] * m[2] for r in self._rows))
        if getattr(other, "is_motion", False) and hasattr(other, "mapped_by"):
            return other.mapped_by(self)
        raise TypeError(f"an articulated inertia applies to an acceleration, not to {type(other).__name__}")

    def __add__(self, other: Any) -> PlanarArticulatedInertia:
        o = PlanarArticulatedInertia.of(other) if isinstance(other, PlanarInertia) else other
        if not isinstance(o, PlanarArticulatedInertia):
            raise refuse("the sum", self, other)
        return PlanarArticulatedInertia(*(x + y for x, y in zip(self._entries, o._entries, strict=True)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> PlanarArticulatedInertia:
        return self + (-other)

    def __neg__(self) -> PlanarArticulatedInertia:
        return self * -1

    def __mul__(self, s: Any) -> PlanarArticulatedInertia:
        if isinstance(s, MadeOfScalars):
            raise refuse("the product", self, s)
        return PlanarArticulatedInertia(*(s * x for x in self._entries))

    __rmul__ = __mul__

    def brought_back(self, X: PlanarTransform) -> PlanarArticulatedInertia:
        """Xᵀ I X."""
        return PlanarArticulatedInertia.from_columns([X.T @ (self @ (X @ e)) for e in PlanarMotion.basis()])

    def carried(self, X: PlanarTransform) -> PlanarArticulatedInertia:
        """X* I X⁻¹."""
        return self.brought_back(X.inverse())

    def solve(self, f: PlanarForce) -> PlanarMotion:
        """I⁻¹f."""
        return PlanarMotion.of(self.matrix.solve(Vector(f.components)))

    @property
    def matrix(self) -> Matrix:
        return Matrix(self._rows)
