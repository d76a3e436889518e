"""The trees that a mechanism is made of: parts that move without each other, but for contacts.

Trees that are alike share their code: a hundred balls are one small piece of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from knuckle.algorithms.contact.coasting import lone_body, moved_back, without_impulses
from knuckle.algorithms.kinematics.body_motions import positions, velocities
from knuckle.functions.dynamics import mass_matrix
from knuckle.functions.loops.loop_terms import jacobian as loop_jacobian
from knuckle.model import ROOT, Body, Model
from knuckle.model.surfaces import ContactRules
from knuckle.spatial import Matrix, Transform, Vector


@dataclass(frozen=True)
class Tree:
    """Bodies of a mechanism that stand on the base together, or that loops join: a mechanism of its own."""

    bodies: tuple[int, ...]
    model: Model
    """without names and shapes, so that those that are alike are equal"""
    q_at: int
    v_at: int


def trees(model: Model) -> list[Tree]:
    """All that moves, in the order of variables. It is one tree where variables of trees are mixed."""
    root = list(range(model.nb))
    for i, joint in enumerate(model.joints):
        root[i] = i if joint.parent == ROOT else root[joint.parent]
    for loop in model.loops:
        ends = [root[i] for i in (loop.predecessor, loop.successor) if i != ROOT]
        if len(ends) == 2:
            root = [ends[0] if x == ends[1] else x for x in root]
    groups: dict[int, list[int]] = {}
    for i in range(model.nb):
        groups.setdefault(root[i], []).append(i)
    moving = [bodies for bodies in groups.values() if _moves(model, bodies)]
    if not all(_is_in_order(model, bodies) for bodies in moving):
        moving = [list(range(model.nb))]
    return [_tree(model, bodies) for bodies in moving]


def _moves(model: Model, bodies: list[int]) -> bool:
    types = [model.joints[i].type for i in bodies]
    return any(joint.nv or joint.at_time(0.0) != joint for joint in types)


def _is_in_order(model: Model, bodies: list[int]) -> bool:
    """Whether the variables of some bodies follow each other."""
    for slices in (model.q_slices, model.v_slices):
        own = [slices[i] for i in bodies]
        if any(a.stop != b.start for a, b in pairwise(own)):
            return False
    return True


def _tree(model: Model, bodies: list[int]) -> Tree:
    number = {ROOT: ROOT, **{i: k for k, i in enumerate(bodies)}}
    joints = tuple(
        replace(model.joints[i], name=f"joint{k}", parent=number[model.joints[i].parent], start=())
        for k, i in enumerate(bodies)
    )
    loops = tuple(
        replace(loop, name=f"loop{k}", predecessor=number[loop.predecessor], successor=number[loop.successor])
        for k, loop in enumerate(x for x in model.loops if {x.predecessor, x.successor} <= set(number))
    )
    own = Model(
        bodies=tuple(Body(f"body{k}", model.bodies[i].inertia) for k, i in enumerate(bodies)), joints=joints,
        loops=loops, gravity=model.gravity, name="tree", contact=ContactRules(),
    )  # fmt: skip
    first = bodies[0]
    return Tree(tuple(bodies), own, model.q_slices[first].start, model.v_slices[first].start)


@dataclass(frozen=True)
class TreeTerms:
    """What a step needs of a tree in a state, in a row.

    The velocity without impulses and what turning is behind it, screws of all variables, H, rows of loops, velocities
    of bodies before the step and without impulses, and placements of shapes, which are given by a body and a placement
    on it. In base coordinates.
    """

    shapes: tuple[tuple[int, Transform], ...]

    def __call__(self, model: Model, t: Any, q: Any, v: Any, a: Any, dt: Any) -> Vector:
        now = model.at_time(t) if model.depends_on_time else model
        at, old, pulled = now.positions(q), now.velocities(q, v), now.velocities(q, a)
        old, free, turns = without_impulses(now, old, pulled, dt)
        X0 = positions(now, at)
        screws = [X0[i].inverse() @ s for i, _, joint in now.outward() for s in joint.subspace(at[i]).columns]
        H: Any = mass_matrix(now.without_loops() if now.loops else now, q)
        loops: Any = loop_jacobian(now, q) if now.loops else Matrix([], now.nv)
        before, after = velocities(now, at, old), velocities(now, at, free)
        motions = [X0[i].inverse() @ V[i] for V in (before, after) for i in range(now.nb)]
        here = [X @ X0[i] for i, X in self.shapes]
        return Vector(
            [
                *(x for u in free for x in u), *(x for u in turns for x in u),
                *(x for s in screws for x in s.components),
                *(x for row in H.rows for x in row), *(x for row in loops.rows for x in row),
                *(x for V in motions for x in V.components),
                *(x for X in here for x in (*X.E[0], *X.E[1], *X.E[2], *X.r)),
            ]
        )  # fmt: skip


def coasted(model: Model, t: Any, q: Any, v: Any, turns: Any, back: Any, dt: Any) -> Vector:
    """(q', v') in a row: straight ahead with v, turning with v less `turns`, and what `back` moves besides."""
    now = model.at_time(t) if model.depends_on_time else model
    at, new, ahead, apart = (now.positions(q), *(now.velocities(q, x) for x in (v, turns, back)))
    states = [
        moved_back(joint, *joint.coasted(at[i], new[i], dt, body, new[i] - ahead[i]), body, apart[i], dt)
        for i, _, joint in now.outward()
        for body in [lone_body(now, i)]
    ]
    return Vector(x for part in (0, 1) for state in states for x in state[part])
