"""A mechanism that moves by itself while somebody pulls at it."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from knuckle.functions import gravity_force, kinetic_energy, mass_matrix, neutral, potential_energy, total_mass
from knuckle.functions.loops.assembly import project
from knuckle.model import ROOT, Model
from knuckle.viewer.scene.ellipsoids import principal
from knuckle.viewer.scene.poses import poses
from knuckle.viewer.scene.triangles import Array

from .pulled_step import live_step

STEP = 2e-3
"""Of the integration, in seconds."""
HISTORY = 10.0
"""How much of the past is kept for the plots, in seconds."""
_HOLD, _STOP = 8.0, 60.0
"""Natural frequencies, in rad/s, of the joints on their posture springs and on their stops."""
_PULL = 40.0
"""Stiffness of the pulling spring over the mechanism's mass, in 1/s²."""


@dataclass(frozen=True, eq=False)
class Pull:
    """A spring from a body's point (in body coordinates) to a place in base coordinates."""

    body: int
    point: Array
    target: Array


class Live:
    """The state of a live simulation and what acts on it. Its methods may be called from several threads."""

    def __init__(self, model: Model, q: ArrayLike | None = None) -> None:
        self.model = model
        self.lock = threading.RLock()
        self.tree = model.without_loops()
        self.start = neutral(model) if q is None else np.array(q, float)
        self.gravity = True
        self.hold = any(joint.type.nv == 6 for joint in model.joints)
        self.stiffness = _PULL * max(total_mass(model), 1e-3)
        self.pull: Pull | None = None
        self.epoch = 0
        H = np.asarray(mass_matrix(self.tree, self.start), float)
        self.inertia = np.maximum(np.diag(H), 1e-6)
        self.reset()

    def reset(self, q: ArrayLike | None = None) -> None:
        """Puts the mechanism at rest, where it started or at `q`."""
        with self.lock:
            self.q = self.start.copy() if q is None else np.array(q, float)
            self.v = np.zeros(self.model.nv)
            self.reference = self.q.copy()
            self.time = 0.0
            self.pull = None
            self.epoch += 1
            self.history: deque[tuple[float, Array, float, float]] = deque()
            self._remember()

    @property
    def damping(self) -> float:
        """Of the pulling spring: critical for a quarter of the mechanism's mass."""
        return float(np.sqrt(self.stiffness * max(total_mass(self.model), 1e-3)))

    def grab(self, body: int, place: ArrayLike | None = None, target: ArrayLike | None = None) -> Pull:
        """Fastens the spring to a body at `place`, in base coordinates; by default at its centre of mass."""
        if not 0 <= body < self.model.nb:
            what = "the base" if body == ROOT else f"body {body}, of which there are {self.model.nb}"
            raise ValueError(f"a moving body can be pulled, not {what}")
        with self.lock:
            T = poses(self.model, self.q)[body + 1]
            if place is None:
                solid = principal(self.model.bodies[body].inertia)
                point = np.zeros(3) if solid is None else solid.com
            else:
                point = T[:3, :3].T @ (np.asarray(place, float) - T[:3, 3])
            here = T[:3, :3] @ point + T[:3, 3]
            self.pull = Pull(body, point, here if target is None else np.asarray(target, float))
            return self.pull

    def drag(self, target: ArrayLike) -> None:
        """Moves the free end of the spring, given in base coordinates."""
        with self.lock:
            if self.pull is not None:
                self.pull = Pull(self.pull.body, self.pull.point, np.asarray(target, float))

    def release(self) -> None:
        """Takes the spring away."""
        with self.lock:
            self.pull = None

    def spring_ends(self) -> Array | None:
        """(2, 3): the pulled point and the free end, in base coordinates; None if nothing is pulled."""
        with self.lock:
            if self.pull is None:
                return None
            T = poses(self.model, self.q)[self.pull.body + 1]
            return np.array([T[:3, :3] @ self.pull.point + T[:3, 3], self.pull.target])

    def advance(self, duration: float) -> None:
        """Simulates for about `duration` seconds, in whole steps; at rest again if the state is no longer finite.

        While it computes, others may change what acts; a `reset` meanwhile counts, and this does not.
        """
        n, model = max(1, round(duration / STEP)), self.model
        with self.lock:
            epoch, q, v = self.epoch, self.q, self.v
            pull = self.pull or Pull(ROOT, np.zeros(3), np.zeros(3))
            name = None if self.pull is None else model.bodies[pull.body].name
            kp, kd = self.inertia * _HOLD**2 * self.hold, 2 * self.inertia * _HOLD * self.hold
            weight = gravity_force(self.tree, self.reference) if self.hold and self.gravity else np.zeros(model.nv)
            acting: Any = (weight, self.reference, kp, kd, self.inertia * _STOP**2, float(self.gravity))
            spring: Any = (pull.point, pull.target, float(self.stiffness), float(self.damping), STEP)
        for _ in range(n):
            q, v = live_step(model, q, v, *acting, *spring, body=name)
        if model.loops:
            with contextlib.suppress(ValueError, np.linalg.LinAlgError):  # too far apart: the steps bring them together
                q, v = project(model, q, v)
        with self.lock:
            if epoch != self.epoch:
                return
            if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
                self.reset()
                return
            self.q, self.v, self.time = q, v, self.time + n * STEP
            self._remember()

    def _remember(self) -> None:
        kinetic = float(kinetic_energy(self.model, self.q, self.v))
        self.history.append((self.time, self.q.copy(), kinetic, float(potential_energy(self.model, self.q))))
        while self.time - self.history[0][0] > HISTORY:
            self.history.popleft()
