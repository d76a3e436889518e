"""Names of a model's parts, changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from knuckle.errors import ModelError, near
from knuckle.model.model import Model
from knuckle.model.parts import Body
from knuckle.model.surfaces import DEFAULT

Names: TypeAlias = Mapping[str, str] | Callable[[str], str] | None
"""New names: by the old ones, or by a rule."""


def rename(
    model: Model,
    *,
    bodies: Names = None,
    joints: Names = None,
    surfaces: Names = None,
    elements: Names = None,
    actuators: Names = None,
    name: str | None = None,
) -> Model:
    """The model with other names: of the base, bodies and frames; of joints and loop joints; of surfaces; of force
    elements and deformables; of actuators; its own.

    Names are given as a mapping from old to new, or as a function. What a mapping does not mention stays.
    """
    of_body = _rule(bodies, model.frame_names, "body or frame")
    of_joint = _rule(joints, (*model.joint_names, *(loop.name for loop in model.loops)), "joint")
    of_element = _rule(elements, [x.name for x in (*model.elements, *model.deformables)], "element")
    of_actuator = _rule(actuators, [x.name for x in model.actuators], "actuator")
    named = [surface.name for surface in model.contact.surfaces]
    rule = _rule(surfaces, named, "surface")

    def of_surface(name: str) -> str:
        return rule(name or DEFAULT) if (name or DEFAULT) in named else name

    def renamed(body: Body) -> Body:
        shapes = tuple(dataclasses.replace(x, surface=of_surface(x.surface)) for x in body.collisions)
        return dataclasses.replace(body, name=of_body(body.name), collisions=shapes)

    return model.replace(
        name=model.name if name is None else name,
        base=renamed(model.base),
        bodies=tuple(map(renamed, model.bodies)),
        frames=tuple(dataclasses.replace(frame, name=of_body(frame.name)) for frame in model.frames),
        joints=tuple(dataclasses.replace(joint, name=of_joint(joint.name)) for joint in model.joints),
        loops=tuple(dataclasses.replace(loop, name=of_joint(loop.name)) for loop in model.loops),
        keyframes=model.keyframes,
        contact=model.contact.with_bodies(of_body).with_surfaces(of_surface),
        elements=tuple(x.renamed(of_element(x.name), of_body) for x in model.elements),
        deformables=tuple(
            dataclasses.replace(x.renamed(of_element(x.name), of_body), surface=of_surface(x.surface))
            for x in model.deformables
        ),
        actuators=tuple(
            dataclasses.replace(
                x, name=of_actuator(x.name), transmission=x.transmission.renamed(of_joint, of_body, of_element)
            )
            for x in model.actuators
        ),
    )


def _rule(names: Names, known: Iterable[str], what: str) -> Callable[[str], str]:
    if names is None:
        return lambda name: name
    if callable(names):
        return names
    for old in names:
        if old not in known:
            raise ModelError(f"no {what} is called {old!r}{near(old, known)}", element=old)
    table = dict(names)
    return lambda name: table.get(name, name)
