"""What a model holds that URDF has no words for."""

from __future__ import annotations

from collections.abc import Iterator

from knuckle.errors import ModelError
from knuckle.joints import Continuous, Fixed, Free, Joint, Planar, Prismatic, Revolute
from knuckle.model import STANDARD_GRAVITY, Box, Capsule, Cylinder, Linear, Mesh, Model, Sphere
from knuckle.model.coupling import described
from knuckle.model.joint_position import neutral_position
from knuckle.spatial import SPATIAL

from .loop_element import TYPE_OF as LOOP_TYPE_OF
from .transmission_element import is_transmission

TYPE_OF: dict[type[Joint], str] = {
    Fixed: "fixed", Revolute: "revolute", Continuous: "continuous", Prismatic: "prismatic", Free: "floating",
    Planar: "planar",
}  # fmt: skip
SHAPES = (Box, Capsule, Cylinder, Mesh, Sphere)
_JSON = 'save it as JSON instead: kn.save(model, "robot.json")'


def check_sayable(model: Model) -> None:
    """Refuse a model whose structure URDF cannot hold: its algebra, the types of its joints and loop joints."""
    if model.algebra is not SPATIAL:
        raise ModelError(f"URDF has no {model.algebra.name} models; {_JSON}", element=model.name)
    for loop in model.loops:
        if type(loop.type) not in LOOP_TYPE_OF:
            known = ", ".join(LOOP_TYPE_OF.values())
            text = f"our <loop> in URDF has no joint for {type(loop.type).__name__}, only {known}"
            raise ModelError(f"{text}; {_JSON}, or model.without_loops()", element=loop.name)
    for c in model.couplings:
        if not (isinstance(c.law, Linear) and len(c.sources) == 1):
            text = f"URDF has <mimic> with one source and a ratio only; this joint {described(c, model.joint_names)}"
            raise ModelError(f"{text}; {_JSON}, or model.without_couplings()", element=model.joint_names[c.joint])
    for joint in model.joints:
        if type(joint.type) not in TYPE_OF:
            known = ", ".join(TYPE_OF.values())
            text = f"URDF has no joint for {type(joint.type).__name__}, only {known}; {_JSON}"
            raise ModelError(text, element=joint.name)


def unsayable(model: Model) -> Iterator[tuple[str, str]]:
    """(where, what) of every property that is lost in URDF."""
    if tuple(model.gravity) != STANDARD_GRAVITY:
        yield model.name, f"gravity {model.gravity}"
    for key in model.keyframes:
        yield key.name, "a keyframe"
    for element in model.elements:
        yield element.name, f"a force element ({type(element).__name__})"
    for soft in model.deformables:
        yield soft.name, "a deformable body"
    for x in model.actuators:
        if not is_transmission(x):
            yield x.name, f"an actuator ({x.kind}, {x.transmission.said})"
    for joint in model.joints:
        for what in ("rotor_inertia", "stiffness"):
            if any(getattr(joint, what)):
                yield joint.name, what.replace("_", " ")
        if joint.start != neutral_position(joint.type):
            yield joint.name, f"that it starts at {joint.start}"
        if joint.type.nv != 1 and any((*joint.damping, *joint.friction)):
            yield joint.name, "damping and friction of a joint with several freedoms"
        limits = joint.limits
        if joint.type.nv != 1 and limits != type(limits).none(joint.type.nq, joint.type.nv):
            yield joint.name, "limits of a joint with several freedoms"
        if type(joint.type) is Continuous and (limits.lower[0], limits.upper[0]) != (-float("inf"), float("inf")):
            yield joint.name, "position limits of a continuous joint"
    for body in (model.base, *model.bodies):
        for geometry in (*body.visuals, *body.collisions):
            if not isinstance(geometry.shape, SHAPES):
                yield body.name, f"shape {type(geometry.shape).__name__}"
        for geometry in body.collisions:
            if geometry.surface:
                yield body.name, f"that a colliding shape has the surface {geometry.surface!r}"
            if (geometry.contact_type, geometry.contact_affinity) not in ((0, 1), (1, 1)):
                yield body.name, "with what a colliding shape may touch (contact_type, contact_affinity)"
    for surface in model.contact.surfaces:
        yield surface.name, "a surface"
    for pair in model.contact.pairs:
        yield pair.contact.name, "a pair of surfaces"
    for first, second in model.contact.ignored:
        yield first, f"that it never touches {second!r}"
