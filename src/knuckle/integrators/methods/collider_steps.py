"""Contact steps on numbers: for shapes and numbers of contacts that compiled steps cannot have.

A compiled step has text for every place at which shapes may touch. Here places are looked for first, and only those
that will touch are solved; a collider may be any. The laws and the solver are those of `contact_steps`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.contact.coasting import lone_body, moved_back, without_impulses
from knuckle.algorithms.contact.cone_problem import ConeProblem
from knuckle.algorithms.contact.contact_rows import UnitImpulse
from knuckle.algorithms.contact.impulse_laws import PUSHES, Bounds, Cone
from knuckle.algorithms.contact.shape_gaps import axes_at
from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.contact.contact_pairs import ContactPair
from knuckle.contact.shape_collider import ShapeCollider
from knuckle.engine.calls.function import kernel
from knuckle.errors import ModelError
from knuckle.functions.dynamics import mass_matrix
from knuckle.functions.loops.loop_terms import jacobian as loop_jacobian
from knuckle.integrators.base import Integrator, State
from knuckle.integrators.system import System
from knuckle.model import ROOT, Model
from knuckle.scalar import ZERO
from knuckle.solvers.cone_newton import solved_on_arrays
from knuckle.spatial import Matrix, Vector

from .contact_impulses import Contact, contacts_at_joints, rebound_of
from .contact_steps import WARNED, per_variable, resolved, smooth

Array = NDArray[Any]

SIZES = (1, 2, 4, 8)
"""Contacts for which code solves them; those that there are fill the next larger number. More are solved on arrays."""
AGAIN = 4
"""How often places are added that impulses on others bring to touch."""
EPSILON = 1e-9
"""A distance, in metres, by which a place may overlap without being solved for."""


@dataclass(frozen=True)
class ColliderSteps(Integrator):
    """`ContactSteps` for one state at a time, with a collider for any shapes, and any number of places.

    `kn.simulate` takes it where compiled steps would be too long, or where shapes have no text. The memory is that of
    contact steps.
    """

    collider: ShapeCollider
    rounds: int = 40
    tolerance: float = 1e-11

    evaluates_forces_once = True
    solves_friction = True
    solves_contacts = True
    takes_numbers = True

    @property
    def order(self) -> int:
        return 1

    @property
    def evaluations(self) -> int:
        return 1

    def start(self, system: System, t: Any, q: Any, v: Any, dt: Any) -> State:
        must_have_one_kind(system.model, self.collider.pairs)
        return State(q, v, (np.zeros(self._scene.rows * len(self._scene.owner) + self._scene.at_joints), 0.0, 0.0))

    @cached_property
    def _scene(self) -> _Scene:
        return _Scene.of(self.collider)

    def with_springs(self, springs: Array, dampers: Array) -> ColliderSteps:
        """These steps with other springs and dampers at the velocity variables, whose forces the system has already."""
        new = replace(self)
        vars(new)["_scene"] = replace(self._scene, springs=springs, dampers=dampers)
        return new

    def step(self, system: System, t: Any, state: State, dt: Any) -> State:
        model, scene, (impulses, worst, unsolved) = system.at_time(t), self._scene, state.memory
        q, v = np.asarray(state.q, float), np.asarray(state.v, float)
        places = self.collider.places(q)
        touching = scene.touching(model, q, places, dt)
        a = np.asarray(smooth(system).acceleration(t, q, v))
        a = a - touching.inverse(touching.added * a + dt * scene.springs * v)
        v, free, turns = map(np.asarray, free_velocity(model, q, v, a, dt))
        rates = touching.normals @ np.stack([free, v], 1)
        near = np.flatnonzero(places[:, 0] + 2 * dt * np.minimum(rates.min(1), 0.0) < EPSILON)
        solution = self._solved(model, scene, touching, places, near, free, v, np.asarray(impulses), dt)
        for _ in range(AGAIN):
            after = places[:, 0] + dt * (touching.normals @ solution.velocity)
            missed = np.setdiff1d(np.flatnonzero(after < np.minimum(places[:, 0], 0.0) - EPSILON), near)
            if not len(missed):
                break
            near = np.union1d(near, missed)
            solution = self._solved(model, scene, touching, places, near, free, v, np.asarray(impulses), dt)
        q, v = coasted(model, q, solution.velocity, turns, solution.back, dt)
        failed = unsolved + (solution.residual > WARNED)
        return State(q, v, (solution.impulses, max(worst, solution.residual), failed))

    def _solved(
        self, model: Model, scene: _Scene, touching: _Touching, places: Array, near: Array, free: Array, v: Array,
        impulses: Array, dt: float,
    ) -> _Solution:  # fmt: skip
        """The velocity after impulses at some places and at joints."""
        m, count = scene.rows, len(near)
        size = next((n for n in (0, *SIZES) if n >= count), count)
        if not count + scene.at_joints:
            return _Solution(free, np.zeros(model.nv), np.zeros_like(impulses), 0.0)
        T = np.concatenate([touching.rows(places, near), scene.joint_rows])
        W = touching.inverse(T.T)
        n, rest = m * size, len(scene.joint_rows)
        A = np.eye(n + rest)
        own = np.r_[: m * count, n : n + rest]
        A[np.ix_(own, own)] = T @ W
        rates, earlier = np.ones(n + rest), np.ones(n + rest)
        rates[own], earlier[own] = T @ free, T @ v
        gap, e, mu, start = np.ones(size), np.zeros(size), np.zeros((size, 3)), np.zeros(n + rest)
        gap[:count], e[:count], mu[:count] = places[near, 0], scene.restitution[near], scene.coefficients[near]
        last = impulses[: len(places) * m].reshape(-1, m)
        start[own] = np.r_[last[near].ravel(), impulses[len(places) * m :]]
        numbers = rates, earlier, gap, e, mu.ravel(), scene.bounds, start
        if size in (0, *SIZES):
            results: Any = solved_places(
                model, A.ravel(), *numbers, dt, shape=scene.shape, rounds=self.rounds, tolerance=self.tolerance
            )
        else:
            lists: list[Any] = [x.tolist() for x in numbers]
            results = _solved_on_arrays(A, lists, dt, scene.shape, self.rounds, self.tolerance)
        found, residual, pushes = map(np.asarray, results)
        new = np.zeros_like(last)
        new[near] = found[: m * count].reshape(-1, m)
        back = W[:, : m * count : m] @ pushes[:count] if count and len(pushes) else np.zeros(model.nv)
        return _Solution(free + W @ found[own], back, np.r_[new.ravel(), found[n:]], float(residual))


@dataclass(frozen=True)
class _Solution:
    """The velocity after a step, the one that takes overlaps back, impulses at all places, and what is left."""

    velocity: Array
    back: Array
    impulses: Array
    residual: float


@dataclass(frozen=True)
class _Shape:
    """What code for contacts is made for: whether they slide, turn and roll with friction, rebound, and are soft."""

    slides: bool
    turns: bool
    rolls: bool
    rebounds: bool
    stiffness: float | None
    damping: float

    @property
    def rows(self) -> int:
        return 1 + 2 * self.slides + self.turns + 2 * self.rolls


@dataclass(frozen=True)
class _Scene:
    """What does not change: which bodies places are on, which variables move them, and their surfaces."""

    owner: tuple[ContactPair, ...]
    shape: _Shape
    moves: Array
    """(places, variables): 1 where a variable moves the first body, −1 where it moves the second"""
    restitution: Array
    coefficients: Array
    joint_rows: Array
    bounds: Array
    springs: Array
    dampers: Array

    @property
    def rows(self) -> int:
        return self.shape.rows

    @property
    def at_joints(self) -> int:
        return len(self.joint_rows)

    @classmethod
    def of(cls, collider: ShapeCollider) -> _Scene:
        """The scene of a collider."""
        model = collider.model
        owner = [p for p, count in zip(collider.pairs, collider.counts, strict=True) for _ in range(count)]
        moved = _moved_by(model)
        moves = np.array([moved[p.first] - moved[p.second] for p in owner]).reshape(len(owner), model.nv)
        surfaces = [p.surface for p in owner]
        coefficients = np.array([[s.friction, s.torsional, s.rolling] for s in surfaces]).reshape(-1, 3)
        rebounds = [rebound_of(s) for s in surfaces]
        e = np.array([0.0 if x[0] is ZERO else float(x[0]) for x in rebounds])
        slides, turns, rolls = (bool(column.any()) for column in coefficients.T)
        stiffness, damping = rebounds[0][1:] if rebounds else (None, 0.0)
        shape = _Shape(slides, turns, rolls, bool(e.any()), stiffness, damping)
        q = model.positions(Vector(model.start))
        joints = list(contacts_at_joints(model, q, 1.0, joint_limits=False))
        variables = [variable for contact in joints for variable in contact.rows[0].variables]
        rows = np.zeros((len(joints), model.nv))
        for k, (i, number) in enumerate(variables):
            rows[k, model.v_slices[i].start + number] = 1.0
        bounds = np.array([float(contact.law.upper) for contact in joints if isinstance(contact.law, Bounds)])
        springs, dampers = (np.array(per_variable(model, name)) for name in ("stiffness", "damping"))
        return cls(tuple(owner), shape, moves, e, coefficients, rows, bounds, springs, dampers)

    def touching(self, model: Model, q: Array, places: Array, dt: float) -> _Touching:
        """What the places need of a state. Springs and dampers are as at the end of a step (`contact_steps.at_end`)."""
        screws = np.asarray(screws_of(model, q))
        H = np.asarray(mass_matrix(model.without_loops() if model.loops else model, q))
        K = np.asarray(loop_jacobian(model, q)) if model.loops else None
        points, normals = places[:, 1:4], places[:, 4:7]
        forces = np.concatenate([np.cross(points, normals), normals], 1)
        added = dt * (self.dampers + dt * self.springs)
        return _Touching(self, screws, H + np.diag(added), K, (forces @ screws.T) * self.moves, added)


@dataclass(frozen=True)
class _Touching:
    """Screws of all variables in base coordinates, inertia, loops, and the normal rows of all places."""

    scene: _Scene
    screws: Array
    H: Array
    K: Array | None
    normals: Array
    added: Array
    """What springs and dampers add to the inertia of each variable"""

    def rows(self, places: Array, near: Array) -> Array:
        """The rows of some places, each after the other."""
        shape, nv, k = self.scene.shape, self.H.shape[0], len(near)
        axes = np.array([axes_at(tuple(n)) for n in places[near, 4:7].tolist()], float).reshape(k, 3, 3)
        forces = np.zeros((k, shape.rows, 6))
        along = 3 if shape.slides else 1
        forces[:, :along, :3] = np.cross(places[near, None, 1:4], axes[:, :along])
        forces[:, :along, 3:] = axes[:, :along]
        forces[:, along:, :3] = axes[:, [*([0] if shape.turns else []), *([1, 2] if shape.rolls else [])]]
        return ((forces @ self.screws.T) * self.scene.moves[near, None]).reshape(-1, nv)

    def inverse(self, F: Array) -> Array:
        """The change of velocity that impulses bring: H⁻¹ F, less what loops hold."""
        W = np.linalg.solve(self.H, F)
        if self.K is None:
            return W
        Y = np.linalg.solve(self.H, self.K.T)
        return W - Y @ (np.linalg.pinv(self.K @ Y, rcond=1e-10, hermitian=True) @ (self.K @ W))


def _moved_by(model: Model) -> dict[int, Array]:
    """1 for each variable that moves a body."""
    moved = {ROOT: np.zeros(model.nv)}
    for i, joint in enumerate(model.joints):
        own = np.zeros(model.nv)
        own[model.v_slices[i]] = 1.0
        moved[i] = moved[joint.parent] + own
    return moved


def must_have_one_kind(model: Model, pairs: tuple[ContactPair, ...]) -> None:
    """An error for what these steps do not know."""
    if model.couplings:
        raise ModelError(f"contacts of {model.name}, which has joints that follow others, are too many to be compiled")
    kinds = {(pair.surface.stiffness, pair.surface.damping) for pair in pairs}
    if len(kinds) > 1:
        raise ModelError(
            f"{model.name} has too many contacts for surfaces of several stiffnesses: give all of them one"
        )


@kernel
def free_velocity(model: Model, q: Any, v: Any, a: Any, dt: Any) -> Any:
    """What `without_impulses` has of a step."""
    old, free, turns = without_impulses(model, model.velocities(q, v), model.velocities(q, a), dt)
    return tuple(Vector(x for u in part for x in u) for part in (old, free, turns))


@kernel
def screws_of(model: Model, q: Any) -> Any:
    """The screw of each velocity variable, in base coordinates."""
    at = model.positions(q)
    X0 = positions(model, at)
    columns = [X0[i].inverse() @ s for i, _, joint in model.outward() for s in joint.subspace(at[i]).columns]
    return Matrix([s.components for s in columns], 6)


@kernel
def coasted(model: Model, q: Any, v: Any, turns: Any, back: Any, dt: Any) -> Any:
    """(q', v'): straight ahead with v, less what `turns` are ahead, and what `back` moves besides."""
    at, new, ahead, apart = (model.positions(q), *(model.velocities(q, x) for x in (v, turns, back)))
    states = [
        moved_back(joint, *joint.coasted(at[i], new[i], dt, body, new[i] - ahead[i]), body, apart[i], dt)
        for i, _, joint in model.outward()
        for body in [lone_body(model, i)]
    ]
    return tuple(Vector(x for state in states for x in state[part]) for part in (0, 1))


@kernel
def solved_places(
    model: Model, A: Any, rates: Any, earlier: Any, gap: Any, e: Any, mu: Any, bounds: Any, impulses: Any, dt: Any, *,
    shape: _Shape, rounds: int, tolerance: float,
) -> Any:  # fmt: skip
    """Impulses, the residual, and pushes that take overlaps back, of contacts that are known by their numbers."""
    n = len(rates)
    rows = [list(A[n * i : n * (i + 1)]) for i in range(n)]
    contacts = _contacts(shape, gap, e, mu, bounds, dt)
    found, residual, _, pushes = resolved(contacts, rows, rates, earlier, list(impulses), dt, rounds, tolerance)
    return Vector(found), residual, Vector(pushes)


def _solved_on_arrays(
    A: Array, numbers: list[Any], dt: float, shape: _Shape, rounds: int, tolerance: float
) -> tuple[list[Any], Any, list[Any]]:
    """The same, of more contacts than there is code for."""
    rates, earlier, gap, e, mu, bounds, impulses = numbers
    contacts, rows = _contacts(shape, gap, e, mu, bounds, dt), A.tolist()

    def solve(problem: ConeProblem, start: list[Any], rounds: int, tolerance: float) -> tuple[list[Any], Any]:
        return solved_on_arrays(np.array(rows), problem, start, rounds, tolerance)

    found, residual, _, pushes = resolved(contacts, rows, rates, earlier, impulses, dt, rounds, tolerance, solve)
    return found, residual, pushes


def _contacts(shape: _Shape, gap: Any, e: Any, mu: Any, bounds: Any, dt: Any) -> list[Contact]:
    """Contacts by their numbers, with rows that stand for themselves."""
    contacts: list[Contact] = []
    for k in range(len(gap)):
        used = zip(mu[3 * k : 3 * k + 3], (shape.slides, shape.turns, shape.rolls), strict=True)
        law = Cone(*(x if is_used else ZERO for x, is_used in used)) if shape.rows > 1 else PUSHES
        rebound = e[k] if shape.rebounds else ZERO
        contacts.append(Contact((NO_ROW,) * shape.rows, law, gap[k], rebound, shape.stiffness, shape.damping))
    return contacts + [Contact((NO_ROW,), Bounds(-f * dt, f * dt)) for f in bounds]


NO_ROW = UnitImpulse({})
"""Stands for a row whose responses are known already."""
