"""Loop joints in URDF: an element of ours, which other programs pass over.

    <knuckle>
      <loop name="pin" type="revolute">
        <predecessor link="coupler"> <origin xyz="0.45 0 0.2" rpy="0 0 0"/> </predecessor>
        <successor link="rocker"> <origin xyz="-0.1 0 0.4" rpy="0 0 0"/> </successor>
        <axis xyz="0 1 0"/>
      </loop>
    </knuckle>

A frame on each of two links, and the joint between them. The axis is in the coordinates of both frames. A universal
joint has a second one, <second_axis>.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from knuckle.formats.xml import Element, shorten
from knuckle.joints import Continuous, Cylindrical, Fixed, Joint, Planar, Prismatic, Revolute, Spherical, Universal
from knuckle.model import LoopJoint
from knuckle.spatial import Transform

from .joint_element import axis_of
from .origin_element import origin
from .urdf_source import UrdfSource, called

ALONG_AXIS: Mapping[str, Callable[..., Joint]] = {
    "revolute": Revolute,
    "continuous": Continuous,
    "prismatic": Prismatic,
    "cylindrical": Cylindrical,
    "planar": Planar,
}
OTHERS: Mapping[str, Callable[[], Joint]] = {"fixed": Fixed, "spherical": Spherical}
TYPE_OF: dict[type[Joint], str] = {
    Revolute: "revolute", Continuous: "continuous", Prismatic: "prismatic", Cylindrical: "cylindrical",
    Planar: "planar", Fixed: "fixed", Spherical: "spherical", Universal: "universal",
}  # fmt: skip


def read_loops(
    source: UrdfSource, robot: Element, numbers: Mapping[str, int], joints: Collection[str]
) -> tuple[LoopJoint, ...]:
    """The <loop> elements of a document. `numbers` are the bodies by their links' names."""
    found: dict[str, LoopJoint] = {}
    for extension in robot.children:
        if extension.tag != "knuckle":
            continue
        source.account(extension, "knuckle", ("loop",), ())
        for element in extension.children:
            if element.tag == "loop":
                name = source.name(element, (*joints, *found), "loop")
                found[name] = _loop(source, element, name, numbers)
    return tuple(found.values())


def _loop(source: UrdfSource, element: Element, name: str, numbers: Mapping[str, int]) -> LoopJoint:
    owner = called("loop", name)
    source.account(element, name, ("predecessor", "successor", "axis", "second_axis"), ("name", "type"))
    kind = _kind(source, element, owner, name)
    (p, X_p), (s, X_s) = (_end(source, element, tag, name, numbers) for tag in ("predecessor", "successor"))
    return LoopJoint(name, kind, p, s, X_p, X_s)


def _end(
    source: UrdfSource, element: Element, tag: str, name: str, numbers: Mapping[str, int]
) -> tuple[int, Transform]:
    """The body and the place on it of one end of a loop joint."""
    owner = called("loop", name)
    end = source.required(element, tag, owner)
    source.account(end, name, ("origin",), ("link",))
    link = source.attribute(end, "link", owner)
    if link not in numbers:
        raise source.error(end, owner, f"there is no link {shorten(link)!r}{source.near(link, numbers.keys())}")
    return numbers[link], origin(source, end, owner, name)


def _kind(source: UrdfSource, element: Element, owner: str, name: str) -> Joint:
    word = source.attribute(element, "type", owner)
    axis, second = (source.child(element, tag, owner) for tag in ("axis", "second_axis"))
    if word == "universal":
        axes = [axis_of(source, source.required(element, tag, owner), owner, name) for tag in ("axis", "second_axis")]
        try:
            return Universal(axes)
        except ValueError as error:
            raise source.error(element, owner, str(error)) from None
    if second is not None:
        source.note("info", second, name, f"<second_axis> ignored: a {word} joint has none")
    if word in ALONG_AXIS:
        return ALONG_AXIS[word](axis_of(source, axis, owner, name))
    if word in OTHERS:
        if axis is not None:
            source.note("info", axis, name, f"<axis> ignored: a {word} joint has none")
        return OTHERS[word]()
    raise source.error(element, owner, f'type="{shorten(word)}"; a loop has: {", ".join(TYPE_OF.values())}')
