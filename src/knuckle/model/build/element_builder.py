"""Force elements written in Python: the part of the `Builder` that is about forces between bodies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from knuckle.errors import ModelError
from knuckle.model.elements import (
    Bushing,
    Cable,
    Drag,
    ForceElement,
    Line,
    LinePoint,
    PointForce,
    Pulley,
    Spring,
    TensionLaw,
    Wrap,
)
from knuckle.model.parts import Frame
from knuckle.model.placement import vector

Place: TypeAlias = "str | tuple[str, Sequence[float]] | LinePoint"
"""A point of a body: the name of a body or frame, or that and a point in its coordinates."""

Via: TypeAlias = "Place | Wrap | Pulley"
"""What a line goes through: points, surfaces between them, pulleys."""


class ElementBuilder(ABC):
    """Collects springs, cables, bushings, drag and forces at points."""

    def __init__(self) -> None:
        self._elements: list[ForceElement] = []
        self._element_names: set[str] = set()
        self._at_rest: list[str] = []

    @abstractmethod
    def _frame(self, name: str | None, role: str) -> Frame: ...

    def element(self, element: ForceElement) -> str:
        """Any force element of `kn.elements`, or one of your own. Returns its name."""
        if not isinstance(element, ForceElement):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"element needs one of kn.elements, such as Line, not {element!r}")
        if not isinstance(element.name, str) or not element.name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"an element needs a name, not {element.name!r}")
        if element.name in self._element_names:
            raise ModelError(f"an element is called {element.name!r} already: each name is used once")
        for frame in element.frames:
            self._frame(frame, f"what {element.name!r} acts on")
        self._elements.append(element)
        self._element_names.add(element.name)
        return element.name

    def line(self, name: str, points: Iterable[Via], law: TensionLaw, *, armature: float = 0.0) -> str:
        """A line through points of bodies, and over surfaces between them (`kn.elements.Wrap`), along which it is free
        to slide, with a law of its tension. `armature` is a mass, in kilograms, that moves as fast as the line grows.
        Returns its name."""
        if isinstance(points, (str, LinePoint)) or not isinstance(points, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"points is a list of points, and {points!r} is none", element=name)
        via = (x if isinstance(x, (Wrap, Pulley)) else _point(x, name) for x in points)
        return self.element(_checked(Line, name, tuple(via), law, armature))

    def spring(
        self,
        name: str,
        first: Place,
        second: Place,
        *,
        stiffness: float,
        damping: float = 0.0,
        rest: float | None = None,
    ) -> str:
        """A spring, with a damper beside it, between two points. Returns its name.

        Args:
            name: its name.
            first: the name of a body or frame, or (name, (x, y, z)) for a point in its coordinates.
            second: the other end.
            stiffness: in N/m.
            damping: in N s/m.
            rest: the length at which it does not pull; the length where the mechanism starts, if not given.
        """
        return self._stretched(Spring, name, (first, second), stiffness, damping, rest)

    def cable(
        self, name: str, points: Iterable[Via], *, stiffness: float, damping: float = 0.0, rest: float | None = None
    ) -> str:
        """A cable through points, as `spring` where it is longer than `rest`, and slack elsewhere. Returns its name."""
        return self._stretched(Cable, name, points, stiffness, damping, rest)

    def bushing(
        self, name: str, first: str, second: str, *, stiffness: Sequence[float], damping: Sequence[float] = (0.0,) * 6
    ) -> str:
        """Springs and dampers between two frames: six numbers, of turning (N m/rad) and of shifting (N/m), in the axes
        of the first. It is at rest where the frames coincide. Returns its name."""
        return self.element(_checked(Bushing, name, first, second, stiffness, damping))

    def drag(
        self, name: str, on: str, *, linear: float | Sequence[float] = 0.0, angular: float | Sequence[float] = 0.0
    ) -> str:
        """Viscous drag on a body: force per velocity of its origin, moment per angular velocity, one number or one for
        each of its axes. Returns its name."""
        return self.element(_checked(Drag, name, on, linear, angular))

    def point_force(self, name: str, at: Place, force: Sequence[float], axes: Literal["base", "body"] = "base") -> str:
        """A constant force at a point of a body, along axes of the base or of the body. Returns its name."""
        return self.element(_checked(PointForce, name, _point(at, name), vector(force, "force", name), axes))

    def _stretched(
        self, law: Any, name: str, points: Iterable[Via], stiffness: float, damping: float, rest: float | None
    ) -> str:
        self.line(name, points, _checked(law, stiffness, 0.0 if rest is None else rest, damping, element=name))
        if rest is None:
            self._at_rest.append(name)
        return name


def _point(place: Place, element: str) -> LinePoint:
    if isinstance(place, LinePoint):
        return place
    if isinstance(place, str):
        return LinePoint(place)
    match place:
        case (str() as frame, at):
            return LinePoint(frame, vector(at, "point", element))
        case _:
            needed = "the name of a body or frame, or (name, (x, y, z)) for a point in its coordinates"
            raise ModelError(f"a point is {needed}, not {place!r}", element=element)


def _checked(cls: Any, *args: Any, element: str = "") -> Any:
    """What is made of these arguments, or a ModelError where they do not do."""
    try:
        return cls(*args)
    except ValueError as error:
        raise ModelError(str(error), element=element or args[0]) from None
