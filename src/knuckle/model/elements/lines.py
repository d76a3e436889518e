"""Lines through points of bodies that pull along themselves: springs, cables, tendons with via points (notes 1.9)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from knuckle.public_names import public_in
from knuckle.scalar import ZERO, constant, maximum
from knuckle.spatial import Force, Motion, Transform
from knuckle.spatial.three import Vec3

from .base import ForceElement
from .line_pieces import pieces
from .line_points import LinePoint, Pulley, Wrap
from .local_slopes import LocalSlopes, law_slopes
from .plain_numbers import must_be_a_number
from .tension_laws import TensionLaw


class TensionLine(ForceElement):
    """What pulls along itself by a law of tension."""

    law: TensionLaw

    def check_law(self) -> None:
        """An error unless the law is one, and the armature a mass."""
        if not isinstance(self.law, TensionLaw):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"law of the line {self.name!r} is a law of tension, such as Spring, not {self.law!r}")
        what, needed = f"armature of the line {self.name!r}", "a finite number, zero or more"
        must_be_a_number(self.armature, what, needed)
        if isinstance(self.armature, (int, float)) and self.armature < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"{what} is {needed}, not {self.armature}")

    @abstractmethod
    def taut(self, X: Sequence[Transform]) -> tuple[Any, list[Force]]:
        """Its length, and the forces of a tension of 1 N on its frames."""

    def inertias(self, X: Sequence[Transform]) -> Sequence[tuple[Any, Sequence[Force]]]:
        """Its armature, and the forces of 1 N."""
        return ((constant(self.armature), self.taut(X)[1]),)

    def length(self, X: Sequence[Transform]) -> Any:
        """Its length, in metres."""
        return self.taut(X)[0]

    def rate(self, X: Sequence[Transform], V: Sequence[Motion]) -> Any:
        """How fast it grows, in m/s."""
        return _rate(self.taut(X)[1], V)

    def tension(self, X: Sequence[Transform], V: Sequence[Motion]) -> Any:
        length, pulls = self.taut(X)
        return self.law.tension(length, _rate(pulls, V))

    def forces(self, X: Sequence[Transform], V: Sequence[Motion]) -> list[Force]:
        length, pulls = self.taut(X)
        tension = self.law.tension(length, _rate(pulls, V))
        return [tension * f for f in pulls]

    def pulled(self, X: Sequence[Transform], tension: Any) -> list[Force]:
        """The forces of a tension on its frames: on points along the line, on surfaces where it leaves them."""
        return [tension * f for f in self.taut(X)[1]]

    def spring_along(self, X: Sequence[Transform], V: Sequence[Motion]) -> tuple[Any, Any, list[Force]]:
        """k and d of the line along itself, and the forces of 1 N."""
        length, pulls = self.taut(X)
        return *law_slopes(self.law, length, _rate(pulls, V)), pulls

    def local_slopes(self, X: Sequence[Transform], V: Sequence[Motion]) -> LocalSlopes:
        return LocalSlopes.along([self.spring_along(X, V)])

    def energy(self, X: Sequence[Transform]) -> Any:
        return self.law.energy(self.length(X))


@public_in("elements")
@dataclass(frozen=True)
class Line(TensionLine):
    """A line from point to point, free to slide through those between, with one tension all along.

    From one point to the next it is straight, or goes over a surface. What comes after a pulley has a part of the
    tension, and adds that part to the length.

    `armature` is a mass that moves as fast as the line grows, as the rotor of a winch does: it adds a l̇²/2 to the
    kinetic energy and a JᵀJ to the mass matrix, J being ∂l/∂q. Its weight is none.
    """

    name: str
    points: tuple[LinePoint | Wrap | Pulley, ...]
    law: TensionLaw
    armature: float = 0.0

    def __post_init__(self) -> None:
        self.check_law()
        object.__setattr__(self, "points", tuple(self.points))
        for entry in self.points:
            if not isinstance(entry, (LinePoint, Wrap, Pulley)):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ValueError(f"points of the line {self.name!r} are LinePoint, Wrap or Pulley, not {entry!r}")
        count = sum(isinstance(entry, LinePoint) for entry in self.points)
        if count < 2:
            raise ValueError(f"the line {self.name!r} needs two points or more, and has {count}")
        try:
            list(pieces(self.points))
        except ValueError as error:
            raise ValueError(f"the line {self.name!r} {error}") from None

    @property
    def frames(self) -> tuple[str, ...]:
        return tuple(frame for entry in self.points for frame in entry.frames)

    def local_slopes(self, X: Sequence[Transform], V: Sequence[Motion]) -> LocalSlopes:
        """k and d along the line, and where it is straight and pulls, T / l across it (notes 1.50, 1.51, 1.62)."""
        rows = [self.spring_along(X, V)]
        tension = self.tension(X, V)
        for piece in pieces(self.points):
            if piece.wrap is None:
                own, sides = piece.across(X)
                for forces in sides:
                    both = [Force.zero()] * len(X)
                    for number, f in forces:
                        both[number] = both[number] + f
                    rows.append((maximum(tension, 0.0) / (own * piece.divisor), ZERO, both))
        return LocalSlopes.along(rows)

    def renamed(self, name: str, frame: Callable[[str], str]) -> Line:
        return replace(self, name=name, points=tuple(entry.renamed(frame) for entry in self.points))

    def strands(self, X: Sequence[Transform]) -> list[list[Vec3]]:
        """Points along the line, in base coordinates and of plain numbers: a row for each part between pulleys."""
        rows = list[list[Vec3]]()
        last = -1
        for piece in pieces(self.points):
            points = piece.drawn(X)
            if piece.first == last:
                rows[-1] += points[1:]
            else:
                rows.append(points)
            last = piece.second
        return rows

    def taut(self, X: Sequence[Transform]) -> tuple[Any, list[Force]]:
        """Its length, and the forces of a tension of 1 N on its frames."""
        total, pulls = ZERO, [Force.zero()] * len(X)
        for piece in pieces(self.points):
            length, forces = piece.taut(X)
            total = total + length
            for k, f in forces:
                pulls[k] = pulls[k] + f
        return total, pulls


def _rate(pulls: Sequence[Force], V: Sequence[Motion]) -> Any:
    """What 1 N takes from moving bodies is how fast the line grows: l̇ = −Σ f · v."""
    return -sum((f.dot(v) for f, v in zip(pulls, V, strict=True)), ZERO)
