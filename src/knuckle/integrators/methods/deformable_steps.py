"""Steps of mechanisms with deformable bodies: joints and nodes in one implicit system (notes 1.30, 2.75, 2.88)."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.elements.deformables.soft_bodies import SoftBodies
from knuckle.errors import ConvergenceError, ModelError
from knuckle.integrators.base import DenseOutput, Integrator, State
from knuckle.integrators.dense_output import linear
from knuckle.integrators.resisting_terms import ResistingTerms
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.scalar import ZERO, constant
from knuckle.solvers.block_matrix import multiply
from knuckle.solvers.coupled_gradients import BENT, Carriers, GradientRoom, solve

Array: TypeAlias = NDArray[Any]

HALVINGS = 6
"""How often a step of Newton's is halved at most, where it leads away."""


@dataclass(frozen=True)
class DeformableSteps(Integrator):
    """Linearly implicit Euler of joints and nodes together; with more iterations, nodes take backward Euler steps.

    (Tᵀ A T + R) Δ = b of the changes of v and of the velocities of free nodes, with A = M (1 + h α) + h D + h² K of all
    nodes, R = H + h D + h² K of the joints, and T, which has the Jacobians of attached nodes (notes 2.85). It is solved
    by conjugate gradients. Where it is not positive, the stiffness of cells is made so.

    The memory is the positions and velocities of nodes, in base coordinates, in a row each.

    Args:
        iterations: of Newton's method at most: 1 is linearly implicit.
        tolerance: what is left of the right side, and of the last change, as a part.
        most: iterations of the conjugate gradients at most.
    """

    iterations: int = 1
    tolerance: float = 1e-6
    most: int = 20_000

    evaluates_forces_once = True
    takes_numbers = True
    solves_deformables = True

    def __post_init__(self) -> None:
        for name in ("iterations", "most"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name} is a whole number from 1 on, not {value!r}")
        if not (isinstance(self.tolerance, (int, float)) and 0 < self.tolerance < 1):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"tolerance is a number between 0 and 1, not {self.tolerance!r}")

    @property
    def order(self) -> int:
        return 1

    def start(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        x, u = self.bodies(system.model).start(q, v, t)
        return State(q, v, (x.reshape(-1), u.reshape(-1)))

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        return self._run(system).step(system, float(t), state, float(dt), self)

    def carried(self, system: System, t0: Any, old: State, t: Any, new: State) -> State:
        """The nodes go on from where a part of the step has them; those that bodies carry are where the bodies are."""
        if not old.memory:
            return new
        there = old if t <= t0 else self.step(system, t0, old, t - t0)
        x, u = (part.reshape(-1, 3) for part in there.memory)
        x, u = self.bodies(system.model).placed(x, u, float(t), np.asarray(new.q), np.asarray(new.v))
        return State(new.q, new.v, (x.reshape(-1), u.reshape(-1)))

    def dense(self, system: System, t: Any, old: State, new: State, dt: Any) -> DenseOutput:
        return linear(system, old, new)

    def bodies(self, model: Model) -> SoftBodies:
        """The deformable bodies of a mechanism, with memory of this thread."""
        last = self._local.__dict__.get("bodies")
        if last is None or last.model is not model:
            must_be_known(model)
            last = self._local.bodies = SoftBodies(model)
        return last

    def _run(self, system: System) -> _SoftRun:
        last = self._local.__dict__.get("run")
        if last is None or last.system is not system:
            last = self._local.run = _SoftRun(system, self.bodies(system.model))
        return last

    @cached_property
    def _local(self) -> threading.local:
        """What threads do not share."""
        return threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("iterations", "tolerance", "most")}


class _SoftRun:
    """Steps of one mechanism under its forces, with the memory that they need."""

    def __init__(self, system: System, bodies: SoftBodies) -> None:
        self.system, self.bodies = system, bodies
        n, nv = bodies.count, system.model.nv
        self.terms = ResistingTerms(system, bodies.rigid)
        self.gravity = np.array(bodies.model.gravity, float)
        self.carriers = Carriers(
            nv, len(bodies.carried), bodies.carried, np.zeros(max(1, 3 * len(bodies.carried) * nv)),
            np.zeros(max(1, nv * nv)),
        )  # fmt: skip
        size = nv + 3 * n
        self.room = GradientRoom(
            size, *(np.zeros(size) for _ in range(6)), np.zeros(3 * n), np.zeros(3 * n),
            np.zeros(max(1, nv * nv)),
        )  # fmt: skip

    def step(self, system: System, t: float, state: State, dt: float, settings: DeformableSteps) -> State:
        bodies, nv = self.bodies, system.model.nv
        q, v = np.asarray(state.q, float), np.asarray(state.v, float)
        x, u = (np.array(part, float).reshape(-1, 3) for part in state.memory)
        R, rest = self.terms(t, q, v, dt)
        there = bodies.carriers(t, q, v)
        x[bodies.carried], u[bodies.carried] = there.x, there.u
        self.carriers.J[: there.J.size] = there.J.reshape(-1)
        self.carriers.R[: nv * nv] = R.reshape(-1)
        pushed = dt * bodies.masses[:, None] * self.gravity
        pushed[bodies.carried] -= dt * bodies.masses[bodies.carried, None] * there.bias

        # Newton's first step, from nodes at rest where they are: linearly implicit Euler
        force = bodies.assemble(x.reshape(-1), np.zeros(x.size), dt, positive=False)
        inertia = np.repeat(bodies.masses, 3)
        right = dt * force + pushed.reshape(-1) - (self._times(u.reshape(-1)) - inertia * u.reshape(-1))
        change = self._solved(rest, right, x, dt, settings)
        for _ in range(settings.iterations - 1):
            more = self._improved(t, q, v, x, u, change, R, rest, pushed, dt, settings)
            change = change + more
            if np.linalg.norm(more) <= settings.tolerance * np.linalg.norm(change):
                break
        v = v + change[:nv]
        u = u + change[nv:].reshape(-1, 3)
        x = x + dt * u
        q = np.asarray(system.moved(q, dt * v))
        if not np.isfinite(x).all():
            raise ConvergenceError("the nodes of deformable bodies are no longer at finite places")
        x, u = bodies.placed(x, u, t + dt, q, v)
        return State(q, v, (x.reshape(-1), u.reshape(-1)))

    def _times(self, u: Array) -> Array:
        y = np.zeros_like(u)
        multiply(self.bodies.matrix, u, y)
        return y

    def _solved(self, rest: Array, right: Array, x: Array, dt: float, settings: DeformableSteps) -> Array:
        """The change of velocities under impulses on joints and on all nodes."""
        self._set(rest, right)
        taken = self._conjugate(settings)
        if taken == BENT:
            self.bodies.assemble(x.reshape(-1), np.zeros(x.size), dt, positive=True)
            taken = self._conjugate(settings)
        if taken == BENT:
            raise ConvergenceError("the equations of deformable bodies have no positive matrix")
        if taken > settings.most:
            raise ConvergenceError(
                f"the equations of deformable bodies took more than {settings.most} iterations: take smaller steps, "
                "or a larger `most` of DeformableSteps"
            )
        return self.room.x.copy()

    def _conjugate(self, settings: DeformableSteps) -> int:
        limits = float(settings.tolerance), int(settings.most)
        return solve(self.bodies.matrix, self.bodies.factor, self.carriers, self.room, *limits)

    def _set(self, rest: Array, right: Array) -> None:
        """b: what joints feel, of their own forces and of those on attached nodes; what free nodes feel."""
        nv, c = len(rest), self.bodies.carried
        f = right.reshape(-1, 3)
        J = self.carriers.J[: 3 * len(c) * nv].reshape(3 * len(c), nv)
        self.room.b[:nv] = rest + J.T @ f[c].reshape(-1)
        self.room.b[nv:] = right

    def _improved(
        self, t: float, q: Array, v: Array, x: Array, u: Array, change: Array, R: Array, rest: Array, pushed: Array,
        dt: float, settings: DeformableSteps,
    ) -> Array:  # fmt: skip
        """One more step of Newton's, as much of it as leads nearer."""
        size = self._residual(t, q, v, x, u, change, R, rest, pushed, dt)
        here, moving = self._moved(t, q, v, x, u, change, dt)
        right = self.room.b.copy()
        self.bodies.assemble(here, moving, dt, positive=False)
        self.room.b[:] = right
        taken = self._conjugate(settings)
        if taken == BENT:
            self.bodies.assemble(here, moving, dt, positive=True)
            taken = self._conjugate(settings)
        if taken == BENT or taken > settings.most:
            return np.zeros_like(change)
        more, part = self.room.x.copy(), 1.0
        for _ in range(HALVINGS):
            if self._residual(t, q, v, x, u, change + part * more, R, rest, pushed, dt) <= size:
                return part * more
            part /= 2
        return np.zeros_like(change)

    def _moved(self, t: float, q: Array, v: Array, x: Array, u: Array, change: Array, dt: float) -> tuple[Array, Array]:
        """Nodes at the end of a step with a change of velocities, and their velocities."""
        nv, bodies = len(v), self.bodies
        moving = u + change[nv:].reshape(-1, 3)
        here = x + dt * moving
        faster = v + change[:nv]
        J = self.carriers.J[: 3 * len(bodies.carried) * nv].reshape(len(bodies.carried), 3, nv)
        here[bodies.carried] = bodies.carriers(t + dt, np.asarray(self.system.moved(q, dt * faster)), faster).x
        moving[bodies.carried] = u[bodies.carried] + J @ change[:nv]
        return here.reshape(-1), moving.reshape(-1)

    def _residual(
        self, t: float, q: Array, v: Array, x: Array, u: Array, change: Array, R: Array, rest: Array, pushed: Array,
        dt: float,
    ) -> float:  # fmt: skip
        """What is left of the equations of backward Euler, into b; its size, in the norm of inertia."""
        bodies, nv = self.bodies, len(v)
        here, moving = self._moved(t, q, v, x, u, change, dt)
        mass = np.repeat(bodies.masses, 3)
        slowed = dt * np.repeat(bodies.drag, 3) * mass * moving
        right = (
            dt * bodies.forces(here, moving).reshape(-1) + pushed.reshape(-1) - slowed - mass * (moving - u.reshape(-1))
        )
        self._set(rest - R @ change[:nv], right)
        b = self.room.b
        left = b[nv:].reshape(-1, 3)[bodies.is_free == 1]
        free = bodies.masses[bodies.is_free == 1, None]
        joints = b[:nv] @ np.linalg.solve(R, b[:nv]) if nv else 0.0
        return float((left * left / free).sum() + joints)


def must_know_deformables(model: Model, integrator: Integrator) -> None:
    """An error where a mechanism has deformable bodies and an integrator does not know them."""
    if model.deformables and not integrator.solves_deformables:
        names = ", ".join(repr(soft.name) for soft in model.deformables[:3])
        raise ModelError(
            f"{type(integrator).__name__} knows no deformable bodies, and {model.name} has {names}: kn.simulate "
            "without integrator= takes steps that do; model.without_deformables() has none"
        )


def must_be_known(model: Model) -> None:
    """An error for what steps with deformable bodies do not know."""
    what = "steps with deformable bodies"
    if model.loops:
        raise ModelError(f"{what} know no closed loops, and {model.name} has some: model.without_loops()")
    if any(constant(f) is not ZERO for joint in model.joints for f in joint.friction):
        raise ModelError(f"{what} know no dry friction at joints, and {model.name} has some: model.without_friction()")
