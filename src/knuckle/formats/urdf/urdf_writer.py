"""`Model` to URDF."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from knuckle.errors import ModelError
from knuckle.formats.files import write_text
from knuckle.joints import Continuous
from knuckle.model import (
    ROOT,
    Body,
    Box,
    Capsule,
    Coupling,
    Cylinder,
    Frame,
    Geometry,
    Linear,
    LoopJoint,
    Material,
    Mesh,
    Model,
    Shape,
    Sphere,
    TreeJoint,
)
from knuckle.model.actuators import Actuator, AtJoints
from knuckle.spatial import IDENTITY, Inertia, Transform, rotation

from .inertial_element import is_zero
from .loop_element import TYPE_OF as LOOP_TYPE_OF
from .transmission_element import is_transmission
from .urdf_losses import SHAPES, TYPE_OF, check_sayable, unsayable

UNLIMITED = 1e16
"""How "no limit" is written: parsers want a number, and this one reads it back as none."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_urdf(model: Model, *, lossy: bool = False) -> str:
    """The URDF text of a model; reading it gives the model again, up to rounding in the last digit.

    Bodies become links, frames become links on fixed joints, a floating base a joint of type "floating" on a link
    without mass, loop joints part of an element <knuckle>, which other programs pass over. `lossy=True` writes a model
    whose rotor inertias, springs, gravity or shapes URDF cannot state, and lists what was left out in a comment;
    without it that is an error.

    Raises:
        ModelError: URDF cannot say it: a joint or loop joint of another type, a planar model, numbers that are symbols.
    """
    check_sayable(model)
    lost = list(unsayable(model))
    if lost and not lossy:
        where, what = lost[0]
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        text = f"URDF cannot say: {what}{more}; save it as JSON, or write_urdf(..., lossy=True) to leave it out"
        raise ModelError(text, element=where)
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines += [_comment(f"left out, URDF cannot say it: {where}: {what}") for where, what in lost]
    lines += [f"<robot{_attributes(name=model.name)}>"]
    lines += _indented(_link(model.base))
    parents = {ROOT: model.base.name, **dict(enumerate(model.body_names))}
    coupled, joint_names = model.coupled, model.joint_names
    for i, (body, joint) in enumerate(zip(model.bodies, model.joints, strict=True)):
        following = _mimic(coupled[i], joint_names) if i in coupled else []
        lines += _indented(_link(body))
        lines += _indented(_joint(joint, parents[joint.parent], body.name, following))
    taken = set(joint_names)
    for frame in model.frames:
        lines += _indented(_frame(frame, parents[frame.body], taken))
    for actuator in model.actuators:
        lines += _indented(_transmission(actuator))
    if model.loops:
        lines += _indented(_element("knuckle", {}, [line for loop in model.loops for line in _loop(loop, parents)]))
    return "\n".join([*lines, "</robot>", ""])


def write_urdf(model: Model, path: str | os.PathLike[str], *, lossy: bool = False) -> None:
    """Write a model as a URDF file; see `to_urdf`."""
    write_text(path, to_urdf(model, lossy=lossy))


def _transmission(actuator: Actuator) -> list[str]:
    at = actuator.transmission
    if not is_transmission(actuator) or not isinstance(at, AtJoints):
        return []
    reduction = f"<mechanicalReduction>{_text(at.gears[0], actuator.name)}</mechanicalReduction>"
    inside = [
        "<type>transmission_interface/SimpleTransmission</type>",
        *_element("joint", {"name": at.joints[0]}),
        *_element("actuator", {"name": actuator.name}, [reduction]),
    ]
    return _element("transmission", {"name": actuator.name}, inside)


def _link(body: Body) -> list[str]:
    inside = _inertial(body)
    inside += [line for geometry in body.visuals for line in _geometry("visual", geometry, body.name)]
    inside += [line for geometry in body.collisions for line in _geometry("collision", geometry, body.name)]
    return _element("link", {"name": body.name}, inside)


def _inertial(body: Body) -> list[str]:
    inertia: Inertia = body.inertia
    if is_zero(inertia):
        return []
    mass = _number(inertia.mass, body.name)
    if mass == 0:
        if any(_number(x, body.name) for x in inertia.h):
            raise ModelError("URDF cannot say a first moment of mass without a mass", element=body.name)
        com, I = (0.0, 0.0, 0.0), inertia.I
    else:
        com, I = inertia.com, inertia.I_com
    moments = {
        "ixx": I.xx, "ixy": I.xy, "ixz": I.xz, "iyy": I.yy, "iyz": I.yz, "izz": I.zz,
    }  # fmt: skip
    return _element(
        "inertial",
        {},
        [
            *_origin(Transform.translation(com), body.name),
            *_element("mass", {"value": _text(mass, body.name)}),
            *_element("inertia", {key: _text(x, body.name) for key, x in moments.items()}),
        ],
    )


def _geometry(tag: str, geometry: Geometry, owner: str) -> list[str]:
    if not isinstance(geometry.shape, SHAPES):
        return []
    name = {"name": geometry.name} if geometry.name else {}
    shape = _element("geometry", {}, _shape(geometry.shape, owner))
    return _element(tag, name, [*_origin(geometry.X, owner), *shape, *_material(geometry.material, owner)])


def _shape(shape: Shape, owner: str) -> list[str]:
    match shape:
        case Box(size):
            return _element("box", {"size": _texts(size, owner)})
        case Sphere(radius):
            return _element("sphere", {"radius": _text(radius, owner)})
        case Cylinder(radius, length):
            return _element("cylinder", {"radius": _text(radius, owner), "length": _text(length, owner)})
        case Capsule(radius, length):
            return _element("capsule", {"radius": _text(radius, owner), "length": _text(length, owner)})
        case Mesh(uri, scale):
            return _element("mesh", {"filename": uri, "scale": _texts(scale, owner)})
        case _:
            return []


def _material(material: Material | None, owner: str) -> list[str]:
    if material is None:
        return []
    color = [] if material.color is None else _element("color", {"rgba": _texts(material.color, owner)})
    texture = [] if material.texture is None else _element("texture", {"filename": material.texture})
    return _element("material", {"name": material.name}, [*color, *texture])


def _joint(joint: TreeJoint, parent: str, child: str, following: list[str]) -> list[str]:
    kind = joint.type
    inside = _origin(joint.X_tree, joint.name)
    inside += _element("parent", {"link": parent}) + _element("child", {"link": child})
    axis = getattr(kind, "axis", None) or getattr(kind, "normal", None)
    if axis is not None:
        inside += _element("axis", {"xyz": _texts(axis, joint.name)})
    if kind.nv == 1:
        inside += _limit(joint)
        if any((*joint.damping, *joint.friction)):
            resistance = {"damping": joint.damping[0], "friction": joint.friction[0]}
            inside += _element("dynamics", {key: _text(x, joint.name) for key, x in resistance.items()})
    inside += following
    return _element("joint", {"name": joint.name, "type": TYPE_OF[type(kind)]}, inside)


def _mimic(coupling: Coupling, joint_names: Sequence[str]) -> list[str]:
    name, source = joint_names[coupling.joint], joint_names[coupling.sources[0]]
    law = cast(Linear, coupling.law)
    numbers = {"multiplier": _text(law.ratios[0], name), "offset": _text(law.offset, name)}
    return _element("mimic", {"joint": source, **numbers})


def _limit(joint: TreeJoint) -> list[str]:
    limits = joint.limits
    span = {"lower": limits.lower[0], "upper": limits.upper[0]}
    rates = {"velocity": limits.velocity[0], "effort": limits.effort[0]}
    if type(joint.type) is Continuous:
        span = {}
        if all(math.isinf(x) for x in rates.values()):
            return []
    finite = {key: min(max(float(x), -UNLIMITED), UNLIMITED) for key, x in {**span, **rates}.items()}
    return _element("limit", {key: _text(x, joint.name) for key, x in finite.items()})


def _frame(frame: Frame, parent: str, taken: set[str]) -> list[str]:
    name = f"{frame.name}_joint"
    while name in taken:
        name += "_"
    taken.add(name)
    inside = _origin(frame.X, frame.name)
    inside += _element("parent", {"link": parent}) + _element("child", {"link": frame.name})
    return [*_element("link", {"name": frame.name}), *_element("joint", {"name": name, "type": "fixed"}, inside)]


def _loop(loop: LoopJoint, links: Mapping[int, str]) -> list[str]:
    """A loop joint, in an element that other programs pass over (`loops`)."""
    ends = (
        ("predecessor", loop.predecessor, loop.X_predecessor),
        ("successor", loop.successor, loop.X_successor),
    )
    inside = [line for tag, body, X in ends for line in _element(tag, {"link": links[body]}, _origin(X, loop.name))]
    axis = getattr(loop.type, "axis", None) or getattr(loop.type, "normal", None)
    for tag, xyz in zip(("axis", "second_axis"), getattr(loop.type, "axes", (axis,)), strict=False):
        inside += [] if xyz is None else _element(tag, {"xyz": _texts(xyz, loop.name)})
    return _element("loop", {"name": loop.name, "type": LOOP_TYPE_OF[type(loop.type)]}, inside)


def _origin(X: Transform, owner: str) -> list[str]:
    E = tuple(tuple(_number(x, owner) for x in row) for row in X.E)
    rpy: Any = rotation.to_rpy(E)  # type: ignore[arg-type]
    xyz, turn = _texts(X.r, owner), _texts(rpy, owner)
    return [] if X == IDENTITY else _element("origin", {"xyz": xyz, "rpy": turn})


def _number(x: Any, owner: str) -> float:
    try:
        value = float(x)
    except (TypeError, ValueError):
        raise ModelError(f"URDF holds numbers, not {type(x).__name__}: {x}", element=owner) from None
    if not math.isfinite(value):
        raise ModelError(f"URDF cannot say {value}", element=owner)
    return value + 0.0


def _text(x: Any, owner: str) -> str:
    return repr(_number(x, owner)).removesuffix(".0")


def _texts(values: Iterable[Any], owner: str) -> str:
    return " ".join(_text(x, owner) for x in values)


def _element(tag: str, attributes: Mapping[str, str], inside: list[str] | None = None) -> list[str]:
    start = f"<{tag}{_attributes(**attributes)}"
    return [f"{start}>", *_indented(inside), f"</{tag}>"] if inside else [f"{start}/>"]


def _attributes(**attributes: str) -> str:
    from xml.sax.saxutils import quoteattr  # which loads urllib and ssl: for those who write, not for those who read

    for value in attributes.values():
        if _NOT_XML.search(value):
            raise ModelError(f"{value!r} holds a character that XML cannot")
    return "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())


def _comment(text: str) -> str:
    return f"<!-- {_NOT_XML.sub('?', text).replace('--', '- -')} -->"


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
