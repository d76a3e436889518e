"""Shapes in random places, moving ones too, and oracles for how far they are apart."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from knuckle.contact.detection import Detector
from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from knuckle.model.parts import Shape
from knuckle.scalar import Dual
from knuckle.spatial import Transform

Draw = Callable[[np.random.Generator], Shape]


def sizes(rng: np.random.Generator, n: int) -> tuple[float, ...]:
    return tuple(float(x) for x in rng.uniform(0.2, 1.0, n))


DRAWN: dict[str, Draw] = {
    "sphere": lambda rng: Sphere(*sizes(rng, 1)),
    "capsule": lambda rng: Capsule(*sizes(rng, 2)),
    "box": lambda rng: Box(sizes(rng, 3)),  # type: ignore[arg-type]
    "cylinder": lambda rng: Cylinder(*sizes(rng, 2)),
    "ellipsoid": lambda rng: Ellipsoid(sizes(rng, 3)),  # type: ignore[arg-type]
    "plane": lambda rng: Plane((0.0, 0.0)),
}


class Placement:
    """Where a shape is: the rotation of its axes and its origin, and how it moves: angular velocity and that of r."""

    def __init__(self, R: Any, r: Any, w: Any = (0, 0, 0), v: Any = (0, 0, 0)) -> None:
        self.R, self.r, self.w, self.v = (np.array(x, float) for x in (R, r, w, v))

    @classmethod
    def random(cls, rng: np.random.Generator, spread: float = 0.7) -> "Placement":
        R = Rotation.from_quat(rng.normal(size=4)).as_matrix()
        return cls(R, spread * rng.normal(size=3), rng.normal(size=3), rng.normal(size=3))

    @property
    def X(self) -> Transform:
        return Transform(tuple(map(tuple, self.R.T.tolist())), tuple(self.r.tolist()))  # type: ignore[arg-type]

    @property
    def moving(self) -> Transform:
        """The same with derivatives by time, as dual numbers."""
        rows = [[Dual(x, dx) for x, dx in zip(a, np.cross(self.w, a), strict=True)] for a in self.R.T]
        r = [Dual(x, dx) for x, dx in zip(self.r, self.v, strict=True)]
        return Transform(tuple(map(tuple, rows)), tuple(r))  # type: ignore[arg-type]

    def velocity(self, point: Any) -> np.ndarray:
        return self.v + np.cross(self.w, point - self.r)

    def moved(self, R: Any, r: Any) -> "Placement":
        return Placement(R @ self.R, R @ self.r + r)


def places(first: Shape, X: Transform, second: Shape, Y: Transform) -> list[Any]:
    return Detector().places(first, X, second, Y)


def gaps(first: Shape, X: Transform, second: Shape, Y: Transform) -> np.ndarray:
    return np.array([float(place.gap) for place in places(first, X, second, Y)])


def core(shape: Shape) -> tuple[np.ndarray, float]:
    """Half the sides of the box, segment or point in a shape, and the radius of the ball that goes round it."""
    match shape:
        case Sphere(radius):
            return np.zeros(3), radius
        case Capsule(radius, length):
            return np.array([0, 0, length / 2]), radius
        case Box(size):
            return np.array(size) / 2, 0.0
        case _:
            raise TypeError(shape)


def distance(first: Shape, X: Placement, second: Shape, Y: Placement) -> float | None:
    """The distance of shapes whose cores are apart, by bounded least squares; None for others."""
    (h, r), (k, s) = core(first), core(second)
    A, b, bounds = np.hstack([X.R, -Y.R]), Y.r - X.r, np.r_[h, k]
    free = bounds > 0
    if not free.any():
        return float(np.linalg.norm(b)) - r - s
    solution = lsq_linear(A[:, free], b, (-bounds[free], bounds[free]), method="bvls", tol=1e-15)
    left = float(np.linalg.norm(A[:, free] @ solution.x - b))
    return left - r - s if left > 1e-6 else None


def separation(first: Box, X: Placement, second: Box, Y: Placement) -> float:
    """The largest separation of two boxes along the fifteen directions that count."""
    a, b = np.array(first.size) / 2, np.array(second.size) / 2
    ways = [*X.R.T, *Y.R.T, *(np.cross(x, y) for x in X.R.T for y in Y.R.T)]
    units = [n / np.linalg.norm(n) for n in ways if np.linalg.norm(n) > 1e-6]
    return max(abs(n @ (X.r - Y.r)) - abs(n @ X.R) @ a - abs(n @ Y.R) @ b for n in units)
