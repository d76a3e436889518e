"""What shapes are made of where they touch, and which of them may: data for contact (RBDA chapter 11)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any

from knuckle.scalar import ZERO, constant, kind_of, maximum

DEFAULT = "default"
"""The surface of shapes that name none."""


@dataclass(frozen=True)
class Surface:
    """A kind of surface, in SI units.

    `friction` is Coulomb's coefficient μ. `torsional` and `rolling` are the largest moments about the normal and across
    it, over the normal force, in metres. `restitution` is the part of the approaching velocity that comes back.
    `stiffness` (N/m) and `damping` (N s/m) are those of soft contact; None where the surface is rigid. All of them may
    be scalars of other kinds, as arguments of a kernel are.
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
            if value is not None or field.default is not None:
                object.__setattr__(self, field.name, _checked(self.name, field.name, value))
        if not _is_other_scalar(self.restitution) and self.restitution > 1:
            raise ValueError(f"surface {self.name!r}: restitution is a number from 0 to 1, not {self.restitution!r}")

    def against(self, other: Surface) -> Surface:
        """The contact of two surfaces: of each coefficient the larger, and stiffnesses and dampings in series."""
        larger = {x: maximum(getattr(self, x), getattr(other, x)) for x in ("friction", "torsional", "rolling")}
        return Surface(
            f"{self.name} on {other.name}",
            **larger,
            restitution=maximum(self.restitution, other.restitution),
            stiffness=_in_series(self.stiffness, other.stiffness),
            damping=_in_series(self.damping, other.damping),
        )


def _checked(name: str, what: str, x: Any) -> Any:
    """A coefficient of a surface; an error where it cannot be one."""
    if _is_other_scalar(x):
        return x
    if isinstance(x, bool) or not _is_number(x) or not 0 <= x < math.inf:
        raise ValueError(f"surface {name!r}: {what} is a number from 0 on, not {x!r}")
    return float(x)


def _is_number(x: Any) -> bool:
    """Whether x is one number, of NumPy's too."""
    return isinstance(x, Real) or getattr(x, "shape", None) == ()


def _is_other_scalar(x: Any) -> bool:
    """Whether x computes like a number and is none, as a symbol."""
    try:
        return not _is_number(x) and bool(kind_of(x))
    except TypeError:
        return False


def _in_series(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return 0.0 if constant(a + b) is ZERO else a * b / (a + b)


@dataclass(frozen=True)
class SurfacePair:
    """What holds for the contact of two surfaces instead of what they say themselves."""

    first: str
    second: str
    contact: Surface

    @property
    def names(self) -> frozenset[str]:
        """The names of the two surfaces, the default one under its own."""
        return frozenset((self.first or DEFAULT, self.second or DEFAULT))


@dataclass(frozen=True)
class ContactRules:
    """The surfaces of a mechanism, what holds between two of them, and the bodies that never touch each other.

    Bodies go by their names, the base included. Bodies that a joint holds together do not touch anyway: see
    `knuckle.model.contact.contact_candidates`.
    """

    surfaces: tuple[Surface, ...] = ()
    pairs: tuple[SurfacePair, ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        names: set[str] = set()
        for surface in self.surfaces:
            if not surface.name:
                raise ValueError("a surface needs a name; that of the default one is 'default'")
            if surface.name in names:
                raise ValueError(f"two surfaces are called {surface.name!r}")
            names.add(surface.name)
        paired: set[frozenset[str]] = set()
        for pair in self.pairs:
            for name in pair.names - names:
                self.surface(name)
            if pair.names in paired:
                raise ValueError(f"two pairs of surfaces are {pair.first or DEFAULT!r} on {pair.second or DEFAULT!r}")
            paired.add(pair.names)

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
        names = frozenset((first or DEFAULT, second or DEFAULT))
        for pair in self.pairs:
            if pair.names == names:
                return pair.contact
        return self.surface(first).against(self.surface(second))

    def is_ignored(self, first: str, second: str) -> bool:
        """Whether two bodies never touch."""
        return (first, second) in self.ignored or (second, first) in self.ignored

    def with_bodies(self, name: Callable[[str], str | None]) -> ContactRules:
        """The rules where bodies have other names; None for a body that is there no longer.

        Two bodies that have become one are no pair.
        """
        pairs = [(a, b) for pair in self.ignored if (a := name(pair[0])) and (b := name(pair[1])) and a != b]
        return replace(self, ignored=_each_once(pairs))

    def with_surfaces(self, name: Callable[[str], str]) -> ContactRules:
        """The rules where surfaces have other names."""
        surfaces = tuple(replace(surface, name=name(surface.name)) for surface in self.surfaces)
        pairs = tuple(SurfacePair(name(x.first), name(x.second), x.contact) for x in self.pairs)
        return replace(self, surfaces=surfaces, pairs=pairs)

    def with_pair(self, first: str, second: str, **values: float) -> ContactRules:
        """The rules with a pair of surfaces: `values` hold where they touch, and what the two say for the rest."""
        contact = replace(self.surface(first).against(self.surface(second)), **values)
        return replace(self, pairs=(*self.pairs, SurfacePair(first, second, contact)))

    def together(self, other: ContactRules) -> ContactRules:
        """These rules and others: equal surfaces and pairs are one; those of one name that differ are an error."""
        surfaces = {surface.name: surface for surface in self.surfaces}
        for surface in other.surfaces:
            mine = surfaces.setdefault(surface.name, surface)
            if mine != surface:
                raise ValueError(f"both have a surface {surface.name!r}, {_difference(mine, surface)}")
        pairs = {pair.names: pair for pair in self.pairs}
        for pair in other.pairs:
            mine = pairs.setdefault(pair.names, pair).contact
            if replace(mine, name="") != replace(pair.contact, name=""):
                raise ValueError(f"both have a pair {pair.contact.name!r}, {_difference(mine, pair.contact)}")
        ignored = _each_once((*self.ignored, *other.ignored))
        return ContactRules(tuple(surfaces.values()), tuple(pairs.values()), ignored)


def _each_once(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    unique: dict[frozenset[str], tuple[str, str]] = {}
    for pair in pairs:
        unique.setdefault(frozenset(pair), pair)
    return tuple(unique.values())


def _difference(a: Surface, b: Surface) -> str:
    """How two surfaces of one name differ."""
    names = [field.name for field in fields(a)[1:] if getattr(a, field.name) != getattr(b, field.name)]
    return "with other values of " + ", ".join(f"{x}: {getattr(a, x)} and {getattr(b, x)}" for x in names)
