"""What of a mechanism changes by itself in time: activations of muscles, their fibers, and states of actuators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from knuckle.model.actuators.actuator_dynamics import in_states, with_dynamics
from knuckle.model.elements.base import ForceElement
from knuckle.model.elements.lines import TensionLine
from knuckle.scalar import constant
from knuckle.spatial import Vector

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
    """Which states there are, in the order of a vector z: activations first, where these are states, then fibers.

    Where actuators are told something, the states of those that have some come last.
    """

    muscles: int
    elastic: int
    is_excited: bool
    """Whether activations are states"""
    driven: int = 0
    """How many actuators have states"""
    steps_apart: bool = False
    """Whether some of these are stepped by themselves: exactly, or ahead of the motion"""

    @classmethod
    def of(cls, model: Model, is_excited: bool, is_driven: bool = False) -> MuscleStates | None:
        """Those of a mechanism; None if nothing of it changes by itself."""
        lines = muscles_of(model.elements)
        laws = [law for _, law in with_dynamics(model.actuators)] if is_driven else []
        states = cls(
            len(lines), sum(law_of(x).is_elastic for x in lines), is_excited and bool(lines), len(laws),
            any(law.is_exact or law.is_early for law in laws),
        )  # fmt: skip
        return states if states.count else None

    @property
    def count(self) -> int:
        """How many states."""
        return self.of_muscles + self.driven

    @property
    def of_muscles(self) -> int:
        """How many of them are those of muscles."""
        return self.muscles * self.is_excited + self.elastic

    def apart(self, z: Any) -> tuple[Any, Any]:
        """Activations and lengths of fibers; None for those that are no states."""
        n = self.muscles * self.is_excited
        return z[:n] if self.is_excited else None, z[n : self.of_muscles] if self.elastic else None

    def at(self, model: Model, z: Any) -> Model:
        """The mechanism in a state, written over scalars."""
        model = self.driving(model, z)
        return with_states(model, *self.apart([*z])) if self.of_muscles else model

    def driving(self, model: Model, z: Any) -> Model:
        """The mechanism with its actuators in a state."""
        if not self.driven:
            return model
        return model.replace(actuators=in_states(model.actuators, [*z][self.of_muscles :]))

    def within(self, model: Model, z: Any) -> Any:
        """z with the states of actuators within their ranges."""
        if not self.driven:
            return z
        laws = (law for _, law in with_dynamics(model.actuators))
        rest = [law.within(a) for law, a in zip(laws, z[self.of_muscles :], strict=True)]
        new = [*z[: self.of_muscles], *rest]
        return np.array(new) if isinstance(z, np.ndarray) else Vector(new)

    def activations(self, model: Model, given: Any) -> Any:
        """Activations of all muscles: those given, else those of their laws."""
        return [constant(law_of(x).activation) for x in muscles_of(model.elements)] if given is None else given
