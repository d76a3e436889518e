"""Muscles in a state: their activations, and the fibers of those with elastic tendons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from knuckle.algorithms.elements import muscle_rates
from knuckle.engine.calls.function import Array, function
from knuckle.functions import potential_energy
from knuckle.functions.per_joint import as_vector
from knuckle.model import Model
from knuckle.model.elements.muscles.muscle_states import elastic_of, muscles_of, with_states
from knuckle.public_names import public_in
from knuckle.spatial import Vector


@public_in("elements")
def with_activations(
    model: Model, activations: Sequence[Any] | Any, fiber_lengths: Sequence[Any] | Any = None
) -> Model:
    """The mechanism with its muscles activated, for every function of dynamics; also inside a kernel.

    Args:
        model: the mechanism.
        activations: one for each line whose law is a muscle's, in order, from 0 to 1.
        fiber_lengths: one for each muscle with an elastic tendon, in metres; in equilibrium, if not given.
    """
    given = [*activations]
    lengths = None if fiber_lengths is None else [*fiber_lengths]
    for name, values, lines, what in (
        ("activations", given, muscles_of(model.elements), "muscles"),
        ("fiber_lengths", lengths, elastic_of(model.elements), "muscles with elastic tendons"),
    ):
        if values is not None and len(values) != len(lines):
            raise ValueError(f"{name} has {len(values)} entries, and {model.name} has {len(lines)} {what}")
    return with_states(model, given, lengths)


def in_state(model: Model, activations: Any, fiber_lengths: Any) -> Model:
    """The mechanism with its muscles in the states that are given, in the text of a function."""
    if activations is None and fiber_lengths is None:
        return model
    parts = (None if x is None else [*as_vector(x)] for x in (activations, fiber_lengths))
    return with_states(model, *parts)


@public_in("elements")
@function(q="q", activations="m", loops=True)
def fiber_equilibrium(model: Model, q: ArrayLike, activations: ArrayLike) -> Array:
    """The lengths (..., n) of fibers at rest that pull as much as their elastic tendons, in metres.

    They are those of the muscles with elastic tendons, in order. Motions begin with them where nothing else is said.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        activations: one for each line whose law is a muscle's, in order (..., m), from 0 to 1.
    """
    return Vector(muscle_rates.fiber_equilibrium(model, model.positions(q), as_vector(activations)))


@public_in("elements")
@function(q="q", activations="m", fiber_lengths="e", loops=True)
def fiber_rates(model: Model, q: ArrayLike, activations: ArrayLike, fiber_lengths: ArrayLike) -> Array:
    """How fast fibers at elastic tendons grow (..., n), in m/s.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        activations: one for each line whose law is a muscle's, in order (..., m), from 0 to 1.
        fiber_lengths: one for each muscle with an elastic tendon, in order (..., n), in metres.
    """
    states = as_vector(activations), as_vector(fiber_lengths)
    return Vector(muscle_rates.fiber_rates(model, model.positions(q), *states))


@function(q="q", fiber_lengths="e", loops=True)
def stored_energy(model: Model, q: ArrayLike, fiber_lengths: ArrayLike | None = None, *, passive: bool) -> Array:
    """The potential energy (...) with fibers of these lengths, in joules; `passive`, without what activations add.

    While activations change, the work of active fibers is stored nowhere.
    """
    none = [0.0] * len(muscles_of(model.elements)) if passive else None
    return potential_energy.reference(in_state(model, none, fiber_lengths), q)
