"""What acted on the trajectories of a rollout, and what moved: computed again for the saved states."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.arrays.base import Shape, apart
from knuckle.engine.calls.numpy_arrays import NumPyArrays
from knuckle.engine.calls.trajectory_batches import Clock, Input
from knuckle.engine.kernels.specialization import Specialization
from knuckle.functions import kinetic_energy, potential_energy
from knuckle.model import Model
from knuckle.simulation.controls import DRIVEN, MUSCLES, Along, Control
from knuckle.simulation.muscle_inputs import EXCITED
from knuckle.simulation.steps.step_text import APPLIED, model_from
from knuckle.trajectory.muscle_rows import MuscleRows
from knuckle.trajectory.trajectory import over_time

Array: TypeAlias = NDArray[Any]

FEW = 8
"""Steps for each state kept, above which only the forces of those states are held."""


def part_of(array: Array, key: tuple[Any, ...], own: int) -> Array:
    """An index over the leading axes of an array, of which the last `own` stay."""
    return array[(*key, *[slice(None)] * own)] if any(k is Ellipsis for k in key) else array[key]


def inputs_kept(others: Mapping[str, Input | Clock], steps: Array, total: int) -> tuple[dict[str, Input], Array]:
    """The inputs to hold for states after `steps` of `total`, and where in them the states are.

    Long sequences of which few states were kept are not held whole: memory stays small. Others are not copied.
    """
    inputs = {name: x for name, x in others.items() if isinstance(x, Input) and name != "dt"}
    if len(steps) * FEW > total:
        return inputs, steps
    rows = {name: np.take(x.array, steps, len(x.batch)) if x.is_moving else x.array for name, x in inputs.items()}
    return {name: Input(array, inputs[name].shape) for name, array in rows.items()}, np.arange(len(steps))


def given_forces(inputs: Mapping[str, Input], steps: Array) -> Array | float:
    """The joint forces that were given for these steps (..., K or 1, nv); 0 where there are none."""
    x = inputs.get(APPLIED)
    if x is None:
        return 0.0
    return np.take(x.array, steps, len(x.batch)) if x.is_moving else x.array


@dataclass(frozen=True)
class Acting:
    """Forces and mechanisms of trajectories with these batch axes, K states of which were kept."""

    model: Model
    """What the controller knows; it moves, where no `model_fn` makes another"""
    batch: Shape
    steps: Array
    """(K,): which of the inputs' steps began at the states; the last one goes with the last state"""
    controller: Control | None = None
    model_fn: Control | None = None
    inputs: Mapping[str, Input] = field(default_factory=dict[str, Input])
    """Given forces and parameters"""
    single: tuple[str, ...] = ()
    """Those that are numbers"""
    saved_forces: Array | None = None
    """(..., K, nv): all forces, where they are known"""
    excitations: Control | None = None
    """What excites muscles, if it is a kernel"""
    saved_excitations: Array | None = None
    """(..., K, m): all excitations, where they are known"""
    driven: Array | None = None
    """(..., K, s): the states of actuators, if they have some"""

    def part(self, key: tuple[Any, ...], batch: Shape) -> Acting:
        """That of some trajectories, which have the axes `batch`."""
        saved = None if self.saved_forces is None else part_of(self.saved_forces, key, 2)
        inputs = {name: self._part(x, key) for name, x in self.inputs.items()}
        excited, driven = (None if x is None else part_of(x, key, 2) for x in (self.saved_excitations, self.driven))
        return Acting(
            self.model, batch, self.steps, self.controller, self.model_fn, inputs, self.single, saved,
            self.excitations, excited, driven,
        )  # fmt: skip

    def _part(self, x: Input, key: tuple[Any, ...]) -> Input:
        own = x.array.shape[len(x.batch) :]
        if math.prod(x.batch) == 1:
            return Input(x.array.reshape(own), x.shape)
        return Input(part_of(np.broadcast_to(x.array, self.batch + own), key, len(own)), x.shape)

    def forces(self, times: Array, q: Array, v: Array) -> Array:
        """τ (..., K, nv) in the states that were kept: what was given for the steps from there, and the controller."""
        if self.saved_forces is not None and self.controller is None:
            return self.saved_forces
        total = np.zeros((*self.batch, len(times), self.model.nv), q.dtype)
        if self.saved_forces is not None:
            total += self.saved_forces
        elif APPLIED in self.inputs:
            total += self._rows(APPLIED)
        if self.controller is not None:
            text = Along(self.controller, (self.model.nv,))
            states = {} if self.driven is None else {DRIVEN: (self.driven, self.driven.shape[-1:])}
            total += self._numbers(f"{self.controller.what} of a rollout", text, times, q, v, self.controller, states)
        return total

    def excited(self, times: Array, q: Array, v: Array, rows: MuscleRows) -> Array | None:
        """The excitations (..., K, m) in the states that were kept; None where muscles were told nothing."""
        if self.saved_excitations is not None:
            return self.saved_excitations
        if EXCITED in self.inputs:
            given, size = self._rows(EXCITED), self.inputs[EXCITED].shape
            return np.broadcast_to(given, (*self.batch, len(times), *size))
        if self.excitations is None or rows.activations is None:
            return None
        text, known = Along(self.excitations, rows.activations.shape[-1:]), rows.named
        states = {name: (known[name], known[name].shape[-1:]) for name in MUSCLES if name in self.excitations.names}
        return self._numbers("excitations of a rollout", text, times, q, v, self.excitations, states)

    def energy(self, kind: str, times: Array, q: Array, v: Array) -> Array:
        """The kinetic or potential energy (..., K) in joules."""
        if self.model_fn is None:
            if kind == "kinetic":
                return over_time(kinetic_energy, self.model, times, q, v)
            return over_time(potential_energy, self.model, times, q)
        return self._numbers(f"{kind} energy of a rollout", Energy(kind, self.model_fn), times, q, v, self.model_fn)

    def moving(self) -> Model:
        """The model that moves in a trajectory without batch axes."""
        if self.model_fn is None:
            return self.model
        values: dict[str, Any] = {}
        for name in self.model_fn.names:
            x = self.inputs[name]
            numbers = x.array.reshape(x.shape).astype(float).tolist()
            values[name] = numbers[0] if name in self.single else apart(numbers, x.shape)
        return model_from(self.model_fn, self.model, values)

    def _rows(self, name: str) -> Array:
        """The values of an input at the states (..., K or 1, *shape)."""
        x = self.inputs[name]
        return np.take(x.array, self.steps, len(x.batch)) if x.is_moving else x.array

    def _numbers(
        self,
        name: str,
        text: Callable[..., Any],
        times: Array,
        q: Array,
        v: Array,
        control: Control,
        states: Mapping[str, tuple[Array, Shape]] | None = None,
    ) -> Array:
        parameters = {name: (self._rows(name), self.inputs[name].shape) for name in control.parameters}
        arrays = {
            "t": (times[:, None].astype(q.dtype), (1,)),
            "q": (q, q.shape[-1:]),
            "v": (v, v.shape[-1:]),
            **(states or {}),
            **parameters,
        }
        single = ("t", *(name for name in control.parameters if name in self.single))
        specialization = Specialization(name, text, self.model, numbers=single, is_users=True)
        return np.asarray(NumPyArrays().compute(specialization, arrays))


@dataclass(frozen=True)
class Energy:
    """The kinetic or potential energy of the mechanism that parameters make, as a text."""

    kind: str
    model_fn: Control

    def __call__(self, model: Model, t: Any, q: Any, v: Any, **values: Any) -> Any:
        moving = model_from(self.model_fn, model, values).at_time(t)
        return kinetic_energy(moving, q, v) if self.kind == "kinetic" else potential_energy(moving, q)
