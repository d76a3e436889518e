"""What takes the steps of a live simulation: compiled ones without and with contact, or steps on numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from knuckle.contact.contact_terms import gaps
from knuckle.functions import difference, external_force, jacobian, mass_matrix, neutral, pose
from knuckle.integrators.base import State
from knuckle.integrators.contact_choice import contact_integrator
from knuckle.integrators.methods.collider_steps import ColliderSteps
from knuckle.integrators.methods.contact_impulses import impulse_count
from knuckle.integrators.methods.contact_steps import ContactSteps, per_variable
from knuckle.integrators.system import System
from knuckle.joints import Free
from knuckle.joints.base import is_plain
from knuckle.model import ROOT, Model
from knuckle.viewer.scene.triangles import Array

from .pulled_step import STOP_DAMPING, live_contact_step, live_step


class LiveForces(NamedTuple):
    """What acts during a step: springs that hold a posture, stops, gravity, and the spring that pulls."""

    q_ref: Array
    """The posture that springs hold"""
    kp: Array
    kd: Array
    stop: Array
    """The stiffness of stops"""
    gravity: float
    """How much of the model's gravity there is"""
    point: Array
    """Where the spring is fastened, in body coordinates"""
    target: Array
    """Where its other end is, in base coordinates"""
    stiffness: float
    damping: float
    dt: float


class LiveSteps(Protocol):
    """Steps of one mechanism. The memory is what a step takes from the one before."""

    def start(self) -> Any:
        """The memory before the first step."""
        ...

    def step(
        self, q: Array, v: Array, memory: Any, tau: Array, acting: LiveForces, body: str | None
    ) -> tuple[Array, Array, Any]:
        """(q, v, memory) a step later, under joint forces τ, while a body is pulled, or none."""
        ...

    @property
    def has_contacts(self) -> bool:
        """Whether bodies stop each other."""
        ...

    @property
    def solver(self) -> ContactSteps | ColliderSteps | None:
        """What finds the impulses of contacts; None where there are none."""
        ...

    def impulses(self, memory: Any) -> Array:
        """The impulses of the step that left a memory, as the solver has them."""
        ...


def live_steps(model: Model, contacts: bool | None) -> LiveSteps:
    """The steps that `kn.simulate` would choose: with contacts where something may touch the ground, or where told."""
    if model.deformables:
        from .soft_live_steps import SoftLiveSteps

        return SoftLiveSteps(model)
    chosen = contact_integrator(model, contacts, one_state=True)
    if isinstance(chosen, ContactSteps):
        return ContactLiveSteps(model, chosen)
    if isinstance(chosen, ColliderSteps):
        return ColliderLiveSteps(model, chosen)
    return FreeLiveSteps(model)


@dataclass(frozen=True, eq=False)
class FreeLiveSteps:
    """Compiled steps of a mechanism that nothing touches."""

    model: Model
    has_contacts = False
    solver = None

    def start(self) -> None:
        return None

    def impulses(self, memory: None) -> Array:
        return np.zeros(0)

    def step(
        self, q: Array, v: Array, memory: None, tau: Array, acting: LiveForces, body: str | None
    ) -> tuple[Array, Array, None]:
        q, v = live_step(self.model, q, v, tau, *acting, body=body)  # type: ignore[misc]
        return q, v, None


@dataclass(frozen=True, eq=False)
class ContactLiveSteps:
    """Compiled steps that solve contacts. The memory is the last impulses."""

    model: Model
    steps: ContactSteps
    has_contacts = True

    @property
    def solver(self) -> ContactSteps:
        return self.steps

    def impulses(self, memory: Array) -> Array:
        return memory

    def start(self) -> Array:
        return np.zeros(impulse_count(self.model, self.steps.joint_limits, self.steps.pairs))

    def step(
        self, q: Array, v: Array, memory: Array, tau: Array, acting: LiveForces, body: str | None
    ) -> tuple[Array, Array, Array]:
        f_ext = pull_wrenches(self.model, q, v, acting, body)
        return live_contact_step(self.model, q, v, memory, tau, *acting[:5], f_ext, acting.dt, steps=self.steps)  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class ColliderLiveSteps:
    """Steps on numbers, for shapes and numbers of contacts that compiled steps cannot have.

    Springs at joints are taken at the end of a step, by the inertia that they add, as in `pulled_step`.
    """

    model: Model
    steps: ColliderSteps
    has_contacts = True

    @property
    def solver(self) -> ColliderSteps:
        return self.steps

    def impulses(self, memory: State) -> Array:
        return np.asarray(memory.memory[0])

    def start(self) -> State:
        return self.steps.begin(
            System(self.model, _no_force), 0.0, np.zeros(self.model.nq), np.zeros(self.model.nv), 0.0
        )

    def step(
        self, q: Array, v: Array, memory: State, tau: Array, acting: LiveForces, body: str | None
    ) -> tuple[Array, Array, State]:
        k, c, force = held_by_springs(self.model, q, v, acting)
        model = self.model if acting.gravity else self._weightless
        f_ext = pull_wrenches(self.model, q, v, acting, body)
        system = System(model, lambda *_: tau + force, lambda *_: f_ext)
        stepped = self._with(k, c).step(system, 0.0, State(q, v, memory.memory), acting.dt)
        return np.asarray(stepped.q), np.asarray(stepped.v), stepped

    @cached_property
    def _weightless(self) -> Model:
        return self.model.with_gravity((0.0, 0.0, 0.0))

    def _with(self, k: Array, c: Array) -> ColliderSteps:
        """The steps with springs and dampers at joints besides the model's own."""
        springs, dampers = (np.array(per_variable(self.model, name)) for name in ("stiffness", "damping"))
        return self.steps.with_springs(springs + k, dampers + c)


def held_by_springs(model: Model, q: Array, v: Array, acting: LiveForces) -> tuple[Array, Array, Array]:
    """(k, c, force) of posture and stops at each velocity variable."""
    past, hard = np.zeros_like(v), np.zeros_like(v)
    for i, joint in enumerate(model.joints):
        if i not in model.coupled and is_plain(joint.type):
            rows, x = model.v_slices[i], q[model.q_slices[i]]
            past[rows] = np.minimum(x - joint.limits.lower, 0.0) + np.maximum(x - joint.limits.upper, 0.0)
    hard[past != 0] = acting.stop[past != 0]
    away = np.asarray(difference(model, acting.q_ref, q))
    k, c = acting.kp + hard, acting.kd + STOP_DAMPING * hard
    return k, c, -(acting.kp * away + hard * past) - c * v


def pull_wrenches(model: Model, q: Array, v: Array, acting: LiveForces, body: str | None) -> Array:
    """`f_ext` of the spring that pulls a body, no stiffer than a step can follow with the least mass at its point."""
    if body is None:
        return np.zeros((model.nb, 6))
    T, J = np.asarray(pose(model, q, body)), np.asarray(jacobian(model, q, body, "aligned"))
    arm = T[:3, :3] @ acting.point
    J = J[3:] + np.cross(J[:3].T, arm).T
    lightest = 1 / np.linalg.norm(J @ np.linalg.solve(mass_matrix(model.without_loops(), q), J.T), 2)
    k, c = min(acting.stiffness, lightest / (4 * acting.dt**2)), min(acting.damping, lightest / (2 * acting.dt))
    f = k * (acting.target - T[:3, 3] - arm) - c * (J @ v)
    return np.asarray(external_force(model, q, body, np.concatenate([np.cross(arm, f), f]), "aligned"))


def _no_force(*_: Any) -> Any:
    return None


def standing(model: Model) -> Array:
    """The neutral position, with a free base raised until nothing of it is in the ground."""
    q = np.array(neutral(model), float)
    bases = [i for i, joint in enumerate(model.joints) if joint.parent == ROOT and isinstance(joint.type, Free)]
    size = float(np.linalg.norm(model.gravity))
    steps = live_steps(model, None)
    depth = _depth_of(steps)
    if depth is None or len(bases) != 1 or not size:
        return q
    place = slice(model.q_slices[bases[0]].stop - 3, model.q_slices[bases[0]].stop)
    for _ in range(3):
        if (deep := depth(q)) > 0:
            q[place] -= deep * np.array(model.gravity) / size
    return q


def _depth_of(steps: LiveSteps) -> Callable[[Array], float] | None:
    """How deep a mechanism is in the ground at some position."""
    if isinstance(steps, ContactLiveSteps):
        return lambda q: float(-np.min(gaps(steps.model, q)))
    if isinstance(steps, ColliderLiveSteps):
        return lambda q: float(-np.min(steps.steps.collider.places(q)[:, 0]))
    return None
