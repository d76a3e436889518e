"""Linearly implicit Euler: stiff springs, dampers and gains without small steps (notes 1.9, 2.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.model import Model
from knuckle.run import bias_force, configuration_rate, joint_resistance, mass_matrix
from knuckle.run.loops import stabilized_bias
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Vector
from knuckle.spatial.elimination import solve

from .hermite import linear
from .integrator import Dense, Integrator, State
from .linear import along, derivative_of
from .loops import solve_with
from .system import System


@dataclass(frozen=True)
class ImplicitEuler(Integrator):
    """(H + dt D + dt² K) (v' − v) = dt (τ − C − dt K v), q' = q ⊕ dt v' (notes 2.73).

    D = −∂τ/∂v and K = −∂τ/∂q are exact, for the dampers, friction and springs of the joints and for a controller that
    is a kernel. A controller that is a Python function has no derivatives: its force is held for the step. Closed loops
    add Kᵀλ on the right, with K (v' − v) = dt k (RBDA 8.36).
    """

    asks_once = True

    @property
    def order(self) -> int:
        return 1

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        q, v, model = state.q, state.v, system.at(t)

        def resisting(q: Any, v: Any) -> Any:
            return joint_resistance(model, q, v) - system.force(model, t, q, v)

        units: list[Any] = [Vector(ONE if i == k else ZERO for i in range(model.nv)) for k in range(model.nv)]
        D = _columns(resisting(q, along(v, e)) for e in units)
        K = _columns(resisting(along(q, _rate(model, q, e)), v) for e in units)
        tau, *f_ext = system.forces(t, q, v)
        rest = dt * (tau - bias_force.reference(model, q, v, *f_ext) - dt * (K @ v))
        A = mass_matrix.reference(model, q) + dt * D + dt * dt * K
        if model.loops:
            k = stabilized_bias(model, q, v, system.decay_time)
            v = v + solve_with(model, q, A, rest, dt * k)
        else:
            v = v + solve(A, rest)
        return State(system.moved(q, dt * v), v)

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> Dense:
        return linear(system, old, new)


def _rate(model: Model, q: Any, e: Any) -> Any:
    return configuration_rate(model, q, e)


def _columns(directions: Any) -> Matrix:
    columns = [derivative_of(y) for y in directions]
    return Matrix.columns(columns, len(columns))
