"""Plücker transforms without 6x6 matrices (RBDA 2.8, A.2-A.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ONE, ZERO, MadeOfScalars, constant
from knuckle.scalar.arrays.dense import Matrix

from . import forms
from .three import (
    IDENTITY3,
    ZERO3,
    Mat3,
    Vec3,
    add,
    axis_of,
    cross,
    matmul,
    matvec,
    neg,
    sub,
    tmatvec,
    transpose,
)
from .vectors import Force, Motion


class _Stepped(MadeOfScalars):
    """What can remember its factors. They are no part of the value: equality, copies and files do not have them."""

    __slots__ = ("_steps",)

    @property
    def steps(self) -> tuple[Transform, Transform] | None:
        """The factors of a product that costs less applied one after the other: axial screws (RBDA A.4)."""
        return getattr(self, "_steps", None)


@dataclass(frozen=True, slots=True)
class Transform(_Stepped):
    """ᴮX_A = rot(E) xlt(r): from frame A to frame B, whose origin is r in A and whose axes are the rows of E.

    `X @ m`, `X @ f`, `X @ I` carry a motion, a force (X*f) or an inertia (X*IX⁻¹) from A to B; `X.inv @ …` carries
    each from B to A without forming an inverse; `X.T @ f` is the force rule of that, as the book writes it.
    """

    E: Mat3 = IDENTITY3
    r: Vec3 = ZERO3

    @classmethod
    def identity(cls) -> Transform:
        return cls()

    @classmethod
    def of(cls, E: Any, r: Any) -> Transform:
        """From nested sequences of numbers; plain zeros and ones become structural."""
        a, b, c = (tuple(constant(x) for x in row) for row in E)
        x, y, z = (constant(v) for v in r)
        return cls((a, b, c), (x, y, z))  # type: ignore[arg-type]

    @classmethod
    def translation(cls, r: Any) -> Transform:
        """xlt(r): B is A moved by r (RBDA table 2.2)."""
        x, y, z = (constant(v) for v in r)
        return cls(IDENTITY3, (x, y, z))

    @classmethod
    def rotation(cls, E: Mat3) -> Transform:
        """rot(E): B is A turned in place (RBDA table 2.2)."""
        return cls(E, ZERO3)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Transform):
            product = Transform(matmul(self.E, other.E), add(other.r, tmatvec(other.E, self.r)))
            a, b = self._axis(), other._axis()
            if a is not None and b is not None and a != b:
                object.__setattr__(product, "_steps", (self, other))
            return product
        if self.steps is not None:
            result = self.steps[0] @ (self.steps[1] @ other)
            if isinstance(other, Motion):
                result.formed(forms.stepped(self, other, result))
            return result
        if isinstance(other, Motion):
            w, v = other.angular, other.linear
            result = Motion(matvec(self.E, w), matvec(self.E, sub(v, cross(self.r, w))))
            return result.formed(forms.carried(self, other))
        if isinstance(other, Force):
            n, f = other.angular, other.linear
            return Force(matvec(self.E, sub(n, cross(self.r, f))), matvec(self.E, f))
        if getattr(other, "dimension", 0) == 6 and hasattr(other, "carried"):
            return other.carried(self)
        return NotImplemented

    def turned(self, x: Vec3) -> Vec3:
        """E x."""
        return self.steps[0].turned(self.steps[1].turned(x)) if self.steps else matvec(self.E, x)

    def _axis(self) -> int | None:
        """The coordinate axis that it is known to turn about, in one step."""
        return axis_of(self.E) if self.steps is None else None

    @property
    def inv(self) -> InverseTransform:
        """The way back, applied without being formed."""
        return InverseTransform(self)

    @property
    def T(self) -> TransposedTransform:
        """Xᵀ, which carries forces from B to A; `X.T @ I @ X` does it for an inertia."""
        return TransposedTransform(self)

    def inverse(self) -> Transform:
        """ᴬX_B, formed."""
        return Transform(transpose(self.E), neg(matvec(self.E, self.r)))

    @property
    def matrix(self) -> Matrix:
        """The dense 6x6 matrix that transforms motions (RBDA 2.24)."""
        return Matrix.columns(((self @ e).components for e in Motion.basis()), 6)

    @property
    def force_matrix(self) -> Matrix:
        """The 6x6 matrix X* that transforms forces (RBDA 2.25)."""
        return Matrix.columns(((self @ e).components for e in Force.basis()), 6)

    @property
    def homogeneous(self) -> Matrix:
        """The 4x4 matrix of frame B in frame A: its axes and origin in A coordinates (ᴬT_B)."""
        R, r = transpose(self.E), self.r
        return Matrix([*((*R[i], r[i]) for i in range(3)), (ZERO, ZERO, ZERO, ONE)])

    def point(self, p: Vec3) -> Vec3:
        """A point given in A, in B coordinates."""
        return matvec(self.E, sub(p, self.r))


IDENTITY = Transform()


@dataclass(frozen=True, slots=True)
class InverseTransform(MadeOfScalars):
    """X⁻¹ as an operator: the book's invApply (RBDA A.2)."""

    X: Transform

    def __matmul__(self, other: Any) -> Any:
        E, r = self.X.E, self.X.r
        if isinstance(other, Transform):
            return self.X.inverse() @ other
        if self.X.steps is not None:
            return self.X.steps[1].inv @ (self.X.steps[0].inv @ other)
        if isinstance(other, Motion):
            w = tmatvec(E, other.angular)
            return Motion(w, add(tmatvec(E, other.linear), cross(r, w)))
        if isinstance(other, Force):
            f = tmatvec(E, other.linear)
            return Force(add(tmatvec(E, other.angular), cross(r, f)), f)
        if getattr(other, "dimension", 0) == 6 and hasattr(other, "brought_back"):
            return other.brought_back(self.X)
        return NotImplemented

    def point(self, p: Vec3) -> Vec3:
        """A point given in B, in A coordinates."""
        return add(tmatvec(self.X.E, p), self.X.r)


@dataclass(frozen=True, slots=True)
class TransposedTransform(MadeOfScalars):
    """Xᵀ: the transform of forces from B to A. It has nothing to say to motions."""

    X: Any

    def __matmul__(self, other: Any) -> Any:
        if getattr(other, "is_inertia", False):
            return _HalfCongruence(self.X, other)
        if getattr(other, "is_force", False):
            return self.X.inv @ other
        raise TypeError(f"Xᵀ transforms forces and inertias; {type(other).__name__} goes back with X.inv")


@dataclass(frozen=True, slots=True)
class _HalfCongruence(MadeOfScalars):
    """Xᵀ I, waiting for its X."""

    X: Any
    inertia: Any

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, type(self.X)):
            if other is not self.X:
                raise ValueError("X.T @ I @ X needs the same transform on both sides")
            return self.X.inv @ self.inertia
        return self.X.T @ (self.inertia @ other)
