"""Between two states: cubics that meet both ends with their slopes."""

from __future__ import annotations

from typing import Any

from .base import DenseOutput, State
from .system import System


def hermite(system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
    """Cubic Hermite interpolation in the chart u = q ⊖ q_old, where u̇ is known at both ends.

    The error of q and v is O(dt⁴), so that a method of up to the fourth order loses nothing.
    """
    u = system.displacement(old.q, new.q)
    du0, du1 = dt * old.v, dt * system.difference_rate(u, new.v)
    dv0, dv1 = dt * system.acceleration(t, old.q, old.v), dt * system.acceleration(t + dt, new.q, new.v)

    def between(theta: Any) -> tuple[Any, Any]:
        s = 1 - theta
        rise, out, back = theta * theta * (1 + 2 * s), theta * s * s, theta * theta * s
        u_at = rise * u + out * du0 - back * du1
        return system.moved(old.q, u_at), old.v + rise * (new.v - old.v) + out * dv0 - back * dv1

    return between


def linear(system: System, old: State, new: State) -> DenseOutput:
    """Straight lines in the same chart, for methods that step over what happens in between."""
    u = system.displacement(old.q, new.q)

    def between(theta: Any) -> tuple[Any, Any]:
        return system.moved(old.q, theta * u), old.v + theta * (new.v - old.v)

    return between
