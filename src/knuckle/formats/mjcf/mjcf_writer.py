"""`Model` to MJCF."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from knuckle.errors import ModelError
from knuckle.formats.files import write_text
from knuckle.joints import Continuous, Fixed, Free, Revolute
from knuckle.model import ROOT, Body, Coupling, Frame, LoopJoint, Model, TreeJoint
from knuckle.model.joint_position import neutral_position
from knuckle.spatial import Inertia, Transform, Vector, rotation
from knuckle.spatial.three import transpose

from .equality import composed
from .geoms.write_contact import GeomNames, exclusions, geom_names, pair_words
from .geoms.write_shapes import ShapeWriter, add_assets
from .joint_variables import to_qpos, to_qvel
from .mjcf_losses import TYPE_OF, check_sayable, depth_first, drawn_at, polynomial, unsayable, wraps_base
from .write_tendons import TendonWords, Words, actuator_words

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PIN = 0.1
"""How far apart the two points are, in metres, that make a pin of a loop."""


def to_mjcf(model: Model, *, lossy: bool = False) -> str:
    """The MJCF text of a model: what MuJoCo moves in the same way, with its soft constraints and contacts.

    Bodies nest, frames become sites, a base with a name or a mass becomes a body that stands still, couplings become
    joint equalities, and loop joints welds or points that coincide. Shapes to draw are in MuJoCo's group 2 and collide
    with nothing; shapes to collide are in group 3, with their friction; planes and height fields are on the world.
    `lossy=True` writes a model of which MJCF cannot say everything, and lists what was left out in a comment; without
    it that is an error.

    Raises:
        ModelError: MJCF cannot say it: a joint of another type, a planar model, numbers that are symbols.
    """
    from xml.etree import ElementTree

    check_sayable(model)
    lost = list(unsayable(model))
    if lost and not lossy:
        where, what = lost[0]
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        raise ModelError(
            f"MJCF cannot say: {what}{more}; save it as JSON, or use lossy=True to leave it out", element=where
        )
    root = ElementTree.Element("mujoco", model=model.name)
    for where, what in lost:
        text = _NOT_XML.sub("?", f" left out, MJCF cannot say it: {where}: {what} ")
        root.append(ElementTree.Comment(text.replace("--", "- -")))
    compiler = {"angle": "radian", "autolimits": "true", "inertiafromgeom": "false", "fusestatic": "false"}
    _add(root, "compiler", **compiler)
    _add(root, "option", gravity=texts(model.gravity, model.name))
    add_assets(root, model)
    names = geom_names(model)
    tendons = TendonWords(model, {*names.values()})
    _add_world(root, model, names, tendons)
    _add_contact(root, model, names)
    _add_equalities(root, model)
    _add_tendons(root, tendons)
    _add_actuators(root, model, tendons)
    _add_keyframes(root, model)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def write_mjcf(model: Model, path: str | os.PathLike[str], *, lossy: bool = False) -> None:
    """Write a model as an MJCF file; see `to_mjcf`."""
    write_text(path, to_mjcf(model, lossy=lossy))


def _add_world(root: Element, model: Model, geoms: GeomNames, tendons: TendonWords) -> None:
    world = _add(root, "worldbody")
    place = _add(world, "body", name=model.base.name) if wraps_base(model) else world
    if place is not world:
        _add_inertial(place, model.base)
    shapes = ShapeWriter(model, geoms)
    shapes.add(place, ROOT, world)
    _add_sites(place, model, ROOT)
    elements = {ROOT: place}
    for i, (body, joint) in enumerate(zip(model.bodies, model.joints, strict=True)):
        element = _add(elements[joint.parent], "body", name=body.name, **placement(_drawn(joint), joint.name))
        _add_joint(element, joint)
        _add_inertial(element, body)
        shapes.add(element, i)
        _add_sites(element, model, i)
        elements[i] = element
    for loop in model.loops:
        _add_loop_sites(elements, loop)
    for tag, parts in (("site", tendons.sites), ("geom", tendons.geoms)):
        for body, words in parts:
            _add(elements[body], tag, **_in_words(words, words["name"]))


def _drawn(joint: TreeJoint) -> Transform:
    """From the parent's frame to the body's where the file draws it: there MuJoCo's variables are `ref`."""
    at = drawn_at(joint)
    return joint.X_tree if at == neutral_position(joint.type) else joint.type.transform(Vector(at)) @ joint.X_tree


def _add_joint(element: Element, joint: TreeJoint) -> None:
    kind, limits = joint.type, joint.limits
    if isinstance(kind, Fixed):
        return
    said = {"name": joint.name, "type": TYPE_OF[type(kind)]}
    if not isinstance(kind, Free):
        said["pos"] = "0 0 0"
    axis = getattr(kind, "axis", None)
    if axis is not None:
        said["axis"] = texts(axis, joint.name)
    if kind.nv == 1 and type(kind) is not Continuous:
        ends = limits.lower[0], limits.upper[0]
        if any(map(math.isfinite, ends)):
            said["range"] = texts((min(max(x, -1e10), 1e10) for x in ends), joint.name)
    if kind.nv == 1 and joint.start[0]:
        said["ref"] = text(joint.start[0], joint.name)
    if kind.nv == 1 and math.isfinite(limits.effort[0]):
        said["actuatorfrcrange"] = texts((-limits.effort[0], limits.effort[0]), joint.name)
    for word, what in (("damping", "damping"), ("frictionloss", "friction"), ("armature", "rotor_inertia")):
        values = getattr(joint, what)
        if any(values) and len(set(values)) == 1:
            said[word] = text(values[0], joint.name)
    if kind.nv == 1 and any(joint.stiffness):
        said["stiffness"] = text(joint.stiffness[0], joint.name)
        said["springref"] = text(joint.rest[0], joint.name)
    _add(element, "joint", **said)


def _add_inertial(element: Element, body: Body) -> None:
    inertia: Inertia = body.inertia
    mass = number(inertia.mass, body.name)
    if mass == 0:
        if any(number(x, body.name) for x in (*inertia.h, *inertia.I)):
            raise ModelError("MJCF cannot say an inertia without a mass", element=body.name)
        return
    I = inertia.I_com
    diagonal, across = (I.xx, I.yy, I.zz), (I.xy, I.xz, I.yz)
    moments = (
        {"fullinertia": texts((*diagonal, *across), body.name)}
        if any(number(x, body.name) for x in across)
        else {"diaginertia": texts(diagonal, body.name)}
    )
    _add(element, "inertial", pos=texts(inertia.com, body.name), mass=text(mass, body.name), **moments)


def _add_sites(element: Element, model: Model, i: int) -> None:
    for frame in model.frames:
        if frame.body == i:
            _add_site(element, frame)


def _add_site(element: Element, frame: Frame) -> None:
    _add(element, "site", name=frame.name, **placement(frame.X, frame.name))


def _add_contact(root: Element, model: Model, geoms: GeomNames) -> None:
    apart, pairs = exclusions(model), list(pair_words(model, geoms))
    contact = _add(root, "contact") if apart or pairs else root
    for one, two in apart:
        _add(contact, "exclude", body1=one, body2=two)
    for words in pairs:
        _add(contact, "pair", **words)


def _names(model: Model) -> dict[int, str]:
    base = model.base.name if wraps_base(model) else "world"
    return {ROOT: base, **dict(enumerate(model.body_names))}


def _add_equalities(root: Element, model: Model) -> None:
    if not model.couplings and not model.loops:
        return
    equality = _add(root, "equality")
    for c in model.couplings:
        name, source = model.joint_names[c.joint], model.joint_names[c.sources[0]]
        _add(equality, "joint", joint1=name, joint2=source, polycoef=texts(_from_start(model, c), name))
    names = _names(model)
    for loop in model.loops:
        _add_loop(equality, loop, names[loop.predecessor], names[loop.successor])


def _from_start(model: Model, coupling: Coupling) -> tuple[float, ...]:
    """The coefficients of a coupling in MuJoCo's variables, which count from where the two joints start."""
    follower, leader = (model.joints[k].start[0] for k in (coupling.joint, coupling.sources[0]))
    a0, *others = composed(polynomial(coupling) or (), (leader, 1.0))
    return (a0 - follower, *others, *(0.0,) * (4 - len(others)))


def _add_tendons(root: Element, tendons: TendonWords) -> None:
    parent = _add(root, "tendon") if tendons.tendons or tendons.wound else root
    for name, words, entries in tendons.tendons:
        tendon = _add(parent, "spatial", name=name, **_in_words(words, name))
        for tag, entry in entries:
            _add(tendon, tag, **_in_words(entry, name))
    for name, words, windings in tendons.wound:
        tendon = _add(parent, "fixed", name=name, **_in_words(words, name))
        for winding in windings:
            _add(tendon, "joint", **_in_words(winding, name))


def _add_actuators(root: Element, model: Model, tendons: TendonWords) -> None:
    parent = _add(root, "actuator") if tendons.muscles or model.actuators else root
    for words in tendons.muscles:
        _add(parent, "muscle", **_in_words(words, words["name"]))
    for words in actuator_words(model):
        _add(parent, "general", **_in_words(words, words["name"]))


def _in_words(words: Words, owner: str) -> dict[str, str]:
    """Attributes as texts; a transform becomes `pos` and `quat`."""
    said = dict[str, str]()
    for key, value in words.items():
        if isinstance(value, Transform):
            said |= placement(value, owner)
        elif isinstance(value, str):
            said[key] = value
        else:
            said[key] = texts(value if isinstance(value, tuple) else (value,), owner)
    return said


def _add_keyframes(root: Element, model: Model) -> None:
    if not model.keyframes:
        return
    keys, order = _add(root, "keyframe"), depth_first(model)
    kinds = [joint.type for joint in model.joints]
    for key in model.keyframes:
        qs, vs = (
            [tuple(float(x) for x in part) for part in parts]
            for parts in (model.positions(key.q), model.velocities(key.q, key.v))
        )
        said = {
            "name": key.name,
            "qpos": texts((x for i in order for x in to_qpos(kinds[i], qs[i])), key.name),
            "qvel": texts((x for i in order for x in to_qvel(kinds[i], qs[i], vs[i])), key.name),
        }
        _add(keys, "key", **said, **({"time": text(key.time, key.name)} if key.time else {}))


def _add_loop(equality: Element, loop: LoopJoint, predecessor: str, successor: str) -> None:
    """A weld of the two frames, or pairs of sites that coincide."""
    if isinstance(loop.type, Fixed):
        # the held point in the first body's frame, the second one's orientation there, and the point in the second
        turn = placement(loop.X_successor.inverse() @ loop.X_predecessor, loop.name).get("quat", "1 0 0 0")
        pose = f"{texts(loop.X_predecessor.r, loop.name)} {turn}"
        anchor = texts(loop.X_successor.r, loop.name)
        _add(equality, "weld", name=loop.name, body1=predecessor, body2=successor, relpose=pose, anchor=anchor)
        return
    for name, _ in _points(loop):
        _add(equality, "connect", name=name, site1=f"{name}/1", site2=f"{name}/2")


def _add_loop_sites(elements: Mapping[int, Element], loop: LoopJoint) -> None:
    for name, point in _points(loop):
        ends = (loop.predecessor, loop.X_predecessor), (loop.successor, loop.X_successor)
        for k, (body, X) in enumerate(ends):
            _add(elements[body], "site", name=f"{name}/{k + 1}", pos=texts(_point(X, point), name), group="4")


def _points(loop: LoopJoint) -> list[tuple[str, tuple[float, ...]]]:
    """The points that coincide, with their names: the origin for a ball, two points on its axis for a pin."""
    if isinstance(loop.type, Fixed):
        return []
    if not isinstance(loop.type, Revolute):
        return [(loop.name, (0.0, 0.0, 0.0))]
    axis = tuple(_PIN / 2 * float(x) for x in loop.type.axis)
    return [(f"{loop.name}/below", tuple(-x for x in axis)), (f"{loop.name}/above", axis)]


def _point(X: Transform, p: tuple[Any, ...]) -> tuple[float, ...]:
    """A point of the frame that X leads to, in the coordinates X starts from."""
    turned = [sum(float(e) * float(x) for e, x in zip(row, p, strict=True)) for row in transpose(X.E)]
    return tuple(float(r) + t for r, t in zip(X.r, turned, strict=True))


# numbers and elements


def placement(X: Transform, owner: str) -> dict[str, str]:
    """`pos` and `quat` of the frame that X leads to, left out where they say nothing."""
    quat: Any = rotation.to_quaternion(tuple(tuple(number(x, owner) for x in row) for row in X.E))  # type: ignore[arg-type]
    said = {"pos": tuple(number(x, owner) for x in X.r), "quat": tuple(number(x, owner) for x in quat)}
    still = {"pos": (0.0, 0.0, 0.0), "quat": (1.0, 0.0, 0.0, 0.0)}
    return {key: texts(value, owner) for key, value in said.items() if value != still[key]}


def number(x: Any, owner: str) -> float:
    """A finite float."""
    try:
        value = float(x)
    except (TypeError, ValueError):
        raise ModelError(f"MJCF holds numbers, not {type(x).__name__}: {x}", element=owner) from None
    if not math.isfinite(value):
        raise ModelError(f"MJCF cannot say {value}", element=owner)
    return value + 0.0


def text(x: Any, owner: str) -> str:
    """A number to its last digit."""
    return repr(number(x, owner)).removesuffix(".0")


def texts(values: Iterable[Any], owner: str) -> str:
    """Numbers with spaces between them."""
    return " ".join(text(x, owner) for x in values)


def _add(parent: Element, tag: str, /, **attributes: str) -> Element:
    from xml.etree.ElementTree import SubElement

    for value in attributes.values():
        if _NOT_XML.search(value):
            raise ModelError(f"{value!r} holds a character that XML cannot")
    return SubElement(parent, tag, attributes)
