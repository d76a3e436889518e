"""What muscles and actuators did along motions: excitations, activations, lengths of fibers, states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model
from knuckle.model.actuators.actuator_dynamics import with_dynamics
from knuckle.model.elements.muscles.muscle_states import MuscleStates, law_of, muscles_of

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class MuscleRows:
    """Rows (..., n, m) of what were states, or inputs; None where activations, or fibers, were no states."""

    activations: Array | None = None
    fiber_lengths: Array | None = None
    excitations: Array | None = None
    actuator_states: Array | None = None

    @classmethod
    def of(cls, which: MuscleStates, z: Array, excitations: Array | None) -> MuscleRows:
        """Those of states (..., n, count)."""
        n, m = which.muscles * which.is_excited, which.of_muscles
        fibers, driven = (z[..., n:m] if which.elastic else None), (z[..., m:] if which.driven else None)
        return cls(z[..., :n] if n else None, fibers, excitations, driven)

    def each(self, change: Callable[[Array], Array]) -> MuscleRows:
        """With each array changed."""
        return MuscleRows(*(None if x is None else change(x) for x in self._arrays))

    @property
    def named(self) -> dict[str, Array]:
        """The arrays by their names."""
        names = (field.name for field in fields(self))
        return {name: x for name, x in zip(names, self._arrays, strict=True) if x is not None}

    @classmethod
    def from_named(cls, arrays: Mapping[str, Array]) -> MuscleRows | None:
        """The rows of a file; None if it has none."""
        own = {field.name: arrays[field.name] for field in fields(cls) if field.name in arrays}
        return cls(**own) if own else None

    @property
    def _arrays(self) -> tuple[Array | None, ...]:
        return self.activations, self.fiber_lengths, self.excitations, self.actuator_states


class WithMuscles:
    """The part of a motion that is about its muscles: arrays with the axes of its states."""

    model: Any
    q: Any
    v: Any
    muscle_rows: Any

    @property
    def activations(self) -> Array:
        """(..., n, m) of the muscles in order, from 0 to 1; where they are no states, those of their laws."""
        rows: MuscleRows = self.muscle_rows or MuscleRows()
        if rows.activations is not None:
            return rows.activations
        own = [float(law_of(x).activation) for x in muscles_of(self.model.elements)]
        return np.broadcast_to(np.array(own), (*self.q.shape[:-1], len(own)))

    @property
    def excitations(self) -> Array:
        """(..., n, m): what muscles were told, from 0 to 1; their activations, where they were told nothing."""
        rows: MuscleRows = self.muscle_rows or MuscleRows()
        return self.activations if rows.excitations is None else rows.excitations

    @property
    def fiber_lengths(self) -> Array:
        """(..., n, e) of the muscles with elastic tendons, in metres; where they are no states, in equilibrium."""
        rows: MuscleRows = self.muscle_rows or MuscleRows()
        if rows.fiber_lengths is not None:
            return rows.fiber_lengths
        from knuckle.elements import fiber_equilibrium

        return fiber_equilibrium(self.model, self.q, self.activations)

    @property
    def actuator_states(self) -> Array:
        """(..., n, s) of the actuators that have states, in order; as they begin, where they were told nothing."""
        rows: MuscleRows = self.muscle_rows or MuscleRows()
        if rows.actuator_states is not None:
            return rows.actuator_states
        own = [float(law.state) for _, law in with_dynamics(self.model.actuators)]
        return np.broadcast_to(np.array(own), (*self.q.shape[:-1], len(own)))

    @property
    def tensions(self) -> Array:
        """(..., n, l) in newtons: the tension of every line of the model, muscles and others."""
        from knuckle.elements import tensions

        return tensions(self.model, self.q, self.v, self.activations, self.fiber_lengths)


def potential_energy_with(model: Model, q: Array, rows: MuscleRows) -> Array:
    """What is stored along a motion with states of muscles."""
    from knuckle.elements.muscle_terms import stored_energy

    return stored_energy(model, q, rows.fiber_lengths, passive=rows.activations is not None)
