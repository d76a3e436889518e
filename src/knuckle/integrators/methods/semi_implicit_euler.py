"""Semi-implicit Euler: velocities first, then positions with the new velocities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.integrators.base import Integrator, State
from knuckle.integrators.system import System


@dataclass(frozen=True)
class SemiImplicitEuler(Integrator):
    """v' = v + dt a(t, q, v), q' = q ⊕ dt v'. One evaluation per step; no drift where v = q̇ and H is constant."""

    is_explicit = True

    evaluates_forces_once = True

    @property
    def order(self) -> int:
        return 1

    @property
    def evaluations(self) -> int:
        return 1

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        v = state.v + dt * system.acceleration(t, state.q, state.v)
        return State(system.moved(state.q, dt * v), v)
