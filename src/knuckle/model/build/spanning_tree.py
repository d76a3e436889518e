"""From a connectivity graph to a spanning tree with loop joints (RBDA 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.errors import ModelError, near
from knuckle.joints import Free, Joint
from knuckle.model.connectivity import spanning_tree
from knuckle.model.edit.places import re_expressed, unused
from knuckle.model.parts import ROOT, Body, Frame, LoopJoint, Note, TreeJoint
from knuckle.model.placement import Placement, to_transform
from knuckle.spatial import IDENTITY, Transform

from .checked_parts import PROPERTIES, GivenLimits, limits_from, per_freedom, start_from


@dataclass(frozen=True)
class Connection:
    """A joint between two bodies of a graph, by name; either may turn out to be the parent.

    `at_predecessor` and `at_successor` place the joint's two frames in those bodies.
    """

    name: str
    type: Joint
    predecessor: str
    successor: str
    at_predecessor: Placement = None
    at_successor: Placement = None
    limits: GivenLimits = None
    damping: Any = 0.0
    friction: Any = 0.0
    rotor_inertia: Any = 0.0
    stiffness: Any = 0.0
    rest: Any = 0.0
    start: Any = None


@dataclass(frozen=True)
class SpanningTree:
    """A spanning tree, the joints it leaves over as loops, and what was done to get there."""

    bodies: tuple[Body, ...]
    joints: tuple[TreeJoint, ...]
    loops: tuple[LoopJoint, ...]
    frames: tuple[Frame, ...]
    notes: tuple[Note, ...]


def spanning(base: Body, bodies: Sequence[Body], connections: Sequence[Connection]) -> SpanningTree:
    """A spanning tree of least depth of the graph, regularly numbered (RBDA 4.1.2, rules 1 to 6)."""
    index = {base.name: ROOT, **{body.name: i for i, body in enumerate(bodies)}}
    ends = _checked(connections, index)
    connections = list(connections)
    notes: list[Note] = []
    while len((found := spanning_tree(len(bodies), ends))[0]) < len(bodies):
        adrift = min(set(range(len(bodies))) - set(found[0]))
        name = unused(f"{bodies[adrift].name}_free", [c.name for c in connections])
        connections.append(Connection(name, Free(), base.name, bodies[adrift].name))
        ends.append((ROOT, adrift))
        notes.append(Note("warning", bodies[adrift].name, f"nothing connects it to {base.name!r}: free joint {name!r}"))
    order, parents, used = found

    X_p = [to_transform(c.at_predecessor, "at_predecessor", c.name) for c in connections]
    X_s = [to_transform(c.at_successor, "at_successor", c.name) for c in connections]
    back: dict[int, Transform] = {}  # from new to old frame of the bodies whose frame moves to their joint
    joints: list[TreeJoint] = []
    moved: list[Body] = []
    frames: list[Frame] = []
    for k, (i, parent, e) in enumerate(zip(order, parents, used, strict=True)):
        forward = ends[e][1] == i
        near_side, far_side = (X_p[e], X_s[e]) if forward else (X_s[e], X_p[e])
        carrier = ROOT if parent == ROOT else order[parent]
        joints.append(_tree_joint(connections[e], forward, parent, near_side @ back.get(carrier, IDENTITY)))
        if far_side == IDENTITY:
            moved.append(bodies[i])
            continue
        back[i] = far_side.inverse()
        moved.append(re_expressed(bodies[i], far_side))
        frames.append(Frame(unused(f"{bodies[i].name}_origin", index), k, back[i]))

    number = {ROOT: ROOT, **{i: k for k, i in enumerate(order)}}
    loops: list[LoopJoint] = []
    for e, c in enumerate(connections):
        if e in used:
            continue
        p, s = ends[e]
        X = X_p[e] @ back.get(p, IDENTITY), X_s[e] @ back.get(s, IDENTITY)
        loops.append(LoopJoint(c.name, c.type, number[p], number[s], *X))
        if lost := [name for name in PROPERTIES if getattr(c, name)] + (["limits"] if c.limits is not None else []):
            notes.append(Note("warning", c.name, f"closes a loop, and its {', '.join(lost)} are left out"))
    return SpanningTree(tuple(moved), tuple(joints), tuple(loops), tuple(frames), tuple(notes))


def _tree_joint(c: Connection, forward: bool, parent: int, X_tree: Transform) -> TreeJoint:
    kind = c.type if forward else c.type.reversed()
    properties = {name: per_freedom(getattr(c, name), kind, name, c.name, signed=name == "rest") for name in PROPERTIES}
    start = start_from(c.start, kind, c.name)
    return TreeJoint(c.name, kind, parent, X_tree, limits_from(c.limits, kind, c.name), **properties, start=start)


def _checked(connections: Sequence[Connection], index: dict[str, int]) -> list[tuple[int, int]]:
    """The pairs of bodies that the joints join."""
    ends: list[tuple[int, int]] = []
    seen: set[str] = set()
    for c in connections:
        if c.name in seen:
            raise ModelError(f"two joints are called {c.name!r}: each name is used once", element=c.name)
        seen.add(c.name)
        for role, body in (("predecessor", c.predecessor), ("successor", c.successor)):
            if body not in index:
                raise ModelError(f"no body is called {body!r}, its {role}{near(body, index)}", element=c.name)
        if c.predecessor == c.successor:
            raise ModelError(f"it joins {c.predecessor!r} to itself", element=c.name)
        ends.append((index[c.predecessor], index[c.successor]))
    return ends
