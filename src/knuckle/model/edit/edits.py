"""Models made from models: each function takes a `Model` and returns another; none changes its argument."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from knuckle.errors import ModelError
from knuckle.joints import Joint
from knuckle.model.build.checked_parts import PROPERTIES, limits_from, per_freedom, start_from
from knuckle.model.build.grounds import ground_plane, surface_from
from knuckle.model.coupling import Coupling, renumbered
from knuckle.model.coupling_laws import law_from
from knuckle.model.joint_position import neutral_position
from knuckle.model.model import Model
from knuckle.model.parts import ROOT, Body, Frame, Geometry, TreeJoint
from knuckle.model.placement import Placement
from knuckle.model.surfaces import DEFAULT, SurfacePair

from .places import Place, placed_frames, placed_loops, transform_in


def add_frame(model: Model, name: str, on: str, placement: Placement = None) -> Model:
    """A new named frame, placed in a body or another frame."""
    host = model.frame(on)
    X = transform_in(model, placement, name) @ host.X
    return model.replace(frames=(*model.frames, Frame(name, host.body, X)))


def couple(model: Model, joint: str, to: str | Sequence[str], law: Any, *, offset: float = 0.0) -> Model:
    """The model with a joint that follows others; see `Builder.couple`."""
    sources = (to,) if isinstance(to, str) else tuple(to)
    numbers = tuple(map(model.joint_index, sources))
    coupling = Coupling(model.joint_index(joint), numbers, law_from(law, offset, len(sources), joint))
    return model.replace(couplings=(*model.couplings, coupling))


def with_inertia(model: Model, body: str, inertia: Any) -> Model:
    """The model with another inertia of one body, or of the base."""
    if not isinstance(inertia, model.algebra.Inertia):
        wanted = model.algebra.Inertia.__name__
        raise ModelError(f"its inertia has to be a {wanted}, not {type(inertia).__name__}", element=body)
    bodies = [model.base, *model.bodies]
    i = model.body_index(body) + 1
    bodies[i] = dataclasses.replace(bodies[i], inertia=inertia)
    return model.replace(base=bodies[0], bodies=tuple(bodies[1:]))


def with_joint(model: Model, joint: str, **changes: Any) -> Model:
    """The model with other properties of one joint.

    They are `type`, `X_tree` (as any placement), `limits`, `damping`, `friction`, `rotor_inertia`, `stiffness`, `rest`
    and `start`, as for `Builder.body`. A type with another number of variables starts without limits and the rest.
    """
    known = ("type", "X_tree", "limits", *PROPERTIES, "start")
    for key in changes:
        if key not in known:
            raise ModelError(f"with_joint does not change {key!r}, but {', '.join(known)}", element=joint)
    i = model.joint_index(joint)
    old = model.joints[i]
    kind = changes.pop("type", old.type)
    same = (kind.nq, kind.nv) == (old.type.nq, old.type.nv)
    new = _of_kind(old, kind) if same else TreeJoint(joint, kind, old.parent, old.X_tree)
    if "X_tree" in changes:
        changes["X_tree"] = transform_in(model, changes["X_tree"], joint)
    if "limits" in changes:
        changes["limits"] = limits_from(changes["limits"], kind, joint)
    for key in changes.keys() & PROPERTIES:
        changes[key] = per_freedom(changes[key], kind, key, joint, signed=key == "rest")
    if "start" in changes:
        changes["start"] = start_from(changes["start"], kind, joint)
    joints = (*model.joints[:i], dataclasses.replace(new, **changes), *model.joints[i + 1 :])
    return model.replace(joints=joints)


def _of_kind(joint: TreeJoint, kind: Joint) -> TreeJoint:
    """The joint with another kind of as many variables; it starts where the new kind does unless told otherwise."""
    start = () if joint.start == neutral_position(joint.type) else joint.start
    return dataclasses.replace(joint, type=kind, start=start)


def with_rotor_inertia(model: Model, inertias: Mapping[str, Any]) -> Model:
    """The model with rotor inertias (as felt at the joint: gear ratio squared times the rotor's own), by joint name."""
    for joint, inertia in inertias.items():
        model = with_joint(model, joint, rotor_inertia=inertia)
    return model


def with_ground(
    model: Model,
    height: float = 0.0,
    normal: Sequence[float] = (0, 0, 1),
    friction: float | None = None,
    restitution: float | None = None,
    stiffness: float | None = None,
    damping: float | None = None,
) -> Model:
    """The model on an endless plane, "ground", that is part of its base; see `Builder.ground`.

    `friction`, `restitution`, and `stiffness` (N/m) and `damping` (N s/m) of soft contact hold for everything that
    touches it, whatever the other surface says itself; what is not given comes from the two surfaces.
    """
    name = "ground"
    for what, taken in (
        ("shape of the base", [shape.name for shape in model.base.collisions]),
        ("surface", [surface.name for surface in model.contact.surfaces]),
    ):
        if name in taken:
            raise ModelError(f"there is a {what} called {name!r} already", element=name)
    every = {"friction": friction, "restitution": restitution, "stiffness": stiffness, "damping": damping}
    stated = {key: x for key, x in every.items() if x is not None}
    rules = model.contact
    if stated:
        unsaid = rules.surface(DEFAULT)
        own = surface_from(name, *(stated.get(x.name, getattr(unsaid, x.name)) for x in dataclasses.fields(unsaid)[1:]))
        stated = {key: getattr(own, key) for key in stated}
        others = dict.fromkeys((DEFAULT, *(surface.name for surface in rules.surfaces)))
        rules = dataclasses.replace(rules, surfaces=(*rules.surfaces, own))
        for other in others:
            rules = rules.with_pair(name, other, **stated)
    plane = ground_plane(normal, height, name if stated else "", name)
    seen = Geometry(plane.shape, plane.X, name)
    base = dataclasses.replace(
        model.base, visuals=(*model.base.visuals, seen), collisions=(*model.base.collisions, plane)
    )
    return model.replace(base=base, contact=rules)


def with_surface(model: Model, name: str, *, against: str | None = None, **values: Any) -> Model:
    """The model with other coefficients of a surface, or of the contact of two, called as in `Surface`.

    Without `against` the surface says these itself; of two surfaces the larger coefficients of friction hold. With it
    they hold where the two touch, whatever the surfaces say. Values may be scalars of any kind, as in a `model_fn`.
    """
    rules = model.contact
    named = {surface.name for surface in rules.surfaces} | {DEFAULT}
    for one in (name,) if against is None else (name, against):
        if one not in named:
            raise ModelError(f"no surface is called {one!r}; there are: {', '.join(sorted(named))}", element=one)
    known = [x.name for x in dataclasses.fields(rules.surface(DEFAULT))[1:]]
    if wrong := [key for key in values if key not in known]:
        raise TypeError(f"a surface has no {wrong[0]!r}; it has {', '.join(known)}")
    if against is None:
        surfaces = {surface.name: surface for surface in rules.surfaces}
        surfaces[name] = dataclasses.replace(rules.surface(name), **values)
        return model.replace(contact=dataclasses.replace(rules, surfaces=tuple(surfaces.values())))
    contact = dataclasses.replace(rules.between(name, against), **values)
    others = tuple(pair for pair in rules.pairs if pair.names != frozenset((name, against)))
    pairs = (*others, SurfacePair(name, against, contact))
    return model.replace(contact=dataclasses.replace(rules, pairs=pairs))


def with_self_contact(model: Model, on: bool = True) -> Model:
    """The model with bodies that touch each other, or do not: only what has other bits of `contact_type`.

    Shapes of URDF files touch the ground and other things, but not each other, unless this says so.
    """

    def body(x: Body) -> Body:
        shapes = [
            dataclasses.replace(shape, contact_type=shape.contact_type | 1 if on else shape.contact_type & ~1)
            for shape in x.collisions
        ]
        return dataclasses.replace(x, collisions=tuple(shapes))

    return model.replace(bodies=tuple(map(body, model.bodies)))


def keep_collisions(model: Model, keep: Callable[[Body, Geometry], bool]) -> Model:
    """The model with those colliding shapes of its bodies for which keep(body, shape) is true; the base has all of its.

    Fewer shapes are fewer contacts to compute: `lambda body, shape: isinstance(shape.shape, Sphere)`.
    """
    bodies = [
        dataclasses.replace(body, collisions=tuple(shape for shape in body.collisions if keep(body, shape)))
        for body in model.bodies
    ]
    return model.replace(bodies=tuple(bodies))


def permute(model: Model, order: Sequence[str]) -> Model:
    """The same mechanism with its bodies in another order, which must be regular: parents first (RBDA 4.1.2).

    `order` names every body once. The variables of q and v follow their joints.
    """
    numbers = [model.body_index(name) for name in order]
    if sorted(numbers) != list(range(model.nb)):
        left_out = sorted(set(model.body_names) - set(order))
        twice = sorted({name for name in order if list(order).count(name) > 1})
        wrong = [f"{what}: {', '.join(names)}" for what, names in (("left out", left_out), ("twice", twice)) if names]
        raise ModelError(f"an order names each of the {model.nb} moving bodies once ({'; '.join(wrong)})")
    new = {ROOT: ROOT, **{i: k for k, i in enumerate(numbers)}}
    for i in numbers:
        parent = model.parents[i]
        if new[parent] > new[i]:
            raise ModelError(f"its parent {model.body_names[parent]!r} must come first", element=model.body_names[i])
    places = {i: Place(k, model.algebra.Transform.identity()) for i, k in new.items()}
    return model.replace(
        bodies=tuple(model.bodies[i] for i in numbers),
        joints=tuple(dataclasses.replace(model.joints[i], parent=new[model.parents[i]]) for i in numbers),
        frames=placed_frames(model.frames, places),
        loops=placed_loops(model.loops, places),
        couplings=renumbered(model.couplings, new),
    )
