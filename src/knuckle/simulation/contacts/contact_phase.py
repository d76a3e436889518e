"""The forces of rigid contacts while each of them does the same: current and active sets (RBDA 11.5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.bound import Bound, bind
from knuckle.contact.rigid.contact_forces import Grip, GripForces, forces_of
from knuckle.contact.rigid.contact_response import ContactResponse, response_at
from knuckle.contact.rigid.place_surfaces import PlaceSurfaces, place_surfaces
from knuckle.functions import integrate
from knuckle.integrators.system import HOLD, System
from knuckle.model import Model

Array: TypeAlias = NDArray[Any]

SLACK = 2e-12
"""Gaps smaller than this, in metres, are closed."""
STILL = 1e-9
"""Speeds below this, in metres per second, are none."""
JUMP = 1e-5
"""Gaps of active contacts that are larger belong to another place now: a shape touches with another part."""


@dataclass(frozen=True)
class Phase:
    """Which places are held, and the directions (m, 2) in which those that slide do: zero where they stick."""

    places: tuple[int, ...] = ()
    ways: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(cls, places: Array, grip: Grip) -> Phase:
        """Of the contacts that push."""
        chosen = np.flatnonzero(grip.pushes)
        ways = tuple((float(x), float(y)) for x, y in grip.way[chosen])
        return cls(tuple(int(k) for k in places[chosen]), ways)

    def without_slips(self, before: Array, after: Array) -> Phase:
        """The phase without slips that others bring to a stand: velocities (n, 3) before, and with what holds held."""
        fast, slow = (np.linalg.norm(u[self.index, 1:], axis=1) for u in (before, after))
        ended = (fast > STILL) & (slow <= STILL * 1e-3)
        return Phase(self.places, tuple((0.0, 0.0) if x else w for x, w in zip(ended, self.ways, strict=True)))

    @property
    def key(self) -> tuple[tuple[int, bool], ...]:
        """The places, and whether they slide."""
        return tuple((k, bool(x or y)) for k, (x, y) in zip(self.places, self.ways, strict=True))

    @property
    def index(self) -> Array:
        return np.array(self.places, int)

    @property
    def way(self) -> Array:
        return np.array(self.ways, float).reshape(-1, 2)


@dataclass(frozen=True)
class TouchTerms:
    """Some places in a state: their velocities (m, 3), their response and friction, and their rates without forces."""

    places: Array
    u: Array
    rates: Array
    response: ContactResponse
    mu: Array

    def grip(self, way: Array, calm: Array) -> Grip:
        """All of them hold, and slide where they did: in the direction that they have now.

        Below the speed `calm` a direction would turn faster than steps can follow: it turns as fast as at that speed.
        """
        u, slides = self.u[:, 1:], np.any(way != 0, axis=1)
        speed, ahead = np.linalg.norm(u, axis=1), np.einsum("ki,ki->k", u, way)
        moves = slides & (speed > np.maximum(STILL, calm))
        now = u / np.where(moves, np.where(ahead < 0, -speed, speed), 1.0)[:, None]
        aside = (u - ahead[:, None] * way) / np.maximum(np.maximum(speed, calm), STILL)[:, None]
        straight = np.sqrt(np.maximum(1 - np.einsum("ki,ki->k", aside, aside), 0.0))
        slow = np.where(slides[:, None], straight[:, None] * way + aside, 0.0)
        return Grip(np.ones(len(way), bool), np.where(moves[:, None], now, slow))

    def calm(self, forces: Array, h: float) -> Array:
        """The speeds at which directions of sliding turn about as fast as steps of h can follow."""
        m = len(self.mu)
        across = np.abs(self.response.A.reshape(m, 3, m, 3)[:, 1:, :, 1:]).sum(axis=(1, 3))
        return h * across @ (self.mu * np.abs(forces.reshape(m, 3)[:, 0]))

    def forces(self, grip: Grip) -> Array:
        """(3 m,) the least forces with which the places hold."""
        return grip.forces(self.response.A, self.rates, self.mu)

    def free_forces(self, way: Array) -> GripForces:
        """The forces by the laws of contact and friction, whatever the places did before."""
        return forces_of(self.response.A, self.rates, self.mu, way)


class Contacts:
    """The contacts of a mechanism as numbers, state by state."""

    def __init__(self, model: Model) -> None:
        self.model, self.surfaces = model, place_surfaces(model)

    @cached_property
    def _functions(self) -> Bound:
        return bind(self.model)

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        return self.surfaces.names

    def surfaces_with(self, restitution: Array) -> PlaceSurfaces:
        """The surfaces with other restitutions."""
        return PlaceSurfaces(self.surfaces.friction, restitution, self.surfaces.names)

    def gaps(self, q: Array) -> Array:
        """φ of all places, for one or many states."""
        return np.asarray(self._functions.contact.gaps(q))

    def velocity(self, q: Array, v: Array) -> Array:
        """Tᵀq̇ (n, 3) of all places, for one or many states."""
        return np.asarray(self._functions.contact.contact_velocity(q, v))

    def rows(self, q: Array, places: Array) -> Array:
        """Tᵀ (3 m, nv) of some places."""
        return np.asarray(self._functions.contact.contact_jacobian(q))[places].reshape(-1, self.model.nv)

    def response(self, q: Array, J: Array, sticking: Array | None = None) -> ContactResponse:
        """The response along rows, with joints that dry friction holds standing still."""
        return response_at(self.model, q, J, None if sticking is None else HOLD * np.asarray(sticking))

    def touch(self, system: System, t: float, q: Array, v: Array, places: Array) -> TouchTerms:
        """Some places in a state, under the forces of a system."""
        J = self.rows(q, places)
        bias = np.asarray(self._functions.contact.contact_bias(q, v))[places].ravel()
        rates = J @ np.asarray(system.acceleration(t, q, v)) + bias
        u = self.velocity(q, v)[places]
        return TouchTerms(places, u, rates, self.response(q, J, system.sticking), self.surfaces.friction[places])

    def held_forces(
        self, system: System, t: float, q: Array, v: Array, phase: Phase, calm: Array
    ) -> tuple[TouchTerms, Grip, Array]:
        """The places of a phase, what they do, and their forces."""
        touch = self.touch(system, t, q, v, phase.index)
        grip = touch.grip(phase.way, calm)
        return touch, grip, touch.forces(grip)

    def settled(self, q: Array, v: Array, phase: Phase, sticking: Array | None) -> tuple[Array, Array]:
        """The nearest state, by kinetic energy, in which the places of a phase touch, and what holds stands still."""
        places = phase.index
        for _ in range(3):
            gap = self.gaps(q)[places]
            near = np.abs(gap) < JUMP
            if not near.any() or np.abs(gap[near]).max() <= 1e-3 * SLACK:
                break
            response = self.response(q, self.rows(q, places[near])[::3], sticking)
            q = np.asarray(integrate(self.model, q, -response.change(_least(response.A, gap[near]))))
        near = np.abs(self.gaps(q)[places]) < JUMP
        grip = Grip(near, phase.way)
        rows = grip.rows(self.surfaces.friction[places])
        if rows:
            response = self.response(q, self.rows(q, places)[rows], sticking)
            v = v - response.change(_least(response.A, response.J @ v))
        return q, v


def _least(A: Array, b: Array) -> Array:
    """The least x with A x = b, where contacts may say the same."""
    return np.linalg.lstsq(A, b, rcond=1e-10)[0]
