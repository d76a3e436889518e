"""A mechanism left to itself: free motion by a Runge-Kutta method on the manifold of positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import knuckle as kn
from knuckle.model import Model

Array = NDArray[Any]


@dataclass(frozen=True)
class Swing:
    """A motion: times (n,), positions (n, nq), velocity variables (n, nv), energies in joules (n,)."""

    t: Array
    q: Array
    v: Array
    kinetic: Array
    potential: Array

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy together."""
        return self.kinetic + self.potential

    @property
    def drift(self) -> Array:
        """How far the energy is from its first value, over the greatest kinetic energy: what was there to lose."""
        return (self.energy - self.energy[0]) / np.max(self.kinetic)


def swing(
    model: Model, q: Array, v: Array, duration: float, steps: int, tick: Callable[[], None] = lambda: None
) -> Swing:
    """The motion without joint forces from the state (q, v); `tick` is called after every step."""
    h = duration / steps
    states = [(q, v)]
    for _ in range(steps):
        states.append(step(model, *states[-1], h))
        tick()
    Q, V = (np.array(x) for x in zip(*states, strict=True))
    t = np.linspace(0.0, duration, steps + 1)
    return Swing(t, Q, V, kn.kinetic_energy(model, Q, V), kn.potential_energy(model, Q))


def step(model: Model, q: Array, v: Array, h: float) -> tuple[Array, Array]:
    """One step of the commutator-free method of order four (Celledoni, Marthinsen and Owren, 2003).

    Where q̇ = v it is the classical method of Runge and Kutta. On rotations it stays on the manifold and keeps its
    order, because every position comes from `integrate`.
    """

    def a(q: Array, v: Array) -> Array:
        return kn.forward_dynamics(model, q, v, np.zeros(model.nv))

    v1, a1 = v, a(q, v)
    q2, v2 = kn.integrate(model, q, h / 2 * v1), v + h / 2 * a1
    a2 = a(q2, v2)
    q3, v3 = kn.integrate(model, q, h / 2 * v2), v + h / 2 * a2
    a3 = a(q3, v3)
    q4, v4 = kn.integrate(model, q2, h * (v3 - v1 / 2)), v + h * a3
    a4 = a(q4, v4)
    half = kn.integrate(model, q, h / 12 * (3 * v1 + 2 * v2 + 2 * v3 - v4))
    q = kn.integrate(model, half, h / 12 * (-v1 + 2 * v2 + 2 * v3 + 3 * v4))
    return q, v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
