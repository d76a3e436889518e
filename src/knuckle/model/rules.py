"""The rules of a well-formed model (RBDA 4.1.2): numbering, unique names, sizes, couplings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from knuckle.errors import ModelError, near, printable
from knuckle.joints import Free, Spherical
from knuckle.spatial import SPATIAL

from .actuators.actuator import Actuator
from .actuators.plain_transmissions import AtJoints
from .actuators.spatial_transmissions import AtBallJoint, AtFreeJoint
from .coupling import check_couplings
from .deformables import Deformable
from .elements import ForceElement
from .elements.lines import TensionLine
from .parts import ROOT

if TYPE_CHECKING:
    from .model import Model


def check(model: Model) -> None:
    """An error that names what breaks a rule."""
    check_name(model.name, "model")
    if len(model.bodies) != len(model.joints):
        raise ModelError(f"{len(model.bodies)} bodies but {len(model.joints)} tree joints: each body has one")
    for i, joint in enumerate(model.joints):
        if not ROOT <= joint.parent < i:
            raise ModelError(f"parent {joint.parent} of body {i} is not numbered before it", element=joint.name)
    for what, names in (
        ("joint", (*model.joint_names, *(loop.name for loop in model.loops))),
        ("frame", model.frame_names),
    ):
        seen: set[str] = set()
        for name in names:
            check_name(name, what)
            if name in seen:
                raise ModelError(f"two {what}s are called {name!r}", element=name)
            seen.add(name)
    for loop in model.loops:
        for end in (loop.predecessor, loop.successor):
            if not ROOT <= end < model.nb:
                raise ModelError(f"body {end} does not exist", element=loop.name)
    for frame in model.frames:
        if not ROOT <= frame.body < model.nb:
            raise ModelError(f"body {frame.body} does not exist", element=frame.name)
    check_couplings(model)
    _check_actuators(model)
    _check_elements(model)
    _check_deformables(model)
    _check_keyframes(model)
    _check_contact(model)


def _check_elements(model: Model) -> None:
    known, seen = set(model.frame_names), set[str]()
    for element in model.elements:
        if not isinstance(element, ForceElement):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"elements are of kn.elements, and one is {element!r}")
        check_name(element.name, "element")
        if element.name in seen:
            raise ModelError(f"two elements are called {element.name!r}", element=element.name)
        seen.add(element.name)
        for frame in element.frames:
            if frame not in known:
                raise ModelError(f"no body or frame is called {frame!r}{near(frame, known)}", element=element.name)
        for body in element.wound_on:
            if (i := model.frame(body).body) == ROOT or model.joints[i].type.nv != 1:
                text = f"{body!r} is not on a joint of one variable, on which it could be wound"
                raise ModelError(text, element=element.name)


def _check_actuators(model: Model) -> None:
    seen = set[str]()
    for x in model.actuators:
        if not isinstance(x, Actuator):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"actuators are kn.actuators.Actuator, and one is {x!r}")
        check_name(x.name, "actuator")
        if x.name in seen:
            raise ModelError(f"two actuators are called {x.name!r}", element=x.name)
        seen.add(x.name)
        elements = {element.name for element in model.elements if isinstance(element, TensionLine)}
        if not x.transmission.stays(model.joint_names, model.frame_names, elements):
            raise ModelError(f"what it acts on ({x.transmission.said}) is not in the model", element=x.name)
        for name in x.transmission.joints if isinstance(x.transmission, AtJoints) else ():
            if (nv := model.joints[model.joint_names.index(name)].type.nv) != 1:
                raise ModelError(
                    f"joint {name!r} has {nv} variables, and an actuator at joints turns one", element=x.name
                )
        if isinstance(x.transmission, (AtBallJoint, AtFreeJoint)):
            kind, said = (Spherical, "ball") if isinstance(x.transmission, AtBallJoint) else (Free, "free")
            own = model.joints[model.joint_names.index(x.transmission.joint)].type
            if not isinstance(own, kind):
                raise ModelError(
                    f"joint {x.transmission.joint!r} is no {said} joint, and its transmission takes one",
                    element=x.name,
                )
    if model.actuators and model.algebra is not SPATIAL and any(x.transmission.is_on_bodies for x in model.actuators):
        raise ModelError("a planar model has actuators at joints only: model.without_actuators()")


def _check_deformables(model: Model) -> None:
    known, seen = set(model.frame_names), set[str]()
    for x in model.deformables:
        if not isinstance(x, Deformable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"deformables are kn.elements.Deformable, and one is {x!r}")
        check_name(x.name, "deformable")
        if x.name in seen:
            raise ModelError(f"two deformables are called {x.name!r}", element=x.name)
        seen.add(x.name)
        for frame in x.frames:
            if frame not in known:
                raise ModelError(f"no body or frame is called {frame!r}{near(frame, known)}", element=x.name)
    if model.deformables and model.algebra is not SPATIAL:
        names = ", ".join(x.name for x in model.deformables)
        raise ModelError(f"a planar model has no deformables ({names}): model.without_deformables()")


def _check_contact(model: Model) -> None:
    names = {model.base.name, *model.body_names}
    for pair in model.contact.ignored:
        for name in pair:
            if name not in names:
                raise ModelError(f"bodies that never touch: no body is called {name!r}", element=name)
    for surface in model.contact.surfaces:
        check_name(surface.name, "surface")
    known = {"", *(surface.name for surface in model.contact.surfaces)}
    for body in (model.base, *model.bodies):
        for geometry in body.collisions:
            if geometry.surface in known:
                continue
            try:
                model.contact.surface(geometry.surface)
            except ValueError as error:
                raise ModelError(f"a shape of {body.name!r}: {error}", element=body.name) from None
    for soft in model.deformables:
        try:
            model.contact.surface(soft.surface)
        except ValueError as error:
            raise ModelError(str(error), element=soft.name) from None


def check_name(name: str, what: str) -> None:
    """Refuse a name that a terminal would obey: it is shown in tables, errors and progress bars."""
    if printable(name) != name:
        raise ModelError(f"the name of a {what} holds a control character: {printable(name)!r}", element=name)


def _check_keyframes(model: Model) -> None:
    seen: set[str] = set()
    for key in model.keyframes:
        check_name(key.name, "keyframe")
        if key.name in seen:
            raise ModelError(f"two keyframes are called {key.name!r}", element=key.name)
        seen.add(key.name)
        for what, values, n in (("q", key.q, model.nq), ("v", key.v, model.nv)):
            if len(values) != n:
                raise ModelError(f"{what} of the keyframe has {len(values)} entries; expected {n}", element=key.name)
            if not all(map(math.isfinite, values)):
                raise ModelError(f"{what} of the keyframe has an entry that is not finite", element=key.name)
