"""A mechanism whose velocity variables are followed by the states of its muscles: one differential equation for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from knuckle.spatial import Vector, called

from .system import System


def joined(v: Any, z: Any) -> Any:
    """Two vectors one after the other."""
    return np.concatenate([v, z]) if isinstance(v, np.ndarray) else Vector([*v, *z])


@dataclass(frozen=True)
class ExtendedSystem(System):
    """(v, z) instead of v: z has rates beside the accelerations, and moves nothing.

    Displacements have entries for z as well, of which positions take no notice.
    """

    @classmethod
    def of(cls, system: System) -> ExtendedSystem:
        """A system, extended by the states of its muscles."""
        new = cls(**{field.name: getattr(system, field.name) for field in fields(System)})
        system._sharing(new)  # pyright: ignore[reportPrivateUsage]
        new.__dict__["plain"] = system
        return new

    @cached_property
    def plain(self) -> System:
        """The system without the states."""
        return System(**{field.name: getattr(self, field.name) for field in fields(System)})

    def acceleration(self, t: Any, q: Any, v: Any) -> Any:
        """(v̇, ż)."""
        return self._both(t, q, v)

    @cached_property
    def _both(self) -> Callable[..., Any]:
        def rates(t: Any, q: Any, v: Any) -> Any:
            speed, z = self.apart(v)
            a = self.plain.in_state(z)._accelerated(t, q, speed)  # pyright: ignore[reportPrivateUsage]
            return joined(a, self.plain.state_rates(t, q, speed, z))

        return called(rates)

    def apart(self, v: Any) -> tuple[Any, Any]:
        """v and z."""
        return v[: self.model.nv], v[self.model.nv :]

    def moved(self, q: Any, u: Any) -> Any:
        return self.plain.moved(q, self.apart(u)[0])

    def displacement(self, q0: Any, q1: Any) -> Any:
        u = self.plain.displacement(q0, q1)
        assert self.muscles is not None
        n = self.muscles.which.count
        return joined(u, np.zeros(n) if isinstance(u, np.ndarray) else [0.0] * n)

    def difference_rate(self, u: Any, v: Any) -> Any:
        speed, z = self.apart(v)
        return joined(self.plain.difference_rate(self.apart(u)[0], speed), z)
