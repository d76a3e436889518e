"""The planar twins: the same algebra with 3-vectors, for mechanisms that move in the xy plane (RBDA 2.16, A.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from knuckle.scalar import ONE, ZERO, constant

from .dense import Matrix, Vector
from .transform import TransposedTransform


def _refuse(operation: str, a: object, b: object) -> TypeError:
    return TypeError(f"{operation} of {type(a).__name__} and {type(b).__name__} has no meaning")


@dataclass(frozen=True, slots=True)
class PlanarVector:
    """Three numbers: angular, then linear."""

    angular: Any
    x: Any
    y: Any

    @classmethod
    def zero(cls) -> Self:
        return cls(ZERO, ZERO, ZERO)

    @classmethod
    def basis(cls) -> tuple[Self, ...]:
        return cls(ONE, ZERO, ZERO), cls(ZERO, ONE, ZERO), cls(ZERO, ZERO, ONE)

    @classmethod
    def of(cls, numbers: Any) -> Self:
        return cls(*(constant(x) for x in numbers))

    @property
    def components(self) -> tuple[Any, ...]:
        return self.angular, self.x, self.y

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            raise _refuse("the sum", self, other)
        return type(self)(self.angular + other.angular, self.x + other.x, self.y + other.y)

    def __sub__(self, other: Self) -> Self:
        return self + (-other)

    def __neg__(self) -> Self:
        return type(self)(-self.angular, -self.x, -self.y)

    def __mul__(self, s: Any) -> Self:
        if isinstance(s, PlanarVector):
            raise _refuse("the product", self, s)
        return type(self)(s * self.angular, s * self.x, s * self.y)

    __rmul__ = __mul__

    def __truediv__(self, s: Any) -> Self:
        return type(self)(self.angular / s, self.x / s, self.y / s)

    @property
    def linear(self) -> tuple[Any, Any]:
        return self.x, self.y


class PlanarMotion(PlanarVector):
    """(ω, vx, vy)."""

    __slots__ = ()
    __array_ufunc__ = None
    is_motion = True

    @staticmethod
    def dual() -> type[PlanarForce]:
        return PlanarForce

    def cross(self, other: Any) -> Any:
        """v × m and v ×* f (RBDA 2.16)."""
        w, x, y = self.components
        if isinstance(other, PlanarMotion):
            a, b, c = other.components
            return PlanarMotion(ZERO, y * a - w * c, w * b - x * a)
        if isinstance(other, PlanarForce):
            _, f, g = other.components
            return PlanarForce(x * g - y * f, -(w * g), w * f)
        if hasattr(other, "crossed_by"):
            return other.crossed_by(self)
        raise _refuse("the cross product", self, other)

    def dot(self, other: PlanarForce) -> Any:
        if not isinstance(other, PlanarForce):
            raise _refuse("the scalar product", self, other)
        return self.angular * other.angular + self.x * other.x + self.y * other.y


class PlanarForce(PlanarVector):
    """(moment, fx, fy)."""

    __slots__ = ()
    __array_ufunc__ = None

    @staticmethod
    def dual() -> type[PlanarMotion]:
        return PlanarMotion

    @staticmethod
    def articulated() -> Any:
        return PlanarArticulatedInertia

    def dot(self, other: PlanarMotion) -> Any:
        if not isinstance(other, PlanarMotion):
            raise _refuse("the scalar product", self, other)
        return other.dot(self)

    def cross(self, other: object) -> Any:
        """There is none: only a motion stands left of a cross product."""
        raise _refuse("the cross product", self, other)


@dataclass(frozen=True, slots=True)
class PlanarTransform:
    """To a frame at (x, y) turned by the angle with cosine c and sine s (RBDA A.1, Xpln)."""

    c: Any = ONE
    s: Any = ZERO
    x: Any = ZERO
    y: Any = ZERO

    @classmethod
    def identity(cls) -> PlanarTransform:
        return cls()

    @classmethod
    def translation(cls, r: Any) -> PlanarTransform:
        x, y = (constant(v) for v in r)
        return cls(x=x, y=y)

    @classmethod
    def rotation(cls, E: tuple[Any, Any]) -> PlanarTransform:
        return cls(*E)

    @property
    def E(self) -> tuple[Any, Any]:
        """The turn, by cosine and sine."""
        return self.c, self.s

    def __matmul__(self, other: Any) -> Any:
        c, s = self.c, self.s
        if isinstance(other, PlanarMotion):
            w, a, b = other.components
            a, b = a - w * self.y, b + w * self.x
            return PlanarMotion(w, c * a + s * b, c * b - s * a)
        if isinstance(other, PlanarForce):
            n, f, g = other.components
            return PlanarForce(n - (self.x * g - self.y * f), c * f + s * g, c * g - s * f)
        if isinstance(other, PlanarTransform):
            x, y = other._back(self.x, self.y)
            return PlanarTransform(c * other.c - s * other.s, s * other.c + c * other.s, other.x + x, other.y + y)
        if hasattr(other, "carried"):
            return other.carried(self)
        return NotImplemented

    def _back(self, a: Any, b: Any) -> tuple[Any, Any]:
        """A direction of the new frame in the old one."""
        return self.c * a - self.s * b, self.s * a + self.c * b

    @property
    def inv(self) -> PlanarInverse:
        return PlanarInverse(self)

    @property
    def T(self) -> TransposedTransform:
        return TransposedTransform(self)

    def inverse(self) -> PlanarTransform:
        c, s, x, y = self.c, self.s, self.x, self.y
        return PlanarTransform(c, -s, -(c * x + s * y), s * x - c * y)

    @property
    def matrix(self) -> Matrix:
        return Matrix.columns(((self @ e).components for e in PlanarMotion.basis()), 3)

    @property
    def homogeneous(self) -> Matrix:
        c, s = self.c, self.s
        return Matrix([(c, -s, self.x), (s, c, self.y), (ZERO, ZERO, ONE)])


@dataclass(frozen=True, slots=True)
class PlanarInverse:
    """X⁻¹ as an operator."""

    X: PlanarTransform

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, PlanarMotion):
            a, b = self.X._back(other.x, other.y)
            return PlanarMotion(other.angular, a + other.angular * self.X.y, b - other.angular * self.X.x)
        if isinstance(other, PlanarForce):
            f, g = self.X._back(other.x, other.y)
            return PlanarForce(other.angular + self.X.x * g - self.X.y * f, f, g)
        if isinstance(other, PlanarTransform):
            return self.X.inverse() @ other
        if hasattr(other, "brought_back"):
            return other.brought_back(self.X)
        return NotImplemented


@dataclass(frozen=True, slots=True)
class PlanarInertia:
    """Mass, first moments and second moment about the origin: four numbers (RBDA A.1, mcI)."""

    is_inertia = True

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
        return self.hx, self.hy

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, PlanarMotion):
            w, x, y = other.components
            return PlanarForce(
                self.I * w + self.hx * y - self.hy * x, self.mass * x - self.hy * w, self.mass * y + self.hx * w
            )
        if hasattr(other, "mapped_by"):
            return other.mapped_by(self)
        raise TypeError(f"an inertia applies to a motion, not to {type(other).__name__}")

    def __add__(self, other: Any) -> Any:
        if isinstance(other, PlanarInertia):
            return PlanarInertia(self.mass + other.mass, self.hx + other.hx, self.hy + other.hy, self.I + other.I)
        return NotImplemented

    def brought_back(self, X: PlanarTransform) -> PlanarInertia:
        """Xᵀ I X."""
        hx, hy = X._back(self.hx, self.hy)
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

    def kinetic_energy(self, v: PlanarMotion) -> Any:
        return v.dot(self @ v) / 2

    @property
    def matrix(self) -> Matrix:
        return Matrix.columns(((self @ e).components for e in PlanarMotion.basis()), 3)


@dataclass(frozen=True, slots=True)
class PlanarArticulatedInertia:
    """A symmetric 3x3 map from motions to forces: six numbers, the lower triangle by rows."""

    is_inertia = True

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
        if hasattr(other, "mapped_by"):
            return other.mapped_by(self)
        raise TypeError(f"an articulated inertia applies to an acceleration, not to {type(other).__name__}")

    def __add__(self, other: Any) -> PlanarArticulatedInertia:
        o = PlanarArticulatedInertia.of(other) if isinstance(other, PlanarInertia) else other
        return PlanarArticulatedInertia(*(x + y for x, y in zip(self._entries, o._entries, strict=True)))

    __radd__ = __add__

    def __sub__(self, other: PlanarArticulatedInertia) -> PlanarArticulatedInertia:
        return self + other * -1

    def __mul__(self, s: Any) -> PlanarArticulatedInertia:
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
