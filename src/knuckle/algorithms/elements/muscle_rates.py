"""How the states of muscles change: activations by excitations, fibers by the lengths of their lines."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.types import PerJoint
from knuckle.model import Model
from knuckle.model.elements.muscles.muscle_states import is_muscle, law_of, muscles_of

from .element_forces import placed


def muscle_lengths(model: Model, q: PerJoint) -> list[tuple[Any, Any]]:
    """The law and the length of each line that is a muscle, in order."""
    return [(law_of(at.element), at.element.length(at.X)) for at in placed(model, q) if is_muscle(at.element)]


def fiber_rates(model: Model, q: PerJoint, activations: Any, fibers: Any) -> list[Any]:
    """How fast the fibers at elastic tendons grow, in m/s."""
    elastic = (
        (law, length, activation)
        for (law, length), activation in zip(muscle_lengths(model, q), activations, strict=True)
        if law.is_elastic
    )
    return [law.fiber_rate(length, x, a) for (law, length, a), x in zip(elastic, fibers, strict=True)]


def fiber_equilibrium(model: Model, q: PerJoint, activations: Any) -> list[Any]:
    """The lengths of fibers at rest that are in equilibrium with their elastic tendons, in metres."""
    return [
        law.equilibrium(length, activation)
        for (law, length), activation in zip(muscle_lengths(model, q), activations, strict=True)
        if law.is_elastic
    ]


def activation_rates(model: Model, excitations: Any, activations: Any) -> list[Any]:
    """How fast activations follow excitations, in 1/s."""
    laws = map(law_of, muscles_of(model.elements))
    return [law.activation_rate(u, a) for law, u, a in zip(laws, excitations, activations, strict=True)]
