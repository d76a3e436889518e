"""What of the muscles of a mechanism changes by itself in time: activations, and fibers at elastic tendons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from knuckle.model.elements.base import ForceElement
from knuckle.model.elements.lines import TensionLine
from knuckle.scalar import constant

from .muscle_laws import MuscleLaw

if TYPE_CHECKING:
    from knuckle.model.model import Model


def muscles_of(elements: Iterable[ForceElement]) -> list[Any]:
    """The lines that are muscles, in order."""
    return [x for x in elements if is_muscle(x)]


def is_muscle(element: ForceElement) -> bool:
    """Whether an element is a line that pulls by the law of a muscle."""
    return isinstance(element, TensionLine) and isinstance(element.law, MuscleLaw)


def law_of(line: Any) -> Any:
    """The law of a muscle."""
    return line.law


def elastic_of(elements: Iterable[ForceElement]) -> list[Any]:
    """The muscles with elastic tendons, in order."""
    return [x for x in muscles_of(elements) if law_of(x).is_elastic]


def with_states(model: Model, activations: Sequence[Any] | None, fibers: Sequence[Any] | None) -> Model:
    """The mechanism with its muscles in other states: an activation for each, a length for each elastic tendon."""
    given, lengths = iter(activations or ()), iter(fibers or ())
    elements = list[ForceElement]()
    for element in model.elements:
        line: Any = element
        if is_muscle(line):
            changes = {"activation": next(given)} if activations is not None else {}
            if fibers is not None and line.law.is_elastic:
                changes["fiber_length"] = next(lengths)
            line = replace(line, law=replace(line.law, **changes))
        elements.append(line)
    return model.replace(elements=tuple(elements))


@dataclass(frozen=True)
class MuscleStates:
    """Which states there are, in the order of a vector z: activations first, where these are states, then fibers."""

    muscles: int
    elastic: int
    is_excited: bool
    """Whether activations are states"""

    @classmethod
    def of(cls, model: Model, is_excited: bool) -> MuscleStates | None:
        """Those of a mechanism; None if nothing of its muscles changes by itself."""
        lines = muscles_of(model.elements)
        states = cls(len(lines), sum(law_of(x).is_elastic for x in lines), is_excited and bool(lines))
        return states if states.count else None

    @property
    def count(self) -> int:
        """How many states."""
        return self.muscles * self.is_excited + self.elastic

    def apart(self, z: Any) -> tuple[Any, Any]:
        """Activations and lengths of fibers; None for those that are no states."""
        n = self.muscles * self.is_excited
        return z[:n] if self.is_excited else None, z[n:] if self.elastic else None

    def at(self, model: Model, z: Any) -> Model:
        """The mechanism in a state, written over scalars."""
        activations, fibers = self.apart([*z])
        return with_states(model, activations, fibers)

    def activations(self, model: Model, given: Any) -> Any:
        """Activations of all muscles: those given, else those of their laws."""
        return [constant(law_of(x).activation) for x in muscles_of(model.elements)] if given is None else given
