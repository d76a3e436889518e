"""What shapes are made of where they touch, and which of them may: data for contact (RBDA chapter 11)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

DEFAULT = "default"
"""The surface of shapes that name none."""


@dataclass(frozen=True)
class Surface:
    """A kind of surface, in SI units.

    `friction` is Coulomb's coefficient μ. `torsional` and `rolling` are the largest moments about the normal and across
    it, over the normal force, in metres. `restitution` is the part of the approaching velocity that comes back.
    `stiffness` (N/m) and `damping` (N s/m) are those of soft contact; None where the surface is rigid.
    """

    name: str = DEFAULT
    friction: float = 1.0
    torsional: float = 0.0
    rolling: float = 0.0
    restitution: float = 0.0
    stiffness: float | None = None
    damping: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            if not isinstance(value, (int, float)) or not 0 <= value < math.inf:
                raise ValueError(f"surface {self.name!r}: {field.name} is a number from 0 on, not {value!r}")
            object.__setattr__(self, field.name, float(value))
        if self.restitution > 1:
            raise ValueError(f"surface {self.name!r}: restitution is a number from 0 to 1, not {self.restitution!r}")

    def against(self, other: Surface) -> Surface:
        """The contact of two surfaces: of each coefficient the larger, and stiffnesses and dampings in series."""
        larger = {x: max(getattr(self, x), getattr(other, x)) for x in ("friction", "torsional", "rolling")}
        return Surface(
            f"{self.name} on {other.name}",
            **larger,
            restitution=max(self.restitution, other.restitution),
            stiffness=_in_series(self.stiffness, other.stiffness),
            damping=_in_series(self.damping, other.damping),
        )


def _in_series(a: float | None, b: float | None) -> float | None:
    if a is None or b is None:
        return b if a is None else a
    return a * b / (a + b) if a + b else 0.0


@dataclass(frozen=True)
class SurfacePair:
    """What holds for the contact of two surfaces instead of what they say themselves."""

    first: str
    second: str
    contact: Surface


@dataclass(frozen=True)
class ContactRules:
    """The surfaces of a mechanism, what holds between two of them, and the bodies that never touch each other.

    Bodies go by their names, the base included. A body and the body that carries it do not touch anyway.
    """

    surfaces: tuple[Surface, ...] = ()
    pairs: tuple[SurfacePair, ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        names = [surface.name for surface in self.surfaces]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two surfaces are called {name!r}")
        for pair in self.pairs:
            for name in (pair.first, pair.second):
                self.surface(name)

    def surface(self, name: str) -> Surface:
        """A surface by its name; the default one where none has that name and it is asked for."""
        for surface in self.surfaces:
            if surface.name == (name or DEFAULT):
                return surface
        if name in ("", DEFAULT):
            return Surface()
        known = ", ".join(repr(surface.name) for surface in self.surfaces) or "none"
        raise ValueError(f"no surface is called {name!r}; there are: {known}")

    def between(self, first: str, second: str) -> Surface:
        """What holds where two surfaces touch."""
        for pair in self.pairs:
            if {pair.first or DEFAULT, pair.second or DEFAULT} == {first or DEFAULT, second or DEFAULT}:
                return pair.contact
        return self.surface(first).against(self.surface(second))

    def is_ignored(self, first: str, second: str) -> bool:
        """Whether two bodies never touch."""
        return (first, second) in self.ignored or (second, first) in self.ignored
