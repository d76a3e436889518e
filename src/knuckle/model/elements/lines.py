"""Lines through points of bodies that pull along themselves: springs, cables, tendons with via points (notes 1.9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from knuckle.public_names import public_in
from knuckle.scalar import ZERO, constant, less, select, sqrt
from knuckle.spatial import Force, Motion, Transform
from knuckle.spatial.three import ZERO3, Vec3, add, cross, dot, matvec, scale, sub, tmatvec

from .base import ForceElement
from .tension_laws import TensionLaw

CLOSEST = 1e-30
"""The square of the distance, in m², below which two points are one: between them there is no direction."""


@public_in("elements")
@dataclass(frozen=True)
class LinePoint:
    """A point of a body or frame, in its coordinates."""

    frame: str
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)


@public_in("elements")
@dataclass(frozen=True)
class Line(ForceElement):
    """A straight line from point to point, free to slide through those between, with one tension all along."""

    name: str
    points: tuple[LinePoint, ...]
    law: TensionLaw

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", tuple(self.points))
        if len(self.points) < 2:
            raise ValueError(f"the line {self.name!r} needs two points or more, and has {len(self.points)}")

    @property
    def frames(self) -> tuple[str, ...]:
        return tuple(point.frame for point in self.points)

    def length(self, X: Sequence[Transform]) -> Any:
        """Σ |p₂ − p₁|."""
        return sum((distance for distance, _ in self._pieces(X)), ZERO)

    def rate(self, X: Sequence[Transform], V: Sequence[Motion]) -> Any:
        """Σ n · (ṗ₂ − ṗ₁), with n from point to point."""
        u = [tmatvec(Y.E, add(W.linear, cross(W.angular, r))) for Y, W, r in zip(X, V, self._own, strict=True)]
        return sum((dot(n, sub(u[k + 1], u[k])) for k, (_, n) in enumerate(self._pieces(X))), ZERO)

    def tension(self, X: Sequence[Transform], V: Sequence[Motion]) -> Any:
        return self.law.tension(self.length(X), self.rate(X, V))

    def forces(self, X: Sequence[Transform], V: Sequence[Motion]) -> list[Force]:
        return self.pulled(X, self.tension(X, V))

    def pulled(self, X: Sequence[Transform], tension: Any) -> list[Force]:
        """The forces of a tension on the frames of the points: towards the points before and after."""
        directions = [n for _, n in self._pieces(X)]
        ahead, behind = [*directions, ZERO3], [ZERO3, *directions]
        pulls = [matvec(Y.E, scale(tension, sub(a, b))) for Y, a, b in zip(X, ahead, behind, strict=True)]
        return [Force(cross(r, f), f) for r, f in zip(self._own, pulls, strict=True)]

    def energy(self, X: Sequence[Transform]) -> Any:
        return self.law.energy(self.length(X))

    def renamed(self, name: str, frame: Callable[[str], str]) -> Line:
        return replace(self, name=name, points=tuple(replace(p, frame=frame(p.frame)) for p in self.points))

    @property
    def _own(self) -> list[Vec3]:
        """The points in the coordinates of their frames."""
        return [(constant(x), constant(y), constant(z)) for x, y, z in (point.at for point in self.points)]

    def _pieces(self, X: Sequence[Transform]) -> Iterator[tuple[Any, Vec3]]:
        """The distance from each point to the next, and the direction."""
        places = [Y.inv.point(r) for Y, r in zip(X, self._own, strict=True)]
        for p, then in pairwise(places):
            d = sub(then, p)
            square = dot(d, d)
            distance = sqrt(select(less(square, CLOSEST), CLOSEST, square))
            yield distance, scale(1 / distance, d)
