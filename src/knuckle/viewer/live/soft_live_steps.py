"""Live steps of mechanisms with deformable bodies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from knuckle.elements.deformables.soft_bodies import SoftBodies
from knuckle.integrators.base import State
from knuckle.integrators.methods.deformable_steps import DeformableSteps
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.viewer.scene.triangles import Array

from .live_steps import LiveForces, held_by_springs, pull_wrenches


@dataclass(frozen=True, eq=False)
class SoftMemory:
    """Nodes between two steps."""

    bodies: SoftBodies
    state: State

    @property
    def nodes(self) -> Array:
        """(n, 3)."""
        return np.asarray(self.state.memory[0]).reshape(-1, 3)

    @property
    def kinetic_energy(self) -> float:
        return self.bodies.kinetic_energy(self.state.memory[1])

    @property
    def potential_energy(self) -> float:
        return self.bodies.potential_energy(self.state.memory[0])


class _Acting:
    """What acts during one step; the system that has it stays the same, so that its code does."""

    def __init__(self, nv: int, nb: int) -> None:
        self.tau, self.f_ext = np.zeros(nv), np.zeros((nb, 6))

    def force(self, *_: Any) -> Array:
        return self.tau

    def wrenches(self, *_: Any) -> Array:
        return self.f_ext


@dataclass(frozen=True, eq=False)
class SoftLiveSteps:
    """Implicit steps of joints and nodes together. Springs of posture and stops act at the beginning of a step."""

    model: Model
    has_contacts = False
    solver = None

    def impulses(self, memory: SoftMemory | None) -> Array:
        return np.zeros(0)

    @cached_property
    def _steps(self) -> dict[bool, tuple[DeformableSteps, System, _Acting]]:
        """With gravity and without."""
        made: dict[bool, tuple[DeformableSteps, System, _Acting]] = {}
        for has_gravity in (True, False):
            model = self.model if has_gravity else self.model.with_gravity((0.0, 0.0, 0.0))
            acting = _Acting(model.nv, model.nb)
            made[has_gravity] = DeformableSteps(tolerance=1e-4), System(model, acting.force, acting.wrenches), acting
        return made

    def start(self) -> None:
        return None

    def step(
        self, q: Array, v: Array, memory: SoftMemory | None, tau: Array, acting: LiveForces, body: str | None
    ) -> tuple[Array, Array, SoftMemory]:
        steps, system, now = self._steps[bool(acting.gravity)]
        old = steps.begin(system, 0.0, q, v, acting.dt) if memory is None else State(q, v, memory.state.memory)
        now.tau = tau + held_by_springs(self.model, q, v, acting)[2]
        now.f_ext = pull_wrenches(self.model, q, v, acting, body)
        new = steps.step(system, 0.0, old, acting.dt)
        return np.asarray(new.q), np.asarray(new.v), SoftMemory(steps.bodies(system.model), new)
