"""An embedded Runge-Kutta pair that chooses its steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from knuckle.integrators.base import Adaptive, DenseOutput, State
from knuckle.integrators.system import System
from knuckle.scalar import constant

from .runge_kutta import stages, weighted, within
from .tableaus import DORMAND_PRINCE, Tableau


@dataclass(frozen=True)
class DormandPrince(Adaptive):
    """Dormand and Prince's method of order 5 with an error estimate of order 4 and a dense output of order 4."""

    is_explicit = True

    tableau: ClassVar[Tableau] = DORMAND_PRINCE

    @property
    def order(self) -> int:
        return self.tableau.order

    @property
    def evaluations(self) -> int:
        return len(self.tableau.b)

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        return self.attempt(system, t, state, dt)[0]

    def attempt(self, system: System, t: Any, state: State, dt: Any) -> tuple[State, Any, Any]:
        slopes = stages(self.tableau, system, t, state, dt)
        u, v = weighted(map(constant, self.tableau.b), slopes, dt)
        new = State(system.moved(state.q, u), state.v + v)
        return new, *weighted(map(constant, self.tableau.error), slopes, dt)

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        slopes = stages(self.tableau, system, t, old, dt)
        return lambda theta: within(self.tableau, slopes, system, old, dt, theta)
