"""What muscles are told in a motion: excitations, and the states that they begin with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.model import Model
from knuckle.model.actuators.actuator_dynamics import with_dynamics
from knuckle.model.elements.muscles.muscle_states import MuscleStates, elastic_of, muscles_of
from knuckle.trajectory.muscle_rows import MuscleRows

from .controls import MUSCLES, NO_FORCE, STATE, Control, Parameters, control_of, forces_along

Array = NDArray[Any]

EXCITED, FIRST_ACTIVATIONS, FIRST_FIBERS = "applied u", "first activations", "first fibers"
FIRST_DRIVEN = "first states of actuators"
"""Names of arguments of a step: no names that a controller could have."""


@dataclass(frozen=True)
class MuscleInputs:
    """Which muscles have states, their excitations, and numbers by name: parameters and what they begin with."""

    which: MuscleStates | None
    excitations: Control = NO_FORCE
    parameters: Parameters = field(default_factory=dict[str, Array])
    controls: Control = NO_FORCE
    """What actuators with states are told"""


def muscle_inputs(
    model: Model,
    excitations: Any,
    activations: ArrayLike | None,
    fiber_lengths: ArrayLike | None,
    parameters: Mapping[str, ArrayLike] | None,
    controls: Control | None = None,
    driven: ArrayLike | None = None,
) -> MuscleInputs:
    """What the muscles of one motion are told, and its actuators with states; an error where there are none to tell it.

    `driven` are the states that these begin with.
    """
    which = states_of(model, excitations, activations, fiber_lengths, controls is not None, driven)
    if which is None:
        return MuscleInputs(None)
    control, own = control_of(
        "excitations", excitations, EXCITED, (which.muscles,), dict(parameters or {}), (*STATE, *MUSCLES)
    )
    first = {
        FIRST_ACTIVATIONS: numbers_between("activations0", activations, which.muscles),
        FIRST_FIBERS: numbers_between("fiber_lengths0", fiber_lengths, which.elastic, most=np.inf),
        FIRST_DRIVEN: first_driven(driven, which.driven),
    }
    numbers = {**own, **{name: x for name, x in first.items() if x is not None}}
    return MuscleInputs(which, control, numbers, controls if controls is not None and which.driven else NO_FORCE)


def states_of(
    model: Model,
    excitations: Any,
    activations: ArrayLike | None,
    fiber_lengths: ArrayLike | None,
    is_driven: bool = False,
    driven: ArrayLike | None = None,
) -> MuscleStates | None:
    """Which muscles have states in a motion, and how many actuators, if these are told something."""
    if driven is not None and not (is_driven and with_dynamics(model.actuators)):
        why = f"{model.name} has no actuators with states" if is_driven else "controls, which they follow, is not given"
        raise ValueError(f"actuator_states0 is given, and {why}")
    for name, value, lines, what in (
        ("excitations", excitations, muscles_of(model.elements), "muscles"),
        ("activations0", activations, muscles_of(model.elements), "muscles"),
        ("fiber_lengths0", fiber_lengths, elastic_of(model.elements), "muscles with elastic tendons"),
    ):
        if value is not None and not lines:
            raise ValueError(f"{name} is given, and {model.name} has no {what}")
    if activations is not None and excitations is None:
        raise TypeError(
            "activations0 is where activations begin that follow excitations, and excitations is not given. "
            "kn.elements.with_activations(model, …) has muscles whose activations stay"
        )
    return MuscleStates.of(model, excitations is not None, is_driven)


def must_be_smooth(contacts: Any) -> None:
    """An error for contacts that are found from event to event by forces that know no states of muscles."""
    if contacts is not None:
        raise ValueError(
            f"contacts={type(contacts).__name__}(…) goes from event to event, and cannot have muscles with states "
            "(excitations, elastic tendons), or actuators with states: take contact steps, or CompliantContacts"
        )


def muscle_rows(model: Model, told: MuscleInputs, times: Array, q: Array, v: Array, z: Array) -> MuscleRows | None:
    """What muscles did in the rows of a motion; None where they have no states."""
    if told.which is None:
        return None
    rows = MuscleRows.of(told.which, z, None)
    if not told.which.is_excited:
        return rows
    states = {name: x for name, x in rows.named.items() if name in told.excitations.names}
    own = {name: told.parameters[name] for name in told.excitations.parameters}
    excited = forces_along(model, told.excitations, own, times, q, v, told.which.muscles, states)
    return replace(rows, excitations=excited)


def first_driven(value: ArrayLike | None, count: int) -> Array | None:
    """States (..., count) that actuators begin with, or an error that names the argument."""
    if value is None:
        return None
    try:
        array = np.array(value, float)
    except (TypeError, ValueError):
        raise TypeError(f"actuator_states0 is {count} numbers, not {value!r}") from None
    if array.shape[-1:] != (count,) or not np.isfinite(array).all():
        raise ValueError(f"actuator_states0 is finite numbers of shape (..., {count}), not {value!r}")
    return array


def numbers_between(name: str, value: ArrayLike | None, count: int, *, most: float = 1.0) -> Array | None:
    """Numbers (..., count) from 0 to a largest one, or an error that names the argument."""
    if value is None:
        return None
    try:
        array = np.array(value, float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {count} numbers, not {value!r}") from None
    if array.shape[-1:] != (count,):
        raise ValueError(f"{name} has shape {array.shape}, and must have shape ({count},)")
    if not ((array >= 0) & (array <= most)).all() or not np.isfinite(array).all():
        what = "are from 0 to 1" if most == 1 else "are finite and not below zero"
        raise ValueError(f"{name}: they {what}, not {array}")
    return array
