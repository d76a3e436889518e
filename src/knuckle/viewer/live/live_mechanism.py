"""A mechanism that moves by itself while somebody pulls at it."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from knuckle.functions import gravity_force, kinetic_energy, mass_matrix, potential_energy, total_mass
from knuckle.functions.loops.assembly import project
from knuckle.model import ROOT, Model
from knuckle.simulation.controls import forces_of
from knuckle.trajectory.contacts.motion_contacts import MotionContacts
from knuckle.viewer.scene.ellipsoids import principal
from knuckle.viewer.scene.poses import poses
from knuckle.viewer.scene.triangles import Array

from .live_contacts import LastStep, contacts_of_step
from .live_steps import LiveForces, held_by_springs, live_steps, standing
from .soft_live_steps import SoftMemory

STEP = 2e-3
"""Of the integration, in seconds."""
HISTORY = 10.0
"""How much of the past is kept for the plots, in seconds."""
_HOLD, _STOP = 8.0, 60.0
"""Natural frequencies, in rad/s, of the joints on their posture springs and on their stops."""
_STAND = 25.0
"""The same of joints on posture springs that carry a mechanism on a floor, by the inertia of all of it."""
_PULL = 40.0
"""Stiffness of the pulling spring over the mechanism's mass, in 1/s²."""


@dataclass(frozen=True, eq=False)
class Pull:
    """A spring from a body's point (in body coordinates) to a place in base coordinates."""

    body: int
    point: Array
    target: Array


class Moment(NamedTuple):
    """What the plots show of a moment: energies in joules, and the forces of controller, posture and stops."""

    time: float
    q: Array
    kinetic: float
    potential: float
    tau: Array


class Live:
    """The state of a live simulation and what acts on it. Its methods may be called from several threads."""

    def __init__(
        self,
        model: Model,
        q: ArrayLike | None = None,
        *,
        controller: Callable[..., Any] | ArrayLike | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        contacts: bool | None = None,
    ) -> None:
        self.model = model
        self.lock = threading.RLock()
        self.tree = model.without_loops()
        self.steps = live_steps(model, contacts)
        self.controller, _, self.parameters = forces_of(model, controller, None, parameters)
        self.controlled = self.has_controller = controller is not None
        self.start = standing(model) if q is None else np.array(q, float)
        self.gravity = True
        floats = any(joint.type.nv == 6 for joint in model.joints)
        self.hold = floats and not self.has_controller
        self.stiffness = _PULL * max(total_mass(model), 1e-3)
        self.pull: Pull | None = None
        self.epoch = 0
        H = np.asarray(mass_matrix(self.tree, self.start), float)
        self.inertia = np.maximum(np.diag(H), 1e-6)
        self.is_on_floor = floats and self.steps.has_contacts
        held, frequency = (_carried(model, self.inertia), _STAND) if self.is_on_floor else (self.inertia, _HOLD)
        self.posture = held * frequency**2, 2 * held * frequency
        self.is_prepared = False
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
            self.memory = self.steps.start()
            self.last: LastStep | None = None
            self.tau = np.zeros(self.model.nv)
            self.history: deque[Moment] = deque()
            self._remember()

    @property
    def nodes(self) -> Array | None:
        """(n, 3): where the nodes of deformable bodies are; None where there are none."""
        return self.memory.nodes if isinstance(self.memory, SoftMemory) else None

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
            epoch, t, q, v, memory = self.epoch, self.time, self.q, self.v, self.memory
            acting, name = self._acting()
            controlled, weight = self.controlled, self._weight()
        tau, last = weight, None
        for k in range(n):
            tau = weight
            if controlled:
                tau = weight + self.controller(model, t + k * STEP, q, v, self.parameters, (model.nv,))
            before = q, v
            q, v, memory = self.steps.step(q, v, memory, tau, acting, name)
            last = LastStep(*before, v, STEP, self.steps.impulses(memory))
        if model.loops:
            with contextlib.suppress(ValueError, np.linalg.LinAlgError):  # too far apart: the steps bring them together
                q, v = project(model, q, v)
        with self.lock:
            if epoch != self.epoch:
                return
            if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
                self.reset()
                return
            self.q, self.v, self.time, self.memory, self.last = q, v, t + n * STEP, memory, last
            self.tau = tau + held_by_springs(model, q, v, acting)[2]
            self._remember()

    def contacts(self) -> MotionContacts | None:
        """What pushed in the last step, as the contacts of a motion of one row; None where nothing is solved."""
        with self.lock:
            last, solver = self.last, self.steps.solver
        return None if last is None or solver is None else contacts_of_step(self.model, solver, last)

    def prepare(self) -> None:
        """Makes the code of a step, by taking one that does not count."""
        acting, name = self._acting()
        if self.has_controller:
            self.controller(self.model, self.time, self.q, self.v, self.parameters, (self.model.nv,))
        self.steps.step(self.q, self.v, self.memory, np.zeros(self.model.nv), acting, name)
        self.is_prepared = True

    def _acting(self) -> tuple[LiveForces, str | None]:
        """What acts on the mechanism now, and which body is pulled."""
        with self.lock:
            pull = self.pull or Pull(ROOT, np.zeros(3), np.zeros(3))
            kp, kd = (x * self.hold for x in self.posture)
            acting = LiveForces(
                self.reference, kp, kd, self.inertia * _STOP**2, float(self.gravity), pull.point, pull.target,
                float(self.stiffness), float(self.damping), STEP,
            )  # fmt: skip
            return acting, None if self.pull is None else self.model.bodies[pull.body].name

    def _weight(self) -> Array:
        """Joint forces that carry the weight where everything is held, and nothing else carries it."""
        if self.hold and self.gravity and not self.is_on_floor:
            return np.asarray(gravity_force(self.tree, self.reference), float)
        return np.zeros(self.model.nv)

    def _remember(self) -> None:
        kinetic, potential = (
            float(kinetic_energy(self.model, self.q, self.v)),
            float(potential_energy(self.model, self.q)),
        )
        if isinstance(self.memory, SoftMemory):
            kinetic, potential = kinetic + self.memory.kinetic_energy, potential + self.memory.potential_energy
        self.history.append(Moment(self.time, self.q.copy(), kinetic, potential, self.tau))
        while self.time - self.history[0].time > HISTORY:
            self.history.popleft()


def _carried(model: Model, inertia: Array) -> Array:
    """What posture springs on a floor hold at each velocity variable: the inertia of everything at joints, nothing at
    a free base, which stands on the floor."""
    free = [model.v_slices[i] for i, joint in enumerate(model.joints) if joint.type.nv == 6]
    units = [unit for i, joint in enumerate(model.joints) if i not in model.coupled for unit in joint.type.v_units]
    turning = max(inertia[rows][:3].max() for rows in free)
    whole = np.maximum(np.where(np.array(units) == "m", float(total_mass(model)), turning), inertia)
    for rows in free:
        whole[rows] = 0.0
    return whole
