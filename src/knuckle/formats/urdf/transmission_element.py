"""Transmissions of URDF: motors at joints, through gears.

    <transmission name="elbow_transmission">
      <type>transmission_interface/SimpleTransmission</type>
      <joint name="elbow"/>
      <actuator name="elbow_motor"> <mechanicalReduction>50</mechanicalReduction> </actuator>
    </transmission>

The joint force is the reduction times the motor's, and no more than the joint's effort.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from knuckle.formats.xml import Element, shorten
from knuckle.model.actuators import Actuator, AtJoints, motor

from .urdf_source import UrdfSource, called

SIMPLE = "SimpleTransmission"


def read_transmissions(source: UrdfSource, robot: Element, joints: Collection[str]) -> tuple[Actuator, ...]:
    """The motors of a document; a warning for transmissions that are not simple ones."""
    found: dict[str, Actuator] = {}
    for element in robot.children:
        if element.tag != "transmission":
            continue
        source.read[element.tag] += 1
        name = element.attributes.get("name", "").strip() or "transmission"
        kind = _kind(element)
        ends = {tag: [child for child in element.children if child.tag == tag] for tag in ("joint", "actuator")}
        if not kind.endswith(SIMPLE) or any(len(children) != 1 for children in ends.values()):
            text = f"ignored: only a {SIMPLE} of one joint and one actuator is known, not {shorten(kind)!r}"
            source.note("warning", element, name, text)
            continue
        (joint,), (actuator,) = ends["joint"], ends["actuator"]
        at = source.attribute(joint, "name", called("transmission", name))
        if at not in joints:
            text = f"ignored: there is no joint {shorten(at)!r} that moves{source.near(at, joints)}"
            source.note("warning", element, name, text)
            continue
        own = actuator.attributes.get("name", "").strip() or name
        while own in found:
            own += "_"
        found[own] = motor(own, at, gear=_reduction(source, (actuator, joint, element), name))
    return tuple(found.values())


def is_transmission(actuator: Actuator) -> bool:
    """Whether URDF has a transmission for an actuator: a motor at one joint, without ranges of its own."""
    at = actuator.transmission
    is_plain = actuator.control_range is None and actuator.force_range is None and actuator.gain == (1.0, 0.0, 0.0)
    return isinstance(at, AtJoints) and len(at.joints) == 1 and is_plain and not any(actuator.bias)


def _kind(element: Element) -> str:
    words = [child.text.strip() for child in element.children if child.tag == "type"]
    return (words or [element.attributes.get("type", "").strip()])[0]


def _reduction(source: UrdfSource, elements: tuple[Element, ...], name: str) -> float:
    """The first mechanicalReduction of some elements; 1 where there is none."""
    for parent in elements:
        for child in parent.children:
            if child.tag == "mechanicalReduction":
                try:
                    value = float(child.text)
                except ValueError:
                    value = math.nan
                if not math.isfinite(value):
                    text = f"{shorten(child.text.strip())!r} is not a finite number"
                    raise source.error(child, called("transmission", name), text)
                return value
    return 1.0
