"""What a line goes through, over and by: points, surfaces, pulleys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from knuckle.public_names import public_in
from knuckle.scalar import constant
from knuckle.spatial.three import Vec3

from .plain_numbers import must_be_a_number, numbers_of


@public_in("elements")
@dataclass(frozen=True)
class LinePoint:
    """A point of a body or frame, in its coordinates."""

    frame: str
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check_frame(self.frame, "a point of a line")
        place = numbers_of(self.at, 3, f"a point on {self.frame!r}", "three finite numbers")
        object.__setattr__(self, "at", place)

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames that it names."""
        return (self.frame,)

    @property
    def own(self) -> Vec3:
        """The point, with structural zeros."""
        return constant(self.at[0]), constant(self.at[1]), constant(self.at[2])

    def renamed(self, frame: Callable[[str], str]) -> LinePoint:
        """The same point of a frame with another name."""
        return replace(self, frame=frame(self.frame))


@public_in("elements")
@dataclass(frozen=True)
class Wrap:
    """A sphere around the origin of a frame, or a cylinder of any length around its z axis, that a line goes over.

    It stands between two points of a line, which lies on the surface where the straight way between them would pass
    through it: the shortest way around, without friction. A point that is inside the surface is reached straight.

    Args:
        frame: the body or frame that the surface is fixed to.
        radius: in metres.
        shape: "sphere" or "cylinder".
        side: a point on the side of the surface where the line shall pass. The line never crosses the half plane from
            the centre (the axis) away from it, and takes the long way around where it has to.
        inside: whether the line goes through the inside of the surface instead, as through a ring: where the straight
            way would miss it, it is bent over the nearest edge.
    """

    frame: str
    radius: float
    shape: Literal["sphere", "cylinder"] = "sphere"
    side: LinePoint | None = None
    inside: bool = False

    def __post_init__(self) -> None:
        _check_frame(self.frame, "a surface that a line goes over")
        if self.side is not None and not isinstance(self.side, LinePoint):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"side of a surface that a line goes over is a LinePoint or None, not {self.side!r}")
        if self.shape not in ("sphere", "cylinder"):
            raise ValueError(f'a surface that a line goes over is a "sphere" or a "cylinder", not {self.shape!r}')
        _check_above_zero(self.radius, "radius of a surface that a line goes over")

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames that it names."""
        return (self.frame,) if self.side is None else (self.frame, self.side.frame)

    def renamed(self, frame: Callable[[str], str]) -> Wrap:
        """The same surface on frames with other names."""
        side = self.side and self.side.renamed(frame)
        return replace(self, frame=frame(self.frame), side=side)


@public_in("elements")
@dataclass(frozen=True)
class Pulley:
    """Where a line forks: what comes after it, from a new point on, counts and pulls as 1/divisor of the whole."""

    divisor: float

    def __post_init__(self) -> None:
        _check_above_zero(self.divisor, "divisor of a pulley")

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames that it names: none."""
        return ()

    def renamed(self, frame: Callable[[str], str]) -> Pulley:
        """Itself."""
        return self


LineEntry: TypeAlias = LinePoint | Wrap | Pulley


def _check_frame(name: Any, what: str) -> None:
    if not isinstance(name, str):
        raise ValueError(f"{what} names a body or frame, and this is no name: {name!r}")


def _check_above_zero(x: Any, what: str) -> None:
    must_be_a_number(x, what, "a finite number above zero")
    if isinstance(x, (int, float)) and not x > 0:
        raise ValueError(f"{what} is a finite number above zero, not {x}")
