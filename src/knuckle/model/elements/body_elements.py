"""What acts on one body alone: drag, and a force at a point (notes 1.31-1.37)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from knuckle.public_names import public_in
from knuckle.scalar import ZERO, constant
from knuckle.spatial import Force, Motion, Transform
from knuckle.spatial.three import ZERO3, Vec3, cross, dot, matvec

from .base import ForceElement
from .line_points import LinePoint
from .local_slopes import LocalSlopes
from .plain_numbers import numbers_of


@public_in("elements")
@dataclass(frozen=True)
class Drag(ForceElement):
    """Viscous drag on a body or frame against the base: a moment per angular, a force per linear velocity of its
    origin, in its own axes (notes 1.31)."""

    name: str
    frame: str
    linear: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for what in ("linear", "angular"):
            given = getattr(self, what)
            named, needed = f"{what} of the drag {self.name!r}", "three finite numbers, zero or more"
            numbers = numbers_of((given,) * 3 if isinstance(given, (int, float)) else given, 3, named, needed)
            if any(isinstance(x, (int, float)) and x < 0 for x in numbers):
                raise ValueError(f"{named} is {needed}, not {given}")
            object.__setattr__(self, what, numbers)

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    def forces(self, X: Sequence[Transform], V: Sequence[Motion]) -> list[Force]:
        return [Force(_against(self.angular, V[0].angular), _against(self.linear, V[0].linear))]

    def local_slopes(self, X: Sequence[Transform], V: Sequence[Motion]) -> LocalSlopes:
        """Dampers along the body's axes."""
        dampers = zip(map(constant, (*self.angular, *self.linear)), Force.basis(), strict=True)
        return LocalSlopes.along([(ZERO, d, [f]) for d, f in dampers if d is not ZERO])

    def renamed(self, name: str, frame: Callable[[str], str]) -> Drag:
        return replace(self, name=name, frame=frame(self.frame))


@public_in("elements")
@dataclass(frozen=True)
class PointForce(ForceElement):
    """A constant force at a point of a body: along axes of the base, or of the body, with which it turns (notes 1.36).

    One along axes of the base is that of a weight on a string over a far pulley, and has an energy; one that turns with
    the body is that of a thruster, and has none.
    """

    name: str
    point: LinePoint
    force: tuple[float, float, float]
    axes: Literal["base", "body"] = "base"

    def __post_init__(self) -> None:
        if self.axes not in ("base", "body"):
            raise ValueError(f'axes of the force {self.name!r} are "base" or "body", not {self.axes!r}')
        if not isinstance(self.point, LinePoint):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"point of the force {self.name!r} is a LinePoint, not {self.point!r}")
        force = numbers_of(self.force, 3, f"the force {self.name!r}", "three finite numbers")
        object.__setattr__(self, "force", force)

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.point.frame,)

    def forces(self, X: Sequence[Transform], V: Sequence[Motion]) -> list[Force]:
        f = matvec(X[0].E, _constants(self.force)) if self.axes == "base" else _constants(self.force)
        return [Force(cross(_constants(self.point.at), f), f)]

    def energy(self, X: Sequence[Transform]) -> Any:
        """−f · p along axes of the base."""
        return -dot(_constants(self.force), X[0].inv.point(_constants(self.point.at))) if self.axes == "base" else ZERO

    def local_slopes(self, X: Sequence[Transform], V: Sequence[Motion]) -> LocalSlopes:
        """None: it changes only by turning."""
        return LocalSlopes.along([])

    def renamed(self, name: str, frame: Callable[[str], str]) -> PointForce:
        return replace(self, name=name, point=replace(self.point, frame=frame(self.point.frame)))


def _constants(x: Sequence[float]) -> Vec3:
    return constant(x[0]), constant(x[1]), constant(x[2])


def _against(drag: Sequence[float], v: Vec3) -> Vec3:
    if all(constant(x) is ZERO for x in drag):
        return ZERO3
    a, b, c = _constants(drag)
    return -a * v[0], -b * v[1], -c * v[2]
