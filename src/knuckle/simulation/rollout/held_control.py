"""Controllers and external forces that are Python functions of arrays: called once a step, for all trajectories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model
from knuckle.model.elements.muscles.muscle_states import MuscleStates
from knuckle.simulation.controls import CONTROLS, MUSCLES, Control
from knuckle.simulation.muscle_inputs import EXCITED
from knuckle.simulation.sampled_control import SampledControl
from knuckle.simulation.steps.step_text import APPLIED, WRENCHES

Array: TypeAlias = NDArray[Any]


@dataclass
class HeldControl:
    """The forces at the beginning of a step, held while it lasts. `single` names the arguments that are numbers.

    `saved` has arrays (..., K, n) that receive those of the steps that begin at saved states, every `save_every` of
    them, by their names; with the last state go the forces of the last step. The states of muscles are the part of the
    state called `states`.
    """

    model: Model
    controller: Control | None
    external_forces: Control | None
    single: tuple[str, ...]
    save_every: int = 1
    steps: int = 0
    saved: Mapping[str, Array] = field(default_factory=dict[str, Array])
    excitations: Control | None = None
    muscles: MuscleStates | None = None
    states: str = ""
    sampler: Sampler | None = None
    controls: Control | None = None
    _step: int = 0

    def __call__(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The forces for the arguments of a step."""
        held = self.at(values)
        for name, rows in self.saved.items():
            if self._step % self.save_every == 0:
                rows[..., self._step // self.save_every, :] = held[name]
            if self._step + 1 == self.steps:
                rows[..., -1, :] = held[name]
        self._step += 1
        return held

    def at(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The forces for the arguments of a step, not counted as one."""
        own: dict[str, Any] = {name: x[..., 0] if name in self.single else x for name, x in values.items()}
        t, q, v = float(own["t"]), np.asarray(own["q"]), np.asarray(own["v"])
        model = self.model.at_time(t) if self.model.depends_on_time else self.model
        held: dict[str, Array] = {}
        if self.sampler is not None:
            given = self.sampler.held(model, self._step, t, q, v, own)
            if self.sampler.control.law.what == "controls":
                held[CONTROLS] = given
            else:
                held[APPLIED] = values[APPLIED] + given
        if self.controls is not None:
            held[CONTROLS] = self.controls(model, t, q, v, own, (len(self.model.actuators),))
        if self.controller is not None:
            held[APPLIED] = values[APPLIED] + self.controller(model, t, q, v, own, (self.model.nv,))
        if self.external_forces is not None:
            shape = (self.model.nb, self.model.algebra.dimension)
            held[WRENCHES] = self.external_forces(model, t, q, v, own, shape)
        if self.excitations is not None and self.muscles is not None and self.states in own:
            states = dict(zip(MUSCLES, _apart(self.muscles, np.asarray(own[self.states])), strict=True))
            held[EXCITED] = self.excitations(model, t, q, v, {**own, **states}, (self.muscles.muscles,))
        return held


@dataclass
class Sampler:
    """A sampled controller in Python for all trajectories: its law is called every so many steps, and what it gives is
    held."""

    control: SampledControl
    every: int
    state: Array
    _held: Array | None = None
    _sampled: int = -1

    def held(self, model: Model, step: int, t: float, q: Array, v: Array, values: Mapping[str, Any]) -> Array:
        """The force in a step, after a sample if it is time for one."""
        if self._held is None or (step % self.every == 0 and step != self._sampled):
            z = np.broadcast_to(self.state, (*q.shape[:-1], self.control.states)).astype(q.dtype)
            held, self.state = self.control.sample(model, t, q, v, z, values)
            self._held, self._sampled = np.asarray(held), step
        return self._held


def _apart(which: MuscleStates, z: Array) -> tuple[Array, Array]:
    """Activations and lengths of fibers (..., n) of states (..., count)."""
    n = which.muscles * which.is_excited
    return z[..., :n], z[..., n : which.of_muscles]
