"""Runge-Kutta methods on the configuration manifold, after Munthe-Kaas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from knuckle.integrators.base import DenseOutput, Integrator, State
from knuckle.integrators.dense_output import hermite
from knuckle.integrators.system import System
from knuckle.scalar import ZERO, constant

from .tableaus import HEUN, RK4, Tableau


@dataclass(frozen=True)
class RungeKutta(Integrator):
    """An explicit Runge-Kutta method given by its tableau.

    Positions are q = q₀ ⊕ u, and u̇ is known exactly (`difference_rate`): in u and v the motion is an ordinary
    differential equation, and every method keeps its order and its dense output on every joint.
    """

    is_explicit = True

    tableau: Tableau

    @property
    def order(self) -> int:
        return self.tableau.order

    @property
    def evaluations(self) -> int:
        return len(self.tableau.b)

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        u, v = weighted(map(constant, self.tableau.b), stages(self.tableau, system, t, state, dt), dt)
        return State(system.moved(state.q, u), state.v + v)

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        if not self.tableau.dense:
            return hermite(system, t, old, new, dt)
        slopes = stages(self.tableau, system, t, old, dt)
        return lambda theta: within(self.tableau, slopes, system, old, dt, theta)


Slope = tuple[Any, Any]
"""u̇ and v̇."""


def stages(tableau: Tableau, system: System, t: Any, state: State, dt: Any) -> list[Slope]:
    """The slopes k of all stages."""
    slopes = [(state.v, system.acceleration(t, state.q, state.v))]
    for row, c in zip(tableau.a[1:], tableau.c[1:], strict=True):
        u, dv = weighted(map(constant, row), slopes, dt)
        v = state.v + dv
        slopes.append((system.difference_rate(u, v), system.acceleration(t + c * dt, system.moved(state.q, u), v)))
    return slopes


def weighted(weights: Iterable[Any], slopes: list[Slope], dt: Any) -> Slope:
    """dt Σ wᵢ kᵢ."""
    used = [(dt * w, u, v) for w, (u, v) in zip(weights, slopes, strict=True)]
    return sum((w * u for w, u, _ in used), ZERO), sum((w * v for w, _, v in used), ZERO)


def within(tableau: Tableau, slopes: list[Slope], system: System, old: State, dt: Any, theta: Any) -> tuple[Any, Any]:
    """(q, v) at θ of the step, by the weights bᵢ(θ)."""
    u, v = weighted([_polynomial(c, theta) for c in tableau.dense], slopes, dt)
    return system.moved(old.q, u), old.v + v


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    """Σ cₖ xᵏ, k from 1."""
    return reduce(lambda total, c: total * x + c, reversed(coefficients), 0.0) * x


@dataclass(frozen=True)
class Heun(RungeKutta):
    """Heun's method of the second order (RBDA 11.50), with its own dense output (11.51)."""

    tableau: Tableau = HEUN


@dataclass(frozen=True)
class RungeKutta4(RungeKutta):
    """The classical Runge-Kutta method of the fourth order."""

    tableau: Tableau = RK4
