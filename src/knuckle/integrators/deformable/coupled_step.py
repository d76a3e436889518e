"""One step of joints and nodes together: equations, Newton's method, conjugate gradients (notes 1.30, 2.75, 2.88)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.elements.deformables.soft_bodies import SoftBodies
from knuckle.errors import ConvergenceError
from knuckle.integrators.base import State
from knuckle.integrators.system import System
from knuckle.solvers.block_matrix import multiply
from knuckle.solvers.coupled_gradients import BENT, Carriers, CoupledRoom, Touching, reach, solve

from .node_contacts import NodeContacts, UnsettledError
from .resisting_terms import ResistingTerms
from .touched_shapes import touched

Array: TypeAlias = NDArray[Any]

HALVINGS = 6
"""How often a step of Newton's is halved at most, where it leads away."""

PARTS = 16
"""Into how many parts a step is divided at most where contacts do not settle."""

FINER = 0.1
"""How much better equations are solved where nodes touch: modes depend on the solution."""

INEXACT = 0.1
"""How much better than `enough` the equations of Newton's further steps are solved."""


@dataclass(frozen=True)
class Effort:
    """How well the equations of a step are solved; see `DeformableSteps`."""

    iterations: int
    enough: float
    tolerance: float
    most: int


@dataclass(frozen=True, eq=False)
class Beginning:
    """What a step begins with."""

    t: float
    q: Array
    v: Array
    x: Array
    """(n, 3)"""
    u: Array
    dt: float
    R: Array
    """H + h D + h² K of the joints"""
    rest: Array
    """h (τ − C − h K v) of the joints"""
    pushed: Array
    """(n, 3): impulses of weight on nodes, and of the turning of what carries them"""


class CoupledStep:
    """Steps of one mechanism under its forces, with the memory that they need."""

    def __init__(self, system: System, bodies: SoftBodies, *, contacts: bool) -> None:
        self.system, self.bodies = system, bodies
        shapes, moving = touched(bodies) if contacts and bodies.is_free.any() else ([], ())
        self._contacts = NodeContacts(bodies, shapes, moving) if shapes else None
        self._nothing = Touching.nothing(system.model.nv)
        n, nv = bodies.count, system.model.nv
        self._terms = ResistingTerms(system, bodies.rigid)
        self._gravity = np.array(bodies.model.gravity, float)
        self._free = bodies.is_free == 1
        self._mass = np.repeat(bodies.masses, 3)
        self._drag = np.repeat(bodies.masses * bodies.drag, 3)
        count = len(bodies.carried)
        self._carriers = Carriers(
            nv, count, bodies.carried, np.zeros(max(1, 3 * count * nv)), np.zeros(max(1, nv * nv))
        )
        b, x, r, z, p, y = (np.zeros(nv + 3 * n) for _ in range(6))
        u, w, L = np.zeros(3 * n), np.zeros(3 * n), np.zeros(max(1, nv * nv))
        self._room = CoupledRoom(nv + 3 * n, b, x, r, z, p, y, u, w, L)

    def __call__(self, t: float, state: State, dt: float, effort: Effort, parts: int = 1) -> State:
        """The state a step later; in two halves, where contacts do not settle otherwise."""
        try:
            return self._step(t, state, dt, effort)
        except UnsettledError:
            if parts >= PARTS:
                raise
        half = self(t, state, dt / 2, effort, 2 * parts)
        return self(t + dt / 2, half, dt / 2, effort, 2 * parts)

    def _step(self, t: float, state: State, dt: float, effort: Effort) -> State:
        at, bodies, nv = self._begin(t, state, dt), self.bodies, self.system.model.nv
        change = self._linear(at, effort)
        if effort.iterations > 1:
            change = self._newton(at, change, effort)
        v, u = at.v + change[:nv], at.u + change[nv:].reshape(-1, 3)
        q = np.asarray(self.system.moved(at.q, dt * v))
        x, u = bodies.placed(at.x + dt * u, u, t + dt, q, v)
        if not (np.isfinite(x).all() and np.isfinite(u).all()):
            raise ConvergenceError("the nodes of deformable bodies are no longer at finite places")
        return State(q, v, (x.reshape(-1), u.reshape(-1)))

    def _begin(self, t: float, state: State, dt: float) -> Beginning:
        bodies = self.bodies
        q, v = np.asarray(state.q, float), np.asarray(state.v, float)
        x, u = (np.array(part, float).reshape(-1, 3) for part in state.memory)
        R, rest = self._terms(t, q, v, dt)
        there = bodies.carriers(t, q, v)
        x[bodies.carried], u[bodies.carried] = there.x, there.u
        self._carriers.J[: there.J.size] = there.J.reshape(-1)
        self._carriers.R[: R.size] = R.reshape(-1)
        pushed = dt * bodies.masses[:, None] * self._gravity
        pushed[bodies.carried] -= dt * bodies.masses[bodies.carried, None] * there.bias
        if self._contacts is not None:
            self._contacts.begin(t, q, v, x, u, pushed, dt)
        return Beginning(t, q, v, x, u, dt, R, rest, pushed)

    def _linear(self, at: Beginning, effort: Effort) -> Array:
        """The change of velocities by linearly implicit Euler: Newton's first step, from nodes at rest where they are.

        (M (1 + h α) + h D + h² K) Δu = h (f + M g) − (h α M + h D + h² K) u.
        """
        x, u, nothing = at.x.reshape(-1), at.u.reshape(-1), np.zeros(at.x.size)
        force = self.bodies.assemble(x, nothing, at.dt, positive=False)
        held = np.zeros_like(u)
        multiply(self.bodies.matrix, u, held)
        right = at.dt * force + at.pushed.reshape(-1) - held + self._mass * u
        self._set(at.rest, right)
        taken = self._solved(at.u, np.zeros_like(at.v), effort)
        if taken == BENT:
            self.bodies.assemble(x, nothing, at.dt, positive=True)
            self._set(at.rest, right)
            taken = self._solved(at.u, np.zeros_like(at.v), effort)
        if taken == BENT:
            raise ConvergenceError("the equations of deformable bodies have no positive matrix")
        if taken > effort.most:
            raise ConvergenceError(
                f"the equations of deformable bodies took more than {effort.most} iterations: take smaller steps, "
                "or a larger `most` of DeformableSteps"
            )
        return self._room.x.copy()

    def _newton(self, at: Beginning, change: Array, effort: Effort) -> Array:
        """The change of velocities of backward Euler, improved until enough of its equations is solved."""
        enough = effort.enough**2 * self._size(at)
        size = self._residual(at, change)
        if size > enough:
            change = self._shortened(at, change, size)
            size = self._residual(at, change)
        for k in range(effort.iterations - 1):
            size = self._residual(at, change) if k else size
            if size <= enough:
                break
            more = self._improved(at, change, size, effort)
            change = change + more
            if np.linalg.norm(more) <= effort.tolerance * np.linalg.norm(change):
                break
        return change

    def _shortened(self, at: Beginning, change: Array, size: float) -> Array:
        """As much of the first step as leaves no more of the equations than no change at all does."""
        nothing = self._residual(at, 0 * change)
        for _ in range(HALVINGS):
            if size <= nothing:
                return change
            change = change / 2
            size = self._residual(at, change)
        return 0 * change

    def _improved(self, at: Beginning, change: Array, size: float, effort: Effort) -> Array:
        """One more step of Newton's for what is left in b, as much of it as leads nearer."""
        here, moving = self._moved(at, change)
        right = self._room.b - self._touching
        for positive in (False, True):
            self.bodies.assemble(here, moving, at.dt, positive=positive)
            self._room.b[:] = right
            taken = self._solved(moving.reshape(-1, 3), change[: len(at.v)], effort, INEXACT * effort.enough)
            if 0 <= taken <= effort.most:
                break
        else:
            return np.zeros_like(change)
        more, part = self._room.x.copy(), 1.0
        if self._contacts is not None:  # what was left, but with the impulses of this solution
            size = max(size, self._residual(at, change))
        for _ in range(HALVINGS):
            if self._residual(at, change + part * more) <= size:
                return part * more
            part /= 2
        return np.zeros_like(change)

    def _moved(self, at: Beginning, change: Array) -> tuple[Array, Array]:
        """Nodes at the end of a step with a change of velocities, and their velocities."""
        nv, bodies = len(at.v), self.bodies
        moving, v = at.u + change[nv:].reshape(-1, 3), at.v + change[:nv]
        here = at.x + at.dt * moving
        q = np.asarray(self.system.moved(at.q, at.dt * v))
        here[bodies.carried] = bodies.carriers(at.t + at.dt, q, v).x
        moving[bodies.carried] = at.u[bodies.carried] + (self._jacobian @ change[:nv]).reshape(-1, 3)
        return here.reshape(-1), moving.reshape(-1)

    def _residual(self, at: Beginning, change: Array) -> float:
        """What is left of the equations of backward Euler, into b; its size."""
        here, moving = self._moved(at, change)
        force = self.bodies.forces(here, moving).reshape(-1) - self._drag * moving
        left = at.dt * force + at.pushed.reshape(-1) - self._mass * (moving - at.u.reshape(-1))
        self._set(at.rest - at.R @ change[: len(at.v)], left)
        self._room.b[:] += self._touching
        return self._size(at)

    @property
    def _touching(self) -> Array:
        """Impulses of contacts on joints and on free nodes, as the last solution has them, in b's order."""
        if self._contacts is None:
            return np.zeros(self._room.size)
        joints, nodes = self._contacts.impulses
        return np.concatenate([joints, nodes.reshape(-1)])

    def _size(self, at: Beginning) -> float:
        """The size of b, by the inertia of joints and free nodes: twice an energy."""
        nv, b = len(at.v), self._room.b
        nodes = b[nv:].reshape(-1, 3)[self._free]
        joints = b[:nv] @ np.linalg.solve(at.R, b[:nv]) if nv else 0.0
        return float((nodes * nodes / self.bodies.masses[self._free, None]).sum() + joints)

    def _set(self, rest: Array, right: Array) -> None:
        """b: what joints feel, of their own impulses and of those on attached nodes; what free nodes feel."""
        nv, carried = len(rest), self.bodies.carried
        self._room.b[:nv] = rest + self._jacobian.T @ right.reshape(-1, 3)[carried].reshape(-1)
        self._room.b[nv:] = right

    def _solved(self, u: Array, change: Array, effort: Effort, rough: float = 0.0) -> int:
        """Solves for b and contacts of nodes that move with u, no better than to the part `rough` of it.

        `change` is that of the joints' velocities so far. How many iterations the last solution took.
        """
        if self._contacts is None:
            return self._conjugate(self._nothing, effort.tolerance, rough, effort.most)
        contacts, nv, right = self._contacts, self._carriers.nv, self._room.b.copy()
        size = float(reach(self.bodies.matrix, self.bodies.factor, self._carriers, self._nothing, self._room))
        if size < 0:
            return BENT
        self._room.x[:] = 0.0

        def solution(joints: Array, nodes: Array) -> tuple[int, Array, Array]:
            self._room.b[:nv], self._room.b[nv:] = joints, nodes.reshape(-1)
            finer = FINER * effort.tolerance, FINER * rough
            taken = self._conjugate(contacts.touching, *finer, effort.most, size)
            return taken, self._room.x[:nv], self._room.x[nv:].reshape(-1, 3)

        taken = contacts.solved(u, change, (right[:nv], right[nv:].reshape(-1, 3)), solution)
        self._room.b[:] = right
        return taken

    def _conjugate(self, touching: Touching, tolerance: float, rough: float, most: int, size: float = -1.0) -> int:
        """Solves for b; from the last solution, where a size is given. How many iterations that took."""
        limits = float(max(tolerance, rough)), int(most), size
        return solve(self.bodies.matrix, self.bodies.factor, self._carriers, touching, self._room, *limits)

    @property
    def _jacobian(self) -> Array:
        """(3 carried nodes, nv)."""
        count, nv = len(self.bodies.carried), self._carriers.nv
        return self._carriers.J[: 3 * count * nv].reshape(3 * count, nv)
