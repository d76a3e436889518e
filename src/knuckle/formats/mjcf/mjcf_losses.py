"""What a model holds that MJCF has no words for."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

from knuckle.errors import ModelError
from knuckle.joints import Continuous, Fixed, Free, Joint, Prismatic, Revolute, Spherical
from knuckle.model import ROOT, Coupling, Geometry, HeightField, Linear, Mesh, Model, Plane, Powers, TreeJoint
from knuckle.model.actuators import AtFrame, BetweenFrames
from knuckle.model.coupling import described
from knuckle.model.joint_position import neutral_position
from knuckle.spatial import IDENTITY, SPATIAL

from .write_tendons import lost_elements

TYPE_OF: dict[type[Joint], str] = {
    Revolute: "hinge", Continuous: "hinge", Prismatic: "slide", Spherical: "ball", Free: "free",
}  # fmt: skip
LOOPS = (Fixed, Spherical, Revolute, Continuous)
MESHES = (".stl", ".obj", ".msh")
_JSON = 'save it as JSON instead: kn.save(model, "robot.json")'


def check_sayable(model: Model) -> None:
    """Refuse a model whose structure MJCF cannot hold: its algebra, the types of its joints and loop joints."""
    if model.algebra is not SPATIAL:
        raise ModelError(f"MJCF has no {model.algebra.name} models; {_JSON}", element=model.name)
    for joint in model.joints:
        if type(joint.type) not in (*TYPE_OF, Fixed):
            known = ", ".join(sorted({*TYPE_OF.values()}))
            text = f"MJCF has no joint for {type(joint.type).__name__}, only {known}; {_JSON}"
            raise ModelError(text, element=joint.name)
        if isinstance(joint.type, Free) and (joint.parent != ROOT or joint.X_tree != IDENTITY):
            text = f"a free joint of MJCF starts from the world's own frame, and this one does not; {_JSON}"
            raise ModelError(text, element=joint.name)
    for c in model.couplings:
        if polynomial(c) is None:
            text = f"MJCF couples a joint to one other by a quartic at most; this one {described(c, model.joint_names)}"
            raise ModelError(f"{text}; {_JSON}, or model.without_couplings()", element=model.joint_names[c.joint])
    for loop in model.loops:
        if type(loop.type) not in LOOPS:
            known = ", ".join(kind.__name__ for kind in LOOPS)
            text = f"MJCF has no constraint for a {type(loop.type).__name__} loop joint, only for {known}; {_JSON}"
            raise ModelError(text, element=loop.name)


def unsayable(model: Model) -> Iterator[tuple[str, str]]:
    """(where, what) of every property that is lost in MJCF, or is another one there."""
    if not wraps_base(model) and model.base.name != "world":
        yield model.base.name, "the name of the base, which is 'world' there"
    order = depth_first(model)
    if order != list(range(model.nb)):
        yield model.name, "the order of its joints: they are numbered depth first there"
    for joint in model.joints:
        for what in ("damping", "friction", "rotor_inertia", "stiffness"):
            if len(set(getattr(joint, what))) > 1:
                yield joint.name, f"a {what.replace('_', ' ')} that is not the same for all its freedoms"
        if drawn_at(joint) != joint.start:
            yield joint.name, f"that it starts at {joint.start}: a joint of this type starts at rest there"
        if isinstance(joint.type, Free) and any(joint.rotor_inertia[3:]):
            yield joint.name, "the rotor inertia of a free joint: its velocity terms are others there"
        if any(joint.stiffness) and joint.type.nv != 1:
            yield joint.name, "the spring of a joint with several freedoms"
        limits = joint.limits
        if any(map(math.isfinite, limits.velocity)):
            yield joint.name, "limits of velocity"
        if joint.type.nv != 1 and any(map(math.isfinite, (*limits.lower, *limits.upper, *limits.effort))):
            yield joint.name, "limits of a joint with several freedoms"
    yield from lost_elements(model)
    for soft in model.deformables:
        yield soft.name, "a deformable body"
    for key in model.keyframes:
        if any(key.ctrl):
            yield key.name, "inputs of actuators in a keyframe"
    for x in model.actuators:
        at, sites = x.transmission, {frame.name for frame in model.frames}
        ends = [at.frame] if isinstance(at, (AtFrame, BetweenFrames)) else []
        ends += [at.reference] if isinstance(at, BetweenFrames) else []
        if any(name not in sites for name in ends):
            yield x.name, "an actuator at the frame of a body, which is no site"
        if x.dynamics is not None and x.dynamics.state:
            yield x.name, "the state that an actuator begins with"
    for loop in model.loops:
        if isinstance(loop.type, Revolute):
            yield loop.name, "a pin as one joint: it is two pairs of points there that coincide"
    for body in (model.base, *model.bodies):
        for geometry in (*body.visuals, *body.collisions):
            if isinstance(geometry.shape, Mesh) and not has_mesh(geometry):
                yield body.name, f"mesh {os.path.basename(geometry.shape.uri)}, {_why_no_mesh(geometry.shape)}"
            if is_ground(geometry) and body is not model.base:
                what = "plane" if isinstance(geometry.shape, Plane) else "height field"
                yield body.name, f"a {what} on a body that moves"
            if geometry.material is not None and geometry.material.texture is not None:
                yield body.name, f"texture {geometry.material.texture}"
        if any(abs(x) >= 2**31 for g in body.collisions for x in (g.contact_type, g.contact_affinity)):
            yield body.name, "more than 31 bits of what a shape may touch"
    for surface in (*model.contact.surfaces, *(pair.contact for pair in model.contact.pairs)):
        for what in ("restitution", "stiffness", "damping"):
            if getattr(surface, what):
                yield surface.name, f"{what} {getattr(surface, what):g} of a surface"


def drawn_at(joint: TreeJoint) -> tuple[float, ...]:
    """The position in which MJCF draws a joint: where it starts, but for a ball, which it draws at rest."""
    return neutral_position(joint.type) if isinstance(joint.type, Spherical) else joint.start


def polynomial(coupling: Coupling) -> tuple[float, ...] | None:
    """The five coefficients of MuJoCo's joint equality, if a coupling is one."""
    law = coupling.law
    if isinstance(law, Linear) and len(law.ratios) == 1:
        return law.offset, law.ratios[0], 0.0, 0.0, 0.0
    if isinstance(law, Powers) and len(law.coefficients) <= 5:
        return (*law.coefficients, *(0.0,) * (5 - len(law.coefficients)))
    return None


def is_ground(geometry: Geometry) -> bool:
    """Whether a shape is one that MuJoCo has on the world only."""
    return isinstance(geometry.shape, (Plane, HeightField))


def has_mesh(geometry: Geometry) -> bool:
    """Whether a mesh is there and of a kind that MuJoCo reads."""
    shape = geometry.shape
    return isinstance(shape, Mesh) and shape.path is not None and shape.path.lower().endswith(MESHES)


def _why_no_mesh(shape: Mesh) -> str:
    return "which was not found" if shape.path is None else f"which is not one of {', '.join(MESHES)}"


def wraps_base(model: Model) -> bool:
    """Whether the base becomes a body of its own, on the world: it has a name or a mass, and nothing floats."""
    named = model.base.name != "world" or float(model.base.inertia.mass) != 0
    return named and not any(isinstance(joint.type, Free) for joint in model.joints)


def depth_first(model: Model) -> list[int]:
    """The bodies in the order in which nested elements have them."""
    order: list[int] = []
    waiting = list(model.children(ROOT))[::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += list(model.children(order[-1]))[::-1]
    return order
