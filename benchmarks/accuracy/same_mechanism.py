"""The mechanism that a URDF file states, in fifty digits, and the file for other libraries.

Every number of the file is taken as the double that a library reads; whatever follows from them (rotations from roll,
pitch and yaw, unit axes, moments about other points) has fifty digits. So a library's error has what it loses while it
reads the file, and none is judged by how another one reads it.
"""

from __future__ import annotations

import dataclasses
import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import knuckle as kn
from knuckle.accuracy.exact_model import unit_axis
from knuckle.accuracy.many_digits import digits_of
from knuckle.formats import right_angles
from knuckle.formats.urdf import number_attributes

PLAIN = {"lower", "upper", "effort", "velocity", "damping", "friction", "multiplier", "offset"}


def read_exactly(path: Path, base: Any) -> kn.Model:
    """The model of a file in many digits, without friction, mimic joints independent."""
    number, snap = number_attributes._number, right_angles.snap

    def many(source: Any, element: Any, key: str, word: str, owner: str) -> Any:
        x = number(source, element, key, word, owner)
        return x if x in (0.0, 1.0, -1.0) or key in PLAIN else digits_of(x)

    number_attributes._number, right_angles.snap = many, tuple  # type: ignore[assignment]
    try:
        model = kn.load(path, base=base, mimic=False).without_friction()
    finally:
        number_attributes._number, right_angles.snap = number, snap
    axes = _axes(path)
    joints = list(model.joints)
    for k, joint in enumerate(joints):
        if joint.name in axes and getattr(joint.type, "axis", None) is not None:
            kind = dataclasses.replace(joint.type)
            object.__setattr__(kind, "axis", unit_axis(axes[joint.name]))
            joints[k] = dataclasses.replace(joint, type=kind)
    return model.replace(joints=tuple(joints), gravity=tuple(digits_of(x) if x else x for x in model.gravity))


def read_as_usual(path: Path, base: Any) -> kn.Model:
    """The same by knuckle in doubles."""
    return kn.load(path, base=base, mimic=False).without_friction()


def _axes(path: Path) -> dict[str, tuple[float, ...]]:
    """The axes that are no coordinate axes, as the file states them."""
    found: dict[str, tuple[float, ...]] = {}
    for joint in ElementTree.parse(path).getroot().iter("joint"):
        axis = joint.find("axis")
        if axis is not None:
            numbers = tuple(float(x) for x in axis.get("xyz", "1 0 0").split())
            if sum(1 for x in numbers if x) > 1:
                found[str(joint.get("name"))] = numbers
    return found


def plain_text(path: Path, for_mujoco: bool = False, base: str = "fixed") -> str:
    """The file without shapes, damping, mimics and transmissions, and with continuous joints as revolute ones.

    Shapes need meshes. A link called "world" has a meaning of its own to some libraries, and is renamed. Some libraries
    take the sine and cosine of a continuous joint for its position, and then it is not the angle that was rounded. For
    MuJoCo a floating base is a joint of the file.
    """
    return plain_text_of(path.read_text("utf-8"), for_mujoco, base)


def plain_text_of(text: str, for_mujoco: bool = False, base: str = "fixed") -> str:
    """The same of the text of a file."""
    root = ElementTree.fromstring(text)
    for link in root.iter("link"):
        for shape in [child for child in link if child.tag in ("visual", "collision")]:
            link.remove(shape)
    for element in root.iter():
        for key in ("name", "link"):
            if element.tag in ("link", "parent", "child") and element.get(key) == "world":
                element.set(key, "root_of_the_file")
    for joint in root.iter("joint"):
        if joint.get("type") == "continuous":
            joint.set("type", "revolute")
        for child in [child for child in joint if child.tag in ("dynamics", "mimic", "limit", "safety_controller")]:
            joint.remove(child)
        wide = {"lower": str(-9 * math.pi), "upper": str(9 * math.pi), "effort": "1e9", "velocity": "1e9"}
        joint.append(ElementTree.Element("limit", wide))
    for child in [child for child in root if child.tag not in ("link", "joint")]:
        root.remove(child)
    if for_mujoco:
        extension = ElementTree.SubElement(root, "mujoco")
        ElementTree.SubElement(extension, "compiler", {"fusestatic": "true", "balanceinertia": "false"})
        if base == "floating":
            children = {joint.find("child").get("link") for joint in root.iter("joint")}  # type: ignore[union-attr]
            first = next(link.get("name") for link in root.iter("link") if link.get("name") not in children)
            joint = ElementTree.SubElement(root, "joint", {"name": "floating_base", "type": "floating"})
            ElementTree.SubElement(joint, "parent", {"link": "the_whole_world"})
            ElementTree.SubElement(joint, "child", {"link": str(first)})
            ElementTree.SubElement(root, "link", {"name": "the_whole_world"})
    return ElementTree.tostring(root, encoding="unicode")
