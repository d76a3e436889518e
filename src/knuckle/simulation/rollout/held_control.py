"""Controllers and external forces that are Python functions of arrays: called once a step, for all trajectories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model
from knuckle.simulation.controls import Control
from knuckle.simulation.steps.step_text import APPLIED, WRENCHES

Array: TypeAlias = NDArray[Any]


@dataclass
class HeldControl:
    """The forces at the beginning of a step, held while it lasts. `single` names the arguments that are numbers.

    `forces` (..., K, nv), where it is given, receives those of the steps that begin at saved states, every
    `save_every` of them; with the last state go the forces of the last step.
    """

    model: Model
    controller: Control | None
    external_forces: Control | None
    single: tuple[str, ...]
    save_every: int = 1
    steps: int = 0
    forces: Array | None = None
    _step: int = 0

    def __call__(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The forces for the arguments of a step."""
        held = self.at(values)
        if self.forces is not None:
            if self._step % self.save_every == 0:
                self.forces[..., self._step // self.save_every, :] = held[APPLIED]
            if self._step + 1 == self.steps:
                self.forces[..., -1, :] = held[APPLIED]
        self._step += 1
        return held

    def at(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The forces for the arguments of a step, not counted as one."""
        own: dict[str, Any] = {name: x[..., 0] if name in self.single else x for name, x in values.items()}
        t, q, v = float(own["t"]), np.asarray(own["q"]), np.asarray(own["v"])
        model = self.model.at_time(t) if self.model.depends_on_time else self.model
        held: dict[str, Array] = {}
        if self.controller is not None:
            held[APPLIED] = values[APPLIED] + self.controller(model, t, q, v, own, (self.model.nv,))
        if self.external_forces is not None:
            shape = (self.model.nb, self.model.algebra.dimension)
            held[WRENCHES] = self.external_forces(model, t, q, v, own, shape)
        return held
