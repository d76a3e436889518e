"""Joints that no longer move: bodies merged into their parents."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from knuckle.errors import ModelError
from knuckle.joints import Fixed
from knuckle.model.coupling import Coupling, renumbered
from knuckle.model.model import Model
from knuckle.model.parts import ROOT, Body, Frame, Limits, Note, TreeJoint
from knuckle.model.placement import finite
from knuckle.scalar import constant
from knuckle.spatial import Vector

from .exact_constants import together
from .places import Place, is_weld, noted, placed_frames, placed_loops, welded


def merge_fixed(model: Model) -> Model:
    """Every body on a fixed joint merged into its parent.

    The parent gets its inertia and shapes, and what it never touches; its name stays as a frame; its children, frames
    and loop joints are re-attached. The other bodies keep their order, so q and v keep their meaning. The provenance
    gets a note per body.
    """
    places = {ROOT: Place(ROOT, model.algebra.Transform.identity())}
    bodies, joints = [model.base], list[TreeJoint]()
    names, notes = list[Frame](), list[Note]()
    hosts = {name: name for name in (model.base.name, *model.body_names)}
    own, guests = {ROOT: model.base.inertia}, dict[int, list[tuple[Any, Any]]]()
    for i, (body, joint) in enumerate(zip(model.bodies, model.joints, strict=True)):
        parent = places[joint.parent]
        X_tree = joint.X_tree @ parent.X
        if not is_weld(joint.type):
            places[i] = Place(len(joints), model.algebra.Transform.identity())
            own[len(joints)] = body.inertia
            bodies.append(body)
            joints.append(dataclasses.replace(joint, parent=parent.body, X_tree=X_tree))
            continue
        X = joint.type.transform(Vector()) @ X_tree
        places[i] = Place(parent.body, X)
        host = bodies[parent.body + 1]
        bodies[parent.body + 1] = welded(host, body, X)
        guests.setdefault(parent.body, []).append((body.inertia, X))
        names.append(Frame(body.name, parent.body, X))
        hosts[body.name] = host.name
        notes.append(Note("info", body.name, f"merged into {host.name!r}, to which a fixed joint holds it"))
        notes += _wider(model, body, host)
    if not notes:
        return model
    for k, fastened in guests.items():
        bodies[k + 1] = dataclasses.replace(bodies[k + 1], inertia=together(own[k], fastened))
    merged = model.replace(
        base=bodies[0],
        bodies=tuple(bodies[1:]),
        joints=tuple(joints),
        frames=(*placed_frames(model.frames, places), *names),
        loops=placed_loops(model.loops, places),
        couplings=renumbered(model.couplings, {i: place.body for i, place in places.items()}),
        contact=model.contact.with_bodies(hosts.get),
    )
    return noted(merged, notes)


def _wider(model: Model, body: Body, host: Body) -> list[Note]:
    """Notes on what a body never touches, where its host has shapes of its own that did."""
    if not host.collisions:
        return []
    others = [b if a == body.name else a for a, b in model.contact.ignored if body.name in (a, b)]
    text = f"that it never touches {{}} holds for all of {host.name!r} now"
    return [Note("warning", body.name, text.format(repr(other))) for other in others if other != host.name]


def lock(model: Model, positions: Mapping[str, Any]) -> Model:
    """Joints frozen at a position each, and their bodies merged into their parents.

    `positions` maps a joint's name to its q: a number, or as many numbers as the joint has position variables. A
    joint that follows none but locked ones is locked with them.
    """
    wanted = {model.joint_index(name): _position(model, name, q) for name, q in positions.items()}
    couplings: list[Coupling] = []
    for c in model.couplings:
        if c.joint in wanted:
            sources = " and ".join(repr(model.joint_names[s]) for s in c.sources)
            raise ModelError(f"it follows {sources}: lock that instead", element=model.joint_names[c.joint])
        still = {k: wanted[s][0] for k, s in enumerate(c.sources) if s in wanted}
        if len(still) == len(c.sources):
            wanted[c.joint] = Vector((c.law.value(Vector(still.values())),))
        elif still:
            moving = tuple(s for s in c.sources if s not in wanted)
            couplings.append(Coupling(c.joint, moving, c.law.held(still)))
        else:
            couplings.append(c)
    joints = tuple(_frozen(joint, wanted[i]) if i in wanted else joint for i, joint in enumerate(model.joints))
    notes = [Note("info", model.joint_names[i], f"locked at q = ({', '.join(map(str, q))})") for i, q in wanted.items()]
    return merge_fixed(noted(model.replace(joints=joints, couplings=tuple(couplings)), notes))


def _position(model: Model, name: str, q: Any) -> Vector:
    nq = model.joints[model.joint_index(name)].type.nq
    numbers: Sequence[Any] = q if hasattr(q, "__len__") else (q,)
    if len(numbers) != nq:
        raise ModelError(f"q needs {nq} numbers to lock it, not {len(numbers)}: {q!r}", element=name)
    return Vector(constant(finite(x, "q", name)) for x in numbers)


def _frozen(joint: TreeJoint, q: Vector) -> TreeJoint:
    X = joint.type.transform(q)
    return TreeJoint(joint.name, Fixed(), joint.parent, X @ joint.X_tree, Limits.none(0, 0))
