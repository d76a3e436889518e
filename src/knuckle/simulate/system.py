"""A mechanism and what acts on it, as an integrator sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from knuckle.model import Model
from knuckle.run import Bound, bind, forward_dynamics
from knuckle.run.user import kernel

Force = Callable[[Model, Any, Any, Any], Any]


@dataclass(frozen=True)
class System:
    """A mechanism under forces. Every method takes one state: arrays, or inside a kernel vectors of scalars."""

    model: Model
    force: Force
    """(model, t, q, v) → τ"""
    external: Force | None = None
    """(model, t, q, v) → f_ext, a wrench per body"""

    def acceleration(self, t: Any, q: Any, v: Any) -> Any:
        """v̇ under the forces at this instant."""
        forces = self.forces(t, q, v)
        if self.is_timed:
            return _acceleration_at(self.model, t, q, v, *forces)
        return self._functions.forward_dynamics(q, v, *forces)

    def forces(self, t: Any, q: Any, v: Any) -> tuple[Any, ...]:
        """(τ,) or (τ, f_ext) at this instant."""
        model = self.at(t)
        tau = self.force(model, t, q, v)
        return (tau,) if self.external is None else (tau, self.external(model, t, q, v))

    def moved(self, q: Any, u: Any) -> Any:
        """q ⊕ u: the position after moving with the velocity variables u for a unit of time."""
        return self._functions.integrate(q, u)

    def displacement(self, q0: Any, q1: Any) -> Any:
        """q1 ⊖ q0."""
        return self._functions.difference(q0, q1)

    def displacement_rate(self, u: Any, v: Any) -> Any:
        """u̇ of the displacement u = q ⊖ q0 while q moves with v."""
        return self._functions.displacement_rate(u, v)

    def at(self, t: Any) -> Model:
        """The mechanism at time t: itself, unless some joint moves by a law of time."""
        return self.model.at(t) if self.is_timed else self.model

    @cached_property
    def is_timed(self) -> bool:
        """Whether some joint moves by a law of time."""
        return any(joint.kind.at(0.0) != joint.kind for joint in self.model.joints)

    @cached_property
    def _functions(self) -> Bound:
        return bind(self.model)


@kernel
def _acceleration_at(model: Model, t: Any, q: Any, v: Any, tau: Any, f_ext: Any = None) -> Any:
    """The time is an argument, so that one piece of code serves every instant."""
    return forward_dynamics.reference(model.at(t), q, v, tau, f_ext)
