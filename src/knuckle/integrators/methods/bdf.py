"""Backward differentiation formulas on the configuration manifold."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

from knuckle.functions import inverse_dynamics
from knuckle.integrators.base import DenseOutput, State
from knuckle.integrators.dense_output import linear
from knuckle.integrators.system import System
from knuckle.scalar import less, select

from .newton import Iterative, Newton, largest

ROOT_HALF = sqrt(0.5)


@dataclass(frozen=True)
class BDF1(Newton):
    """Implicit Euler: q' = q ⊕ dt v', and v' solves ID(q', v', (v' − v)/dt) = τ(t', q', v')."""

    acts_at_the_end = True
    is_implicit = True

    @property
    def order(self) -> int:
        return 1

    def guess(self, system: System, t: Any, state: State, dt: Any) -> Any:
        return state.v

    def force_arguments(self, system: System, t: Any, state: State, x: Any, dt: Any) -> tuple[Any, Any, Any]:
        return t + dt, system.moved(state.q, dt * x), x

    def residual(self, system: System, t: Any, state: State, x: Any, dt: Any) -> Any:
        return unbalanced(system, *self.force_arguments(system, t, state, x, dt), (x - state.v) / dt)

    def finished(self, system: System, t: Any, state: State, x: Any, size: Any, dt: Any) -> State:
        return State(system.moved(state.q, dt * x), x, (largest(state, size),))

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        return linear(system, old, new)


@dataclass(frozen=True)
class BDF2(Newton):
    """The formula of two steps, of any lengths: with w = dt/dt₋₁ and y₀ = 0 for displacements from q,

        (1 + 2w) y₁ = (1 + w)² y₀ − w² y₋₁ + (1 + w) dt ẏ₁.

    It is used for v and for the displacement u = q ⊖ q₀, whose rate at the end is v₁ but for terms of the second order
    in dt. The memory holds the step before as (q₋₁, v₋₁, 1/dt₋₁).

    The first step has none before it. With `start="bdf1"` it has w = 0, which is BDF1: its one error of the second
    order leaves the order of the whole at two. With `start="sdirk2"` it is the diagonally implicit Runge-Kutta method
    of two stages with a = 1 − √½ (Alexander 1977), as in later editions of the notes: BDF1 over the part a of the step,
    which continued to 2a serves as y₋₁. The formula with w = −(1 + √½) is then the second stage.
    """

    start: Literal["bdf1", "sdirk2"] = "bdf1"

    acts_at_the_end = True
    is_implicit = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start not in ("bdf1", "sdirk2"):
            raise ValueError(f'start is "bdf1" or "sdirk2", not {self.start!r}')

    @property
    def order(self) -> int:
        return 2

    @property
    def stage(self) -> tuple[float, Iterative] | None:
        return (1 - ROOT_HALF, BDF1(self.iterations, self.tolerance)) if self.start == "sdirk2" else None

    def is_first(self, state: State) -> Any:
        return select(less(0.0, state.memory[2]), 0, 1)

    def after_stage(self, system: System, state: State, x: Any, size: Any, dt: Any) -> tuple[Any, ...]:
        ahead = system.moved(state.q, (2 * (1 - ROOT_HALF)) * dt * x)
        return ahead, 2 * x - state.v, -(1 + ROOT_HALF) / dt, largest(state, size)

    def begin(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        return State(q, v, (q, v, 0.0, 0.0))

    def guess(self, system: System, t: Any, state: State, dt: Any) -> Any:
        return state.v

    def force_arguments(self, system: System, t: Any, state: State, x: Any, dt: Any) -> tuple[Any, Any, Any]:
        q_before, _, pace, _ = state.memory
        w = dt * pace
        u = ((1 + w) * dt / (1 + 2 * w)) * x - (w * w / (1 + 2 * w)) * system.displacement(state.q, q_before)
        return t + dt, system.moved(state.q, u), x

    def residual(self, system: System, t: Any, state: State, x: Any, dt: Any) -> Any:
        q_before, v_before, pace, _ = state.memory
        w, v_before = dt * pace, system.alongside(state.q, q_before, v_before)[1]
        known = ((1 + w) * (1 + w)) * state.v - (w * w) * v_before
        a = ((1 + 2 * w) * x - known) / ((1 + w) * dt)
        return unbalanced(system, *self.force_arguments(system, t, state, x, dt), a)

    def finished(self, system: System, t: Any, state: State, x: Any, size: Any, dt: Any) -> State:
        _, q, v = self.force_arguments(system, t, state, x, dt)
        return State(q, v, (state.q, state.v, 1 / dt, largest(state, size)))

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        return linear(system, old, new)


def unbalanced(system: System, t: Any, q: Any, v: Any, a: Any) -> Any:
    """ID(q, v, a) − τ: what is missing for the acceleration a; with loops a − FD(q, v, τ), which knows their forces."""
    if system.model.loops:
        return a - system.acceleration(t, q, v)
    tau, *f_ext = system.forces(t, q, v)
    return inverse_dynamics(system.at_time(t), q, v, a, *f_ext) - tau
