"""The memory of contact steps of one mechanism: tables that do not change, and room that grows with what touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.loops.loop_constraints import closure
from knuckle.contact.pair_loops.near_places import FIRST, KIND, PLACE, PLACE_SIZE, SECOND, PairTable
from knuckle.contact.pair_loops.pair_codes import PLACEMENT
from knuckle.contact.shape_collider import ShapeCollider
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.routines import Code, code_of
from knuckle.integrators.base import State
from knuckle.integrators.methods.contact_impulses import rebound_of
from knuckle.model import ROOT, Model
from knuckle.scalar import ZERO, constant
from knuckle.solvers.cones.problem import room_for
from knuckle.spatial import Vector

from .state_terms import StateTerms, coasted
from .step_routine import (
    DONE,
    MORE_CONTACTS,
    MORE_ENTRIES,
    Outcome,
    Rows,
    begin_step,
    end_step,
    many_steps,
    whole_step,
)
from .touching import SURFACE, Mechanism, Terms

Array = NDArray[Any]

CONTACTS = 64
"""Contacts for which there is room at first."""


@dataclass(frozen=True)
class ContactScene:
    """What does not change while a mechanism moves: trees, surfaces, friction of joints, and codes."""

    collider: ShapeCollider
    model: Model
    """at time 0, where it has joints that move by a law of time"""
    table: PairTable
    parts: tuple[tuple[int, ...], ...]
    codes: tuple[Code, ...]
    terms: Code
    coasted: Code
    loops: tuple[int, ...]
    """how many rows each loop has"""

    @classmethod
    def of(cls, collider: ShapeCollider) -> ContactScene:
        """The scene of a collider; texts are compiled now."""
        model = collider.model
        now = model.at_time(0.0) if model.depends_on_time else model
        table, parts = PairTable.of(collider.pairs, collider.counts), trees(model)
        state = {"t": (), "q": (model.nq,), "v": (model.nv,)}
        numbers = ("t", "dt")
        terms = Specialization("contact terms", StateTerms(parts, table.placements), model, numbers=numbers, is_users=True)
        ahead = Specialization("coasted", coasted, model, numbers=numbers, is_users=True)
        return cls(
            collider, now, table, parts, tuple(table.codes()), code_of(terms, {**state, "a": (model.nv,), "dt": ()}),
            code_of(ahead, {**state, "back": (model.nv,), "dt": ()}), _loop_rows(now),
        )  # fmt: skip

    @cached_property
    def has_code(self) -> bool:
        """Whether no pair needs another library."""
        return all(row[KIND] >= 0 for row in self.table.rows)

    @property
    def surfaces(self) -> Array:
        """Friction, restitution, stiffness and damping of each pair."""
        rows: list[list[float]] = []
        for pair in self.collider.pairs:
            e, stiffness, damping = rebound_of(pair.surface)
            numbers = (pair.surface.friction, pair.surface.torsional, pair.surface.rolling)
            rows.append(
                [*map(float, numbers), 0.0 if e is ZERO else float(e), -1.0 if stiffness is None else stiffness, damping]
            )
        return np.array(rows, float).reshape(-1, SURFACE)

    def mechanism(self) -> Mechanism:
        """The tables of bodies, trees and surfaces."""
        model, surfaces = self.model, self.surfaces
        slides, turns, rolls = (bool(column.any()) for column in surfaces[:, :3].T)
        owner, local = np.zeros(model.nv, np.int64), np.zeros(model.nv, np.int64)
        for p, part in enumerate(self.parts):
            owner[list(part)], local[list(part)] = p, np.arange(len(part))
        sizes = np.array([len(part) for part in self.parts], np.int64)
        part = whole([-1, *_part_of_bodies(model, owner)])
        maps = 6 * np.where(part < 0, 0, np.append(sizes, 0)[part])
        rubbing = [
            (model.v_slices[i].start + k, float(f))
            for i, joint in enumerate(model.joints)
            for k, f in enumerate(joint.friction)
            if constant(f) is not ZERO
        ]
        counts = [row[4] for row in self.table.rows]
        return Mechanism(
            bodies=1 + model.nb, nv=model.nv, parent=whole([0, *(1 + joint.parent for joint in model.joints)]),
            at=whole([0, *(s.start for s in model.v_slices)]), size=whole([0, *(s.stop - s.start for s in model.v_slices)]),
            part=part, map_at=np.cumsum(maps) - maps, parts=len(self.parts), part_size=sizes,
            part_at=np.cumsum(sizes) - sizes, block_at=np.cumsum(sizes**2) - sizes**2, local=local, owner=owner,
            surface=surfaces.reshape(-1), pair_of=np.repeat(np.arange(len(counts)), counts).astype(np.int64),
            places=self.table.size, rows=1 + 2 * slides + turns + 2 * rolls, slides=int(slides), turns=int(turns),
            rolls=int(rolls), joints=len(rubbing), joint=whole([i for i, _ in rubbing]),
            friction=np.array([f for _, f in rubbing], float), loops=sum(self.loops),
            loop_part=whole(self._parts_of_loops(owner)), springs=per_variable(model, "stiffness"),
            dampers=per_variable(model, "damping"), held=np.zeros(model.nv),
        )  # fmt: skip

    def _parts_of_loops(self, owner: Array) -> list[int]:
        """The tree of each row of the loops."""
        parts, model = [-1, *_part_of_bodies(self.model, owner)], self.model
        of_loops = [max(parts[1 + loop.predecessor], parts[1 + loop.successor]) for loop in model.loops]
        return [part for part, count in zip(of_loops, self.loops, strict=True) for _ in range(count)]


class StepRoom:
    """The memory of one run of steps: it is not for two threads at once."""

    def __init__(self, scene: ContactScene, rounds: int, tolerance: float) -> None:
        self._scene, model = scene, scene.model
        self.mechanism = m = scene.mechanism()
        sizes = [m.nv, 6 * m.nv, int((m.part_size**2).sum()), m.loops * m.nv, PLACEMENT * len(scene.table.shapes)]
        self._out = np.zeros(sum(sizes))
        free, screws, H, loop_rows, placed = np.split(self._out, np.cumsum(sizes)[:-1])
        self.terms = Terms(
            q=np.zeros(model.nq), v=np.zeros(m.nv), a=np.zeros(m.nv), t=np.zeros(1), dt=np.zeros(1), free=free,
            screws=screws, H=H, loop_rows=loop_rows, V=np.zeros(6 * m.bodies), W=np.zeros(6 * m.bodies),
            maps=np.zeros(6 * sum(int(m.part_size[k]) for k in m.part if k >= 0)), is_mapped=np.zeros(m.bodies, np.int64),
            work=np.zeros(m.nv), force=np.zeros(6),
        )  # fmt: skip
        self.pairs = scene.table.room(list(scene.codes), placed)
        impulses = m.rows * m.places + m.joints + m.loops
        self._new = np.zeros(model.nq + m.nv)
        entries = CONTACTS * m.rows * 12 + 2 * m.rows * m.nv
        self.outcome = Outcome(
            impulses=np.zeros(impulses), velocity=np.zeros(m.nv), back=np.zeros(m.nv), change=np.zeros(m.nv),
            residual=np.zeros(1), near=np.zeros(m.places + 1, np.int64), is_near=np.zeros(m.places, np.int64),
            contacts=CONTACTS, entries=entries, envelope=max(1, m.nv * min(m.nv, 24)),
        )  # fmt: skip
        self._solver = rounds, tolerance
        self._bind()

    def _bind(self) -> None:
        """Room for contacts, and the routines with all of it."""
        m, o = self.mechanism, self.outcome
        discs = bool(m.slides), bool(m.turns), bool(m.rolls)
        self.cones = p = room_for(o.contacts, o.entries, m.nv, o.envelope, discs, *self._solver)
        s, pairs, scene = self.terms, self.pairs, self._scene
        self._begin = begin_step.bind(m, s, pairs, o)
        self._end = end_step.bind(m, s, pairs, p, o)
        self._whole = whole_step.bind(m, s, pairs, p, o, scene.terms, scene.coasted, self._out, self._new)

    def _grow(self, status: int) -> None:
        """Twice as much of what was too little."""
        name = {MORE_CONTACTS: "contacts", MORE_ENTRIES: "entries"}.get(status, "envelope")
        self.outcome = replace(self.outcome, **{name: 2 * getattr(self.outcome, name)})
        self._bind()

    def step(
        self, t: float, q: Array, v: Array, a: Array, impulses: Array, held: Any, dt: float
    ) -> tuple[Array, Array, Array, float]:
        """(q', v', impulses, residual) of a step that begins with the acceleration a; `held` is inertia that holds."""
        s, o, m = self.terms, self.outcome, self.mechanism
        s.t[0], s.dt[0], s.q[:], s.v[:], s.a[:], o.impulses[:], m.held[:] = t, dt, q, v, a, impulses, held
        while (status := self._stepped()) != DONE:
            self._grow(status)
        n = len(s.q)
        return self._new[:n].copy(), self._new[n:].copy(), self.outcome.impulses.copy(), float(self.outcome.residual[0])

    def steps(
        self, acceleration: Code, parameters: Array, times: Array, state: State, dt: float, every: int, much: float
    ) -> Rows:
        """States after every so many steps that begin at `times`, and after the last; all pairs must have code.

        `acceleration` is of t, q, v and parameters; the memory of the state is that of `ColliderSteps`.
        """
        s, o, m, n = self.terms, self.outcome, self.mechanism, len(self.terms.q)
        impulses, worst, unsolved = state.memory
        s.dt[0], s.q[:], s.v[:], o.impulses[:], m.held[:] = dt, state.q, state.v, impulses, 0.0
        count, size = -(-len(times) // every), len(o.impulses)
        rows = Rows(*(np.zeros(count * k) for k in (n, m.nv, size, 1, 1)))
        left, done = np.array([worst, unsolved, DONE], float), 0
        while done < len(times):
            routine = many_steps.bind(
                m, s, self.pairs, self.cones, self.outcome, acceleration, self._scene.terms, self._scene.coasted,
                parameters, self._out, self._new, n, size, times, done, len(times), every, rows, left, much,
            )  # fmt: skip
            done = routine()
            if done < len(times):
                self._grow(int(left[2]))
        return rows

    def _stepped(self) -> int:
        if self._scene.has_code:
            return self._whole()
        scene, s, o = self._scene, self.terms, self.outcome
        self._out[:] = np.ravel(scene.terms.call(s.t, s.q, s.v, s.a, s.dt))
        if self._begin():
            self._look()
        status = self._end()
        if status == DONE:
            self._new[:] = np.ravel(scene.coasted.call(s.t, s.q, o.velocity, o.back, s.dt))
        return status

    def _look(self) -> None:
        """The places of near pairs that another library computes."""
        pairs, placed = self.pairs, self.pairs.placed.reshape(-1, 4, 3)
        places, others = pairs.places.reshape(-1, PLACE_SIZE), iter(self._scene.collider.colliders)
        for k, row in enumerate(self._scene.table.rows):
            if row[KIND] >= 0:
                continue
            collider = next(others)
            if pairs.is_near[k]:
                found = self._scene.collider.places_of(k, collider, placed[row[FIRST]], placed[row[SECOND]])
                places[row[PLACE] : row[PLACE] + len(found)] = found


def trees(model: Model) -> tuple[tuple[int, ...], ...]:
    """The variables of each tree that stands on the base, and of trees that loops join."""
    root = list(range(model.nb))
    for i, joint in enumerate(model.joints):
        root[i] = i if joint.parent == ROOT else root[joint.parent]
    for loop in model.loops:
        ends = [root[i] for i in (loop.predecessor, loop.successor) if i != ROOT]
        if len(ends) == 2:
            root = [ends[0] if x == ends[1] else x for x in root]
    found: dict[int, list[int]] = {}
    for i in range(model.nb):
        found.setdefault(root[i], []).extend(range(model.v_slices[i].start, model.v_slices[i].stop))
    return tuple(tuple(part) for part in found.values() if part)


def _part_of_bodies(model: Model, owner: Array) -> list[int]:
    """The tree of each body; −1 for those that do not move."""
    parts: list[int] = []
    for i, joint in enumerate(model.joints):
        own = model.v_slices[i]
        before = parts[joint.parent] if joint.parent != ROOT else -1
        parts.append(int(owner[own.start]) if own.stop > own.start else before)
    return parts


def _loop_rows(model: Model) -> tuple[int, ...]:
    Q = model.positions(Vector(model.start))
    return tuple(len(closure(model, Q, loop).T) for loop in model.loops)


def per_variable(model: Model, name: str) -> Array:
    """A property of joints for each velocity variable."""
    return np.array([x for joint in model.joints for x in getattr(joint, name)], float)


def whole(numbers: Sequence[int]) -> NDArray[np.int64]:
    return np.array(numbers, np.int64)
