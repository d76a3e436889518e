"""URDF to `Model`."""

from __future__ import annotations

import os
from collections.abc import Iterable

from knuckle.errors import ModelError
from knuckle.formats.base_link import check_base, floating
from knuckle.formats.impossible_bodies import warn_of_bodies
from knuckle.formats.xml import Element, parse_xml, shorten
from knuckle.model import ROOT, Body, Model, Note, Provenance, TreeJoint
from knuckle.model.edit import merge_fixed as merge_fixed_joints

from .inertial_element import inertial
from .joint_element import JointEntry, read_joint
from .loop_element import read_loops
from .mesh_paths import Resources
from .shape_elements import Shapes
from .transmission_element import read_transmissions
from .urdf_source import UrdfSource
from .urdf_tree import arrange, couplings
from .xacro import refuse_xacro


def read_urdf(
    data: bytes | str,
    *,
    file: str | None = None,
    base: str = "fixed",
    mimic: bool = True,
    merge_fixed: bool = True,
    package_dirs: Iterable[str | os.PathLike[str]] = (),
) -> Model:
    """The model a URDF document describes.

    Args:
        data: the document.
        file: its path, for errors and to find meshes from.
        base: "fixed" makes the root link the base; "floating" puts it on a free joint "floating_base".
        mimic: whether joints with <mimic> follow their source or move by themselves.
        merge_fixed: whether links on fixed joints become part of their parents and stay as frames.
        package_dirs: folders in which package:// names are looked for first.

    Raises:
        ModelError: the file cannot be used; the message has the line and the element.
    """
    check_base(base)
    robot = parse_xml(data, file=file)
    return from_element(robot, file, base, mimic, merge_fixed, package_dirs)


def from_element(
    robot: Element,
    file: str | None,
    base: str,
    mimic: bool,
    merge_fixed: bool,
    package_dirs: Iterable[str | os.PathLike[str]],
) -> Model:
    """The model of a parsed document."""
    source = UrdfSource(file)
    refuse_xacro(robot, file)
    _refuse_other_documents(source, robot)
    source.account(robot, "robot", ("link", "joint", "material", "knuckle", "transmission"), ("name", "version"))
    name = robot.attributes.get("name", "").strip()
    if not name:
        name = os.path.splitext(os.path.basename(file))[0] if file else "robot"
        source.note("warning", robot, "robot", f"<robot> has no name; called {name!r}")
    shapes = Shapes(source, Resources(file, package_dirs))
    for element in robot.children:
        if element.tag == "material":
            shapes.define(element)
    bodies, links = _links(source, robot, shapes)
    root, joints = arrange(source, robot, links, _joints(source, robot))
    coupled = couplings(source, joints)
    for k in [c.joint for c in coupled] if not mimic else []:
        source.note("info", joints[k].element, joints[k].name, "<mimic> ignored as asked for: it moves by itself")
    numbers = {root: ROOT, **{joint.child: k for k, joint in enumerate(joints)}}
    model = Model(
        bodies=tuple(bodies[joint.child] for joint in joints),
        joints=tuple(_tree_joint(joint, numbers[joint.parent]) for joint in joints),
        loops=read_loops(source, robot, numbers, [joint.name for joint in joints]),
        couplings=tuple(coupled) if mimic else (),
        actuators=read_transmissions(source, robot, [joint.name for joint in joints if joint.type.nv == 1]),
        name=name,
        base=bodies[root],
        provenance=Provenance(file, "urdf", (*source.notes, _summary(source, name))),
    )
    warn_of_bodies(file or name, bodies.values())
    if merge_fixed:
        model = merge_fixed_joints(model)
    if base == "floating":
        model = floating(model)
    return model


def _refuse_other_documents(source: UrdfSource, robot: Element) -> None:
    """Only URDF is URDF: not SDF, not MJCF."""
    if robot.tag != "robot":
        others = {"mujoco": "an MJCF file", "sdf": "an SDF file, which knuckle does not read"}
        text = f"this is {others[robot.tag]}" if robot.tag in others else "this is no URDF file"
        raise ModelError(
            f"{text}; URDF has a <robot> outermost",
            file=source.file,
            line=robot.line,
            element=f"<{shorten(robot.tag)}>",
        )


def _links(source: UrdfSource, robot: Element, shapes: Shapes) -> tuple[dict[str, Body], dict[str, Element]]:
    bodies: dict[str, Body] = {}
    links: dict[str, Element] = {}
    for element in robot.children:
        if element.tag != "link":
            continue
        name = source.name(element, links, "link")
        source.account(element, name, ("inertial", "visual", "collision"), ("name",))
        links[name] = element
        inertia = inertial(source, element, name)
        visuals, collisions = (shapes.of(element, tag, name) for tag in ("visual", "collision"))
        bodies[name] = Body(name, inertia, visuals, collisions)
    return bodies, links


def _joints(source: UrdfSource, robot: Element) -> list[JointEntry]:
    joints: dict[str, JointEntry] = {}
    for element in robot.children:
        if element.tag == "joint":
            name = source.name(element, joints, "joint")
            joints[name] = read_joint(source, element, name)
    return list(joints.values())


def _tree_joint(joint: JointEntry, parent: int) -> TreeJoint:
    nv = joint.type.nv
    damping, friction = (joint.damping,) * nv, (joint.friction,) * nv
    return TreeJoint(joint.name, joint.type, parent, joint.X, joint.limits, damping, friction)


def _summary(source: UrdfSource, name: str) -> Note:
    counts = ", ".join(f"{n} <{tag}>" for tag, n in sorted(source.read.items()))
    return Note("info", name, f"read: {counts}")
