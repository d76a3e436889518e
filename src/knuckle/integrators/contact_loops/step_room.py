"""The memory of contact steps of one mechanism: tables that do not change, and room that grows with what touches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.algorithms.loops.loop_constraints import closure
from knuckle.contact.pair_loops.near_places import FIRST, KIND, PLACE, PLACE_SIZE, SECOND, PairTable
from knuckle.contact.pair_loops.pair_codes import PLACEMENT
from knuckle.contact.shape_collider import ShapeCollider
from knuckle.engine.kernels.specialization import Specialization
from knuckle.engine.routines import BoundRoutine, Code, Routine, code_of
from knuckle.integrators.base import State
from knuckle.integrators.methods.contact_impulses import rebound_of
from knuckle.model import ROOT, Model
from knuckle.scalar import ZERO, constant
from knuckle.solvers.cones.problem import room_for
from knuckle.spatial import Vector

from .step_records import Mechanism, StateTerms
from .step_routine import (
    DONE,
    MORE_CONTACTS,
    MORE_ENTRIES,
    Outcome,
    StepRows,
    begin_step,
    end_step,
    many_steps,
    whole_step,
)
from .touching import SURFACE
from .trees import Tree, TreeTerms, coasted, trees

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
    trees: tuple[Tree, ...]
    shapes: tuple[tuple[int, ...], ...]
    """the shapes of each tree, by their numbers in the table"""
    loops: tuple[int, ...]
    """how many rows the loops of each tree have"""
    pair_codes: tuple[Code, ...]
    kinds: tuple[int, ...]
    terms: tuple[Code, ...]
    ahead: tuple[Code, ...]
    """codes of each kind of tree"""
    springs: Array
    dampers: Array
    """of each velocity variable"""

    @classmethod
    def of(cls, collider: ShapeCollider) -> ContactScene:
        """The scene of a collider; texts are compiled now."""
        model = collider.model
        table, parts = PairTable.of(collider.pairs, collider.counts), tuple(trees(model))
        shapes = tuple(tuple(k for k, (i, _) in enumerate(table.shapes) if i in tree.bodies) for tree in parts)
        kinds: dict[tuple[Model, TreeTerms], int] = {}
        for tree, own in zip(parts, shapes, strict=True):
            kinds.setdefault((tree.model, _text(tree, own, table)), len(kinds))
        now = model.at_time(0.0) if model.depends_on_time else model
        return cls(
            collider, now, table, parts, shapes, tuple(map(_loop_rows, parts)), tuple(table.codes()),
            tuple(kinds[tree.model, _text(tree, own, table)] for tree, own in zip(parts, shapes, strict=True)),
            tuple(_code("contact terms", text, tree, "a") for tree, text in kinds),
            tuple(_code("coasted", coasted, tree, "turns", "back") for tree, _ in kinds),
            per_variable(now, "stiffness"), per_variable(now, "damping"),
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
            friction = (float(x) for x in (pair.surface.friction, pair.surface.torsional, pair.surface.rolling))
            rows.append([*friction, 0.0 if e is ZERO else float(e), -1.0 if stiffness is None else stiffness, damping])
        return np.array(rows, float).reshape(-1, SURFACE)

    def mechanism(self) -> Mechanism:
        """The tables of bodies, trees and surfaces."""
        model, surfaces, parts = self.model, self.surfaces, self.trees
        slides, turns, rolls = (bool(column.any()) for column in surfaces[:, :3].T)
        sizes = whole(tree.model.nv for tree in parts)
        part = np.full(1 + model.nb, -1, np.int64)
        for p, tree in enumerate(parts):
            part[[1 + i for i in tree.bodies]] = p
        maps = 6 * np.where(part < 0, 0, np.append(sizes, 0)[part])
        rubbing = [
            (model.v_slices[i].start + k, int(part[1 + i]), float(f))
            for i, joint in enumerate(model.joints)
            for k, f in enumerate(joint.friction)
            if constant(f) is not ZERO
        ]
        counts = [row[4] for row in self.table.rows]
        loops = np.array(self.loops, np.int64)
        loop_at = starts(loops * sizes)
        loop_rows = [(p, int(loop_at[p] + k * sizes[p])) for p in range(len(parts)) for k in range(self.loops[p])]
        return Mechanism(
            bodies=1 + model.nb, nv=model.nv, parent=whole([0, *(1 + joint.parent for joint in model.joints)]),
            at=whole([0, *(s.start for s in model.v_slices)]),
            size=whole([0, *(s.stop - s.start for s in model.v_slices)]),
            part=part, map_at=starts(maps), parts=len(parts), part_size=sizes, part_at=starts(sizes),
            block_at=starts(sizes**2), q_at=whole(tree.q_at for tree in parts),
            q_size=whole(tree.model.nq for tree in parts), v_at=whole(tree.v_at for tree in parts),
            kind=whole(self.kinds), first_member=whole([0, *accumulate(len(tree.bodies) for tree in parts)]),
            member=whole(1 + i for tree in parts for i in tree.bodies),
            first_shape=whole([0, *accumulate(map(len, self.shapes))]),
            shape=whole(k for own in self.shapes for k in own),
            loop_rows=loops, loop_at=loop_at, surface=surfaces.reshape(-1),
            pair_of=np.repeat(np.arange(len(counts)), counts).astype(np.int64),
            places=self.table.size, rows=1 + 2 * slides + turns + 2 * rolls, slides=int(slides), turns=int(turns),
            rolls=int(rolls), joints=len(rubbing), joint=whole(i for i, _, _ in rubbing),
            friction=np.array([f for _, _, f in rubbing], float), loops=len(loop_rows),
            loop_part=whole(p for p, _ in loop_rows), loop_row=whole(at for _, at in loop_rows),
            joint_part=whole(p for _, p, _ in rubbing), springs=self.springs, dampers=self.dampers,
            held=np.zeros(model.nv), **self._paths(part),
        )  # fmt: skip

    def _paths(self, part: Array) -> dict[str, Array]:
        """λ of variables, and the last variable of each body, counted in trees; `part` has the tree of each body."""
        above, last = np.full(self.model.nv, -1, np.int64), np.full(1 + self.model.nb, -1, np.int64)
        for i, joint in enumerate(self.model.joints):
            own, before = self.model.v_slices[i], last[1 + joint.parent]
            for k in range(own.start, own.stop):
                above[k], before = before, k - self.trees[part[1 + i]].v_at
            last[1 + i] = before
        return {"above": above, "last": last}

    def placed(self) -> Array:
        """The placements of shapes: those on the base and on what is fixed to it stay so; others are on their body."""
        moving = {i for tree in self.trees for i in tree.bodies}
        still = {i for i, _ in self.table.placements} - moving - {ROOT}
        X0: Any = positions(self.model, self.model.positions(Vector(self.model.start))) if still else {}
        here = [X @ X0[i] if i in still else X for i, X in self.table.placements]
        return np.array([[*X.E[0], *X.E[1], *X.E[2], *X.r] for X in here], float).reshape(-1)

    def terms_size(self) -> int:
        """Numbers that the terms of a tree, or its motion, have at most."""
        return max(
            (
                8 * tree.model.nv + tree.model.nv**2 + rows * tree.model.nv + 12 * len(tree.bodies)
                + PLACEMENT * len(own) + tree.model.nq
                for tree, own, rows in zip(self.trees, self.shapes, self.loops, strict=True)
            ),
            default=1,
        )  # fmt: skip


class StepRoom:
    """The memory of one run of steps: it is not for two threads at once."""

    def __init__(self, scene: ContactScene, rounds: int, tolerance: float) -> None:
        self.scene, model = scene, scene.model
        self.mechanism = m = scene.mechanism()
        self.terms = StateTerms(
            q=np.zeros(model.nq), v=np.zeros(m.nv), a=np.zeros(m.nv), t=np.zeros(1), dt=np.zeros(1),
            free=np.zeros(m.nv), turns=np.zeros(m.nv), screws=np.zeros(6 * m.nv),
            H=np.zeros(int((m.part_size**2).sum())),
            K=np.zeros(int((m.loop_rows * m.part_size).sum())), V=np.zeros(6 * m.bodies), W=np.zeros(6 * m.bodies),
            U=np.zeros(6 * m.bodies), changes=np.zeros(6 * m.bodies),
            maps=np.zeros(6 * sum(int(m.part_size[k]) for k in m.part if k >= 0)),
            is_mapped=np.zeros(m.bodies, np.int64), out=np.zeros(scene.terms_size()), work=np.zeros(m.nv),
            force=np.zeros(6),
        )  # fmt: skip
        self.pairs = scene.table.room(list(scene.pair_codes), scene.placed())
        impulses = m.rows * m.places + m.joints + m.loops
        entries = CONTACTS * m.rows * 12 + 2 * m.rows * m.nv
        self.outcome = Outcome(
            q=np.zeros(model.nq), v=np.zeros(m.nv), impulses=np.zeros(impulses), velocity=np.zeros(m.nv),
            back=np.zeros(m.nv), change=np.zeros(m.nv), difference=np.zeros(m.nv),
            residual=np.zeros(1), near=np.zeros(m.places + 1, np.int64), is_near=np.zeros(m.places, np.int64),
            contacts=CONTACTS, entries=entries, envelope=max(1, m.nv * min(m.nv, 24)),
        )  # fmt: skip
        self._solver = rounds, tolerance
        self._bind()

    def _bind(self) -> None:
        """Room for contacts, and what routines are called with."""
        m, o = self.mechanism, self.outcome
        discs = bool(m.slides), bool(m.turns), bool(m.rolls)
        self.cones = p = room_for(o.contacts, o.entries, m.nv, o.envelope, discs, *self._solver)
        s, pairs, terms, ahead = self.terms, self.pairs, list(self.scene.terms), list(self.scene.ahead)
        self._arguments: dict[Routine, tuple[Any, ...]] = {
            begin_step: (m, s, pairs, o, terms),
            end_step: (m, s, pairs, p, o, ahead),
            whole_step: (m, s, pairs, p, o, terms, ahead),
        }
        self._bound: dict[Routine, BoundRoutine] = {}

    def _run(self, routine: Routine) -> int:
        if routine not in self._bound:
            self._bound[routine] = routine.bind(*self._arguments[routine])
        return self._bound[routine]()

    def another(self) -> StepRoom:
        """Room for the same steps in another thread."""
        return StepRoom(self.scene, *self._solver)

    def grow(self, status: int) -> None:
        """Twice as much of what was too little."""
        name = {MORE_CONTACTS: "contacts", MORE_ENTRIES: "entries"}.get(status, "envelope")
        self.outcome = replace(self.outcome, **{name: 2 * getattr(self.outcome, name)})
        self._bind()

    def places(self, t: float, q: Array) -> Array:
        """Gap, point and normal (n, 7) of places in a state at rest; gaps of pairs that are far apart are large."""
        s, m = self.terms, self.mechanism
        s.t[0], s.dt[0], s.q[:], s.v[:], s.a[:], m.held[:] = t, 1.0, q, 0.0, 0.0, 0.0
        if self._run(begin_step):
            self._look()
        return self.pairs.places.reshape(-1, PLACE_SIZE)

    def step(
        self, t: float, q: Array, v: Array, a: Array, impulses: Array, held: Any, dt: float
    ) -> tuple[Array, Array, Array, float]:
        """(q', v', impulses, residual) of a step that begins with the acceleration a; `held` is inertia that holds."""
        s, o, m = self.terms, self.outcome, self.mechanism
        s.t[0], s.dt[0], s.q[:], s.v[:], s.a[:], o.impulses[:], m.held[:] = t, dt, q, v, a, impulses, held
        while (status := self._stepped()) != DONE:
            self.grow(status)
        o = self.outcome
        return o.q.copy(), o.v.copy(), o.impulses.copy(), float(o.residual[0])

    def steps(
        self, acceleration: Code, parameters: Array, times: Array, state: State, dt: float, every: int, much: float
    ) -> StepRows:
        """States after every so many steps that begin at `times`, and after the last; all pairs must have code.

        `acceleration` is of t, q, v and parameters; the memory of the state is that of `ColliderSteps`.
        """
        s, o, m, n = self.terms, self.outcome, self.mechanism, len(self.terms.q)
        impulses, worst, unsolved = state.memory
        s.dt[0], s.q[:], s.v[:], o.impulses[:], m.held[:] = dt, state.q, state.v, impulses, 0.0
        count, size = -(-len(times) // every), len(o.impulses)
        rows = StepRows(*(np.zeros(count * k) for k in (n, m.nv, size, 1, 1)))
        left, done = np.array([worst, unsolved, DONE], float), 0
        while done < len(times):
            routine = many_steps.bind(
                m, s, self.pairs, self.cones, self.outcome, acceleration, list(self.scene.terms),
                list(self.scene.ahead), parameters, n, size, times, done, len(times), every, rows, left, much,
            )  # fmt: skip
            done = routine()
            if done < len(times):
                self.grow(int(left[2]))
        return rows

    def _stepped(self) -> int:
        if self.scene.has_code:
            return self._run(whole_step)
        if self._run(begin_step):
            self._look()
        return self._run(end_step)

    def _look(self) -> None:
        """The places of near pairs that another library computes."""
        pairs, placed = self.pairs, self.pairs.placed.reshape(-1, 4, 3)
        places, others = pairs.places.reshape(-1, PLACE_SIZE), iter(self.scene.collider.colliders)
        for k, row in enumerate(self.scene.table.rows):
            if row[KIND] >= 0:
                continue
            collider = next(others)
            if pairs.is_near[k]:
                found = self.scene.collider.places_of(k, collider, placed[row[FIRST]], placed[row[SECOND]])
                places[row[PLACE] : row[PLACE] + len(found)] = found


def _text(tree: Tree, shapes: tuple[int, ...], table: PairTable) -> TreeTerms:
    """The text of a tree's terms."""
    number = {i: k for k, i in enumerate(tree.bodies)}
    placements = (table.placements[k] for k in shapes)
    return TreeTerms(tuple((number[i], X) for i, X in placements))


def _code(name: str, text: Any, tree: Model, *besides: str) -> Code:
    """The code of a text for a tree, of t, q, v, what is named besides, and dt."""
    specialization = Specialization(name, text, tree, numbers=("t", "dt"), is_users=True)
    return code_of(specialization, {"t": (), "q": (tree.nq,), **dict.fromkeys(("v", *besides), (tree.nv,)), "dt": ()})


def _loop_rows(tree: Tree) -> int:
    model = tree.model.at_time(0.0) if tree.model.depends_on_time else tree.model
    Q = model.positions(Vector(model.start))
    return sum(len(closure(model, Q, loop).T) for loop in model.loops)


def per_variable(model: Model, name: str) -> Array:
    """A property of joints for each velocity variable."""
    return np.array([x for joint in model.joints for x in getattr(joint, name)], float)


def whole(numbers: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(numbers), np.int64)


def starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where parts of these sizes begin, one after the other."""
    return np.cumsum(sizes) - sizes
