"""The planar twins of vectors and transforms: 3-vectors for mechanisms that move in the xy plane (RBDA 2.16, A.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from knuckle.scalar import ONE, ZERO, MadeOfScalars, constant
from knuckle.scalar.arrays.dense import Matrix
from knuckle.spatial.transform import TransposedTransform
from knuckle.spatial.vectors import refuse


@dataclass(frozen=True, slots=True)
class PlanarVector(MadeOfScalars):
    """Three numbers: angular, then linear."""

    dimension = 3

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
        """From three numbers, angular first; plain zeros and ones become structural."""
        a, x, y = (constant(n) for n in numbers)
        return cls(a, x, y)

    @property
    def components(self) -> tuple[Any, ...]:
        return self.angular, self.x, self.y

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            raise refuse("the sum", self, other)
        return type(self)(self.angular + other.angular, self.x + other.x, self.y + other.y)

    def __sub__(self, other: Self) -> Self:
        if type(other) is not type(self):
            raise refuse("the difference", self, other)
        return type(self)(self.angular - other.angular, self.x - other.x, self.y - other.y)

    def __neg__(self) -> Self:
        return type(self)(-self.angular, -self.x, -self.y)

    def __mul__(self, s: Any) -> Self:
        if isinstance(s, MadeOfScalars):
            raise refuse("the product", self, s)
        return type(self)(s * self.angular, s * self.x, s * self.y)

    __rmul__ = __mul__

    def __truediv__(self, s: Any) -> Self:
        if isinstance(s, MadeOfScalars):
            raise refuse("the quotient", self, s)
        return type(self)(self.angular / s, self.x / s, self.y / s)

    @property
    def linear(self) -> tuple[Any, Any]:
        return self.x, self.y


class PlanarMotion(PlanarVector):
    """(ω, vx, vy)."""

    __slots__ = ()
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
        if getattr(other, "dimension", 0) == 3 and hasattr(other, "crossed_by"):
            return other.crossed_by(self)
        raise refuse("the cross product", self, other)

    def dot(self, other: PlanarForce) -> Any:
        if not isinstance(other, PlanarForce):
            raise refuse("the scalar product", self, other)
        return self.angular * other.angular + self.x * other.x + self.y * other.y


class PlanarForce(PlanarVector):
    """(moment, fx, fy)."""

    __slots__ = ()
    is_force = True

    @staticmethod
    def dual() -> type[PlanarMotion]:
        return PlanarMotion

    @staticmethod
    def articulated() -> Any:
        """The type of map from motions to these forces."""
        from .planar_inertia import PlanarArticulatedInertia

        return PlanarArticulatedInertia

    def dot(self, other: PlanarMotion) -> Any:
        if not isinstance(other, PlanarMotion):
            raise refuse("the scalar product", self, other)
        return other.dot(self)

    def cross(self, other: object) -> Any:
        """There is none: only a motion stands left of a cross product."""
        raise refuse("the cross product", self, other)


@dataclass(frozen=True, slots=True)
class PlanarTransform(MadeOfScalars):
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

    @property
    def r(self) -> tuple[Any, Any]:
        """Where the new origin is, in the old frame."""
        return self.x, self.y

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
            x, y = other.inv.direction(self.x, self.y)
            return PlanarTransform(c * other.c - s * other.s, s * other.c + c * other.s, other.x + x, other.y + y)
        if getattr(other, "dimension", 0) == 3 and hasattr(other, "carried"):
            return other.carried(self)
        return NotImplemented

    @property
    def inv(self) -> PlanarInverse:
        return PlanarInverse(self)

    @property
    def T(self) -> TransposedTransform:
        return TransposedTransform(self)

    def inverse(self) -> PlanarTransform:
        c, s, x, y = self.c, self.s, self.x, self.y
        return PlanarTransform(c, -s, -(c * x + s * y), s * x - c * y)

    def point(self, p: tuple[Any, Any]) -> tuple[Any, Any]:
        """A point given in the old frame, in the new one."""
        a, b = p[0] - self.x, p[1] - self.y
        return self.c * a + self.s * b, self.c * b - self.s * a

    @property
    def matrix(self) -> Matrix:
        """The 3x3 matrix that transforms motions (RBDA A.1, Xpln), dense."""
        return Matrix.columns(((self @ e).components for e in PlanarMotion.basis()), 3)

    @property
    def force_matrix(self) -> Matrix:
        """The 3x3 matrix X* = X⁻ᵀ that transforms forces."""
        return Matrix.columns(((self @ e).components for e in PlanarForce.basis()), 3)

    @property
    def homogeneous(self) -> Matrix:
        c, s = self.c, self.s
        return Matrix([(c, -s, self.x), (s, c, self.y), (ZERO, ZERO, ONE)])


@dataclass(frozen=True, slots=True)
class PlanarInverse(MadeOfScalars):
    """X⁻¹ as an operator."""

    X: PlanarTransform

    def direction(self, a: Any, b: Any) -> tuple[Any, Any]:
        """A direction of the new frame in the old one."""
        return self.X.c * a - self.X.s * b, self.X.s * a + self.X.c * b

    def point(self, p: tuple[Any, Any]) -> tuple[Any, Any]:
        """A point given in the new frame, in the old one."""
        x, y = self.direction(*p)
        return x + self.X.x, y + self.X.y

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, PlanarMotion):
            a, b = self.direction(other.x, other.y)
            return PlanarMotion(other.angular, a + other.angular * self.X.y, b - other.angular * self.X.x)
        if isinstance(other, PlanarForce):
            f, g = self.direction(other.x, other.y)
            return PlanarForce(other.angular + self.X.x * g - self.X.y * f, f, g)
        if isinstance(other, PlanarTransform):
            return self.X.inverse() @ other
        if getattr(other, "dimension", 0) == 3 and hasattr(other, "brought_back"):
            return other.brought_back(self.X)
        return NotImplemented


def displacement(X: PlanarTransform, *, simple: bool = False) -> PlanarMotion:
    """d with X ≈ 1 − d×: the book's XtoV in the plane (RBDA A.1).

    d = X d whatever the angle, and d is the exact displacement times sin θ/θ. The `simple` version has the origin's
    displacement in new coordinates for its linear part, and is good to first order only.
    """
    c, s, x, y = X.c, X.s, X.x, X.y
    a, b = c * x + s * y, c * y - s * x
    return PlanarMotion(s, a, b) if simple else PlanarMotion(s, (x + a) / 2, (y + b) / 2)
