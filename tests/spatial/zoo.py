"""Random spatial quantities over scalars of several kinds, and equality to the precision of the kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

from knuckle.scalar import ONE, ZERO, Dual
from knuckle.spatial import (
    ArticulatedInertia,
    Force,
    Inertia,
    InverseInertia,
    Matrix,
    Motion,
    PlanarArticulatedInertia,
    PlanarForce,
    PlanarInertia,
    PlanarMotion,
    PlanarTransform,
    Sym3,
    Transform,
    Vector,
    rotation,
)
from knuckle.spatial.subspace import Subspace

DIGITS = 40


@dataclass(frozen=True)
class Kind:
    """A kind of scalar: how to draw one of size about one, and how far apart equals may be (0 if it is exact).

    Data are of size one and each result takes some hundred operations, hence a thousand units in the last place.
    """

    name: str
    draw: Callable[[np.random.Generator], Any]
    tolerance: float
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rng", np.random.default_rng(self.seed))

    def scalar(self) -> Any:
        return self.draw(self.rng)  # type: ignore[attr-defined]

    def positive(self) -> Any:
        x = self.scalar()
        return 1 + x * x

    def numbers(self, n: int) -> tuple[Any, ...]:
        return tuple(self.scalar() for _ in range(n))

    def vec3(self) -> Any:
        return self.numbers(3)

    def motion(self) -> Motion:
        return Motion(self.vec3(), self.vec3())

    def force(self) -> Force:
        return Force(self.vec3(), self.vec3())

    def rotation(self) -> Any:
        """Rational in the numbers drawn, so that it is a rotation for exact kinds too."""
        return rotation.from_quaternion((self.positive(), *self.vec3()))

    def transform(self) -> Transform:
        return Transform(self.rotation(), self.vec3())

    def sym3(self) -> Sym3:
        return Sym3(*self.numbers(6))

    def spread(self) -> Sym3:
        """The rotational inertia of some mass points: positive definite."""
        points = [self.vec3() for _ in range(4)]
        total = Sym3.scalar(self.positive())
        for x, y, z in points:
            total = total.plus(Sym3(y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y))
        return total

    def inertia(self) -> Inertia:
        return Inertia.of(self.positive(), self.vec3(), self.spread().matrix)

    def articulated(self) -> ArticulatedInertia:
        """A rigid-body inertia and two dyads more: symmetric, positive definite, all 21 numbers used."""
        forces = [self.force(), self.force()]
        return ArticulatedInertia.dyadic(forces, forces) + self.inertia()

    def planar_motion(self) -> PlanarMotion:
        return PlanarMotion(*self.numbers(3))

    def planar_force(self) -> PlanarForce:
        return PlanarForce(*self.numbers(3))

    def planar_transform(self) -> PlanarTransform:
        w, z = self.positive(), self.scalar()
        n = w * w + z * z
        return PlanarTransform((w * w - z * z) / n, 2 * w * z / n, *self.numbers(2))

    def planar_inertia(self) -> PlanarInertia:
        return PlanarInertia.of(self.positive(), self.numbers(2), self.positive())

    def planar_articulated(self) -> PlanarArticulatedInertia:
        forces = [self.planar_force(), self.planar_force()]
        return PlanarArticulatedInertia.dyadic(forces, forces) + self.planar_inertia()

    def matrix(self, m: int, n: int) -> Matrix:
        return Matrix([self.numbers(n) for _ in range(m)], n)

    def vector(self, n: int) -> Vector:
        return Vector(self.numbers(n))

    def at(self, seed: int) -> Kind:
        return replace(self, seed=seed)

    def loosened(self, condition: float) -> Kind:
        """For results whose rounding errors a condition number magnifies."""
        return replace(self, tolerance=self.tolerance * condition)

    def same(self, a: Any, b: Any) -> None:
        """Asserts that two quantities are of one type and equal."""
        assert type(a) is type(b) or not hasattr(a, "components"), f"{type(a).__name__} and {type(b).__name__}"
        equal(scalars(a), scalars(b), self.tolerance)

    def nothing(self, a: Any) -> None:
        """Asserts that a quantity is zero, of numbers of size one to ten."""
        for x in scalars(a):
            assert np.all(magnitude(x) <= 10 * self.tolerance), f"{x} is not zero"


def scalars(a: Any) -> list[Any]:
    """All the scalars of a quantity."""
    if isinstance(a, (Motion, Force, PlanarMotion, PlanarForce)):
        return list(a.components)
    if isinstance(a, Transform):
        return [*scalars(a.E), *a.r]
    if isinstance(a, PlanarTransform):
        return [a.c, a.s, a.x, a.y]
    if isinstance(a, (Inertia, ArticulatedInertia, InverseInertia, PlanarInertia, PlanarArticulatedInertia)):
        return scalars(a.matrix)
    if isinstance(a, Matrix):
        return [x for row in a.rows for x in row]
    if isinstance(a, (Vector, Subspace, tuple, list)):
        return [x for item in a for x in scalars(item)]
    return [a]


def magnitude(x: Any) -> Any:
    if isinstance(x, Dual):
        return max(np.max(magnitude(x.value)), np.max(magnitude(x.derivative)))
    if isinstance(x, sp.Basic):
        return 0.0 if x == 0 else abs(float(x)) + 1e-300
    if isinstance(x, (mp.mpf, mp.mpc)):
        return abs(x)
    if isinstance(x, Fraction):
        return abs(x)
    return np.abs(float(x) if x is ZERO or x is ONE else x)


def equal(a: Iterable[Any], b: Iterable[Any], tolerance: float) -> None:
    a, b = list(a), list(b)
    assert len(a) == len(b), f"{len(a)} numbers and {len(b)}"
    size = max([1, *(np.max(magnitude(x)) for x in (*a, *b))])
    for x, y in zip(a, b, strict=True):
        assert np.all(magnitude(x - y) <= tolerance * size), f"{x} is not {y}"


def _fraction(rng: np.random.Generator) -> Fraction:
    return Fraction(int(rng.integers(-9, 10)), int(rng.integers(1, 10)))


def _digits(rng: np.random.Generator) -> Any:
    """All digits of an mpmath number random."""
    return sum((mp.mpf(rng.uniform(-2, 2)) * mp.mpf(2) ** (-50 * k) for k in range(3)), mp.mpf(0))


KINDS = {
    kind.name: kind
    for kind in (
        Kind("float", lambda rng: float(rng.uniform(-2, 2)), 2e-13),
        Kind("complex", lambda rng: complex(rng.uniform(-1, 1), rng.uniform(-0.2, 0.2)), 2e-13),
        Kind("lanes", lambda rng: rng.uniform(-2, 2, 3), 2e-13),
        Kind("float32", lambda rng: rng.uniform(-2, 2, 3).astype(np.float32), 2e-4),
        Kind("mpmath", _digits, 1e-36),
        Kind("fraction", _fraction, 0),
        Kind("sympy", lambda rng: sp.Rational(_fraction(rng)), 0),
        Kind("dual", lambda rng: Dual(*map(float, rng.uniform(-1, 1, 2))), 2e-13),
    )
}


def dense(a: Any) -> np.ndarray:
    """A matrix of floats."""
    return np.array([[float(x) for x in row] for row in a.rows]).reshape(a.nrows, a.ncols)
