"""Models put together and taken apart: sub-models, one model onto another, tools."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import cast

from knuckle.errors import ModelError
from knuckle.model.coupling import renumbered
from knuckle.model.keyframes import together
from knuckle.model.model import Model
from knuckle.model.parts import ROOT, Body, Frame, Note
from knuckle.model.placement import Placement
from knuckle.model.surfaces import DEFAULT, ContactRules
from knuckle.spatial import PLANAR, Inertia, PlanarInertia, project

from .places import Place, noted, on_frames, placed_frames, placed_loops, transform_in, unused, welded
from .renaming import rename


def submodel(model: Model, body: str, *, moving: bool = False) -> Model:
    """The subtree at a body as a model of its own.

    The body becomes the base, at rest; with `moving` it keeps its joint, and the base is where its parent was. Gravity
    keeps its components, now along the axes of the new base. Loop joints and couplings that cross the cut are
    left out, with a note each, and so are force elements and deformables. Surfaces stay, and rules for bodies that do.
    """
    root = model.body_index(body)
    identity = model.algebra.Transform.identity()
    if root == ROOT:
        return model
    inside = [i for i in model.subtree(root) if moving or i != root]
    places = {i: Place(k, identity) for k, i in enumerate(inside)}
    if moving:
        parent = model.joints[root].parent
        name = model.base.name if parent == ROOT else model.body_names[parent]
        base, outer = Body(name, model.algebra.Inertia.zero()), {parent: ROOT}
    else:
        base, outer = model.bodies[root], {root: ROOT}
        places[root] = Place(ROOT, identity)
    number = {**{i: place.body for i, place in places.items()}, **outer}
    notes: list[Note] = []
    for loop in model.loops:
        if (loop.predecessor in places) != (loop.successor in places):
            notes.append(Note("warning", loop.name, f"left out: it joins the part at {body!r} to the rest"))
    for c in model.couplings:
        outside = [model.joint_names[s] for s in c.sources if s not in inside]
        if c.joint in inside and outside:
            text = f"independent here: {', '.join(map(repr, outside))}, which it follows, is not in the part"
            notes.append(Note("warning", model.joint_names[c.joint], text))
    names = {base.name, *(model.body_names[i] for i in inside)}
    names |= {frame.name for frame in model.frames if frame.body in places}
    for element in (*model.elements, *model.deformables):
        if not names.issuperset(element.frames) and names.intersection(element.frames):
            notes.append(Note("warning", element.name, f"left out: it joins the part at {body!r} to the rest"))
    part = model.replace(
        name=body,
        base=base,
        bodies=tuple(model.bodies[i] for i in inside),
        joints=tuple(dataclasses.replace(model.joints[i], parent=number[model.joints[i].parent]) for i in inside),
        frames=placed_frames([f for f in model.frames if f.body in places], places),
        loops=placed_loops([x for x in model.loops if x.predecessor in places and x.successor in places], places),
        couplings=renumbered([c for c in model.couplings if {c.joint, *c.sources} <= {*inside}], number),
        contact=model.contact.with_bodies(
            {name: name for name in (base.name, *(model.body_names[i] for i in inside))}.get
        ),
        elements=tuple(element for element in model.elements if names.issuperset(element.frames)),
        deformables=tuple(x for x in model.deformables if names.issuperset(x.frames)),
    )
    return noted(part, notes)


def merge(a: Model, b: Model, onto: str, placement: Placement = None, *, prefix: str = "") -> Model:
    """Model `b` put onto a body or frame of model `a`.

    `placement` places b's base in the frame `onto`; b's base is welded there and its name stays as a frame (an empty
    base with a name that a has already leaves none). The bodies, joints, frames and loops of b come after those of a,
    their names with `prefix` in front, so q = (q_a, q_b) and v = (v_a, v_b). Gravity and name are a's. Surfaces of
    both are there, and must be equal where they have one name; shapes of b that name none are of a's default one.
    """
    if a.algebra is not b.algebra:
        raise ModelError(f"{a.name!r} is {a.algebra.name} and {b.name!r} {b.algebra.name}: they do not go together")
    if prefix:
        b = rename(b, bodies=prefix.__add__, joints=prefix.__add__, elements=prefix.__add__, actuators=prefix.__add__)
    nameless = b.base.name in a.frame_names and b.base == Body(b.base.name, b.algebra.Inertia.zero())
    _refuse_shared_names(a, b, b.frame_names[1:] if nameless else b.frame_names)
    host = a.frame(onto)
    X = transform_in(a, placement, onto) @ host.X
    places = {ROOT: Place(host.body, X)}
    places.update({i: Place(a.nb + i, a.algebra.Transform.identity()) for i in range(b.nb)})
    bodies = [a.base, *a.bodies]
    bodies[host.body + 1] = welded(bodies[host.body + 1], b.base, X)
    joints = (
        dataclasses.replace(j, parent=places[j.parent].body, X_tree=j.X_tree @ places[j.parent].X) for j in b.joints
    )
    base, elements = () if nameless else (Frame(b.base.name, host.body, X),), b.elements
    deformables = b.deformables
    if nameless and any(b.base.name in element.frames for element in (*elements, *deformables)):
        there = unused(f"{b.base.name}_of_{b.name}", (*a.frame_names, *b.frame_names))
        base, names = (Frame(there, host.body, X),), {b.base.name: there}
        elements, deformables = on_frames(elements, names), on_frames(deformables, names)
    both = a.replace(
        base=bodies[0],
        bodies=(*bodies[1:], *b.bodies),
        joints=(*a.joints, *joints),
        frames=(*a.frames, *base, *placed_frames(b.frames, places)),
        loops=(*a.loops, *placed_loops(b.loops, places)),
        couplings=(*a.couplings, *renumbered(b.couplings, {i: a.nb + i for i in range(b.nb)})),
        keyframes=together(a, b),
        contact=_rules_of_both(a, b, bodies[host.body + 1].name),
        elements=(*a.elements, *elements),
        deformables=(*a.deformables, *deformables),
        actuators=(*a.actuators, *b.actuators),
    )
    source = b.provenance.file or f"model {b.name!r}"
    return noted(both, (*b.provenance.notes, Note("info", b.base.name, f"{source} put onto {onto!r}")))


def _rules_of_both(a: Model, b: Model, host: str) -> ContactRules:
    """The contact rules of a and b, whose base is part of the body `host` of a."""
    default = b.contact.surface(DEFAULT)
    if default in b.contact.surfaces and default != a.contact.surface(DEFAULT):
        text = f"its default surface has other values than that of {a.name!r}"
        raise ModelError(f"{text}: give it another name with rename(..., surfaces=...)", element=b.name)
    try:
        return a.contact.together(b.contact.with_bodies(lambda name: host if name == b.base.name else name))
    except ValueError as error:
        text = f"{error}: give one of them another name with rename(..., surfaces=...)"
        raise ModelError(text, element=b.name) from None


def _refuse_shared_names(a: Model, b: Model, frames: Sequence[str]) -> None:
    joints = [*a.joint_names, *(loop.name for loop in a.loops)], [*b.joint_names, *(loop.name for loop in b.loops)]
    for what, ours, theirs in (("joint", *joints), ("frame", a.frame_names, frames)):
        shared = [name for name in theirs if name in ours]
        if shared:
            names = ", ".join(map(repr, shared[:5])) + (" and more" if len(shared) > 5 else "")
            raise ModelError(f"both models have a {what} called {names}: give b's names a prefix=...", element=b.name)


def attach(
    model: Model,
    frame: str,
    tool: Body | Inertia | PlanarInertia | Model,
    placement: Placement = None,
    *,
    prefix: str = "",
) -> Model:
    """A tool fastened to a body or frame: a body, whose name stays as a frame; an inertia; or a model with joints.

    `placement` places the tool's frame (a model's base) in `frame`; `prefix` goes in front of the tool's names.
    """
    if isinstance(tool, Model):
        return merge(model, tool, frame, placement, prefix=prefix)
    host = model.frame(frame)
    X = transform_in(model, placement, frame) @ host.X
    bodies = [model.base, *model.bodies]
    name = prefix + tool.name if isinstance(tool, Body) else None
    guest = _of_algebra(model, tool if isinstance(tool, Body) else Body("", cast(Inertia, tool)))
    bodies[host.body + 1] = welded(bodies[host.body + 1], guest, X)
    if name in model.frame_names:
        raise ModelError(f"there is a frame called {name!r} already: give it a prefix=...", element=frame)
    names = () if name is None else (Frame(name, host.body, X),)
    return model.replace(base=bodies[0], bodies=tuple(bodies[1:]), frames=(*model.frames, *names))


def _of_algebra(model: Model, body: Body) -> Body:
    """The body with an inertia of the model's algebra."""
    if model.algebra is PLANAR and isinstance(body.inertia, Inertia):  # pyright: ignore[reportUnnecessaryIsInstance]
        return dataclasses.replace(body, inertia=project(body.inertia))
    return body
