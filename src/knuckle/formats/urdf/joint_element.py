"""<joint>: its type, place, axis, limits, resistance and the joint it follows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from knuckle.formats.right_angles import snap
from knuckle.formats.xml import Element, shorten
from knuckle.joints import Continuous, Fixed, Free, Joint, Planar, Prismatic, Revolute
from knuckle.model import Limits
from knuckle.spatial import Transform

from .number_attributes import bound, number, numbers
from .origin_element import origin
from .urdf_source import UrdfSource, called

_TAGS = (
    "origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"
)  # fmt: skip
_ALONG_AXIS = {"revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic, "planar": Planar}
_OTHERS = {"fixed": Fixed, "floating": Free}
TYPES = (*_ALONG_AXIS, *_OTHERS)
_NORMALISED = 1e-9


@dataclass(frozen=True)
class Following:
    """A <mimic>: q = ratio · q(source) + offset."""

    source: str
    ratio: float
    offset: float
    element: Element


@dataclass(frozen=True)
class JointEntry:
    """A joint as the file states it."""

    name: str
    type: Joint
    parent: str
    child: str
    X: Transform
    limits: Limits
    damping: float
    friction: float
    mimic: Following | None
    element: Element

    @property
    def owner(self) -> str:
        return called("joint", self.name)


def read_joint(source: UrdfSource, element: Element, name: str) -> JointEntry:
    """A <joint> element."""
    owner = called("joint", name)
    source.account(element, name, _TAGS, ("name", "type"))
    kind = _kind(source, element, owner, name)
    for tag in ("calibration", "safety_controller"):
        if (child := source.child(element, tag, owner)) is not None:
            stated = ", ".join(f"{key}={shorten(value)}" for key, value in child.attributes.items())
            source.note("info", child, name, f"<{tag}> ignored: {stated}")
    damping, friction = _resistance(source, element, kind, owner, name)
    return JointEntry(
        name,
        kind,
        _link(source, element, "parent", owner, name),
        _link(source, element, "child", owner, name),
        origin(source, element, owner, name),
        _limits(source, element, kind, owner, name),
        damping,
        friction,
        _mimic(source, element, kind, owner, name),
        element,
    )


def _kind(source: UrdfSource, element: Element, owner: str, name: str) -> Joint:
    word = source.attribute(element, "type", owner)
    axis = source.child(element, "axis", owner)
    if word in _ALONG_AXIS:
        return _ALONG_AXIS[word](axis_of(source, axis, owner, name))
    if word in _OTHERS:
        if axis is not None:
            source.note("info", axis, name, f"<axis> ignored: a {word} joint has none")
        return _OTHERS[word]()
    raise source.error(element, owner, f'type="{shorten(word)}"; URDF has: {", ".join(TYPES)}')


def axis_of(source: UrdfSource, element: Element | None, owner: str, name: str) -> tuple[float, ...]:
    """An <axis>, of length 1; x, where there is none."""
    if element is None:
        return (1.0, 0.0, 0.0)
    source.account(element, name, (), ("xyz",))
    axis = numbers(source, element, "xyz", 3, owner, (1.0, 0.0, 0.0))
    length = math.hypot(*axis)
    if length == 0:
        raise source.error(element, owner, 'xyz="0 0 0": an axis needs a direction')
    unit = tuple(map(float, snap([x / length for x in axis])))
    if abs(length - 1) > _NORMALISED:
        source.note("info", element, name, f"axis of length {length:.9g} normalised to length 1")
    return unit


def _link(source: UrdfSource, joint: Element, tag: str, owner: str, name: str) -> str:
    element = source.required(joint, tag, owner)
    source.account(element, name, (), ("link",))
    return source.attribute(element, "link", owner)


def _limits(source: UrdfSource, joint: Element, kind: Joint, owner: str, name: str) -> Limits:
    """<limit>: lower and upper are 0 where not stated, as the format says; without the element there are none."""
    element = source.child(joint, "limit", owner)
    free = Limits.none(kind.nq, kind.nv)
    if element is None:
        if isinstance(kind, (Revolute, Prismatic)) and not isinstance(kind, Continuous):
            source.note("info", joint, name, "no <limit>: the joint is not limited")
        return free
    if kind.nv != 1:
        source.note("info", element, name, "<limit> ignored: it is for joints of one freedom")
        return free
    source.account(element, name, (), ("lower", "upper", "velocity", "effort"))
    velocity, effort = (bound(source, element, key, owner, math.inf) for key in ("velocity", "effort"))
    for key, value in (("velocity", velocity), ("effort", effort)):
        if value < 0:
            source.note("warning", element, name, f"{key} limit {value:g} is negative")
        if key not in element.attributes:
            source.note("info", element, name, f"no {key} limit: taken as infinite")
    lower, upper = (bound(source, element, key, owner, 0.0) for key in ("lower", "upper"))
    if isinstance(kind, Continuous):
        return Limits(free.lower, free.upper, (velocity,), (effort,))
    if lower > upper:
        source.note("warning", element, name, f"the lower limit {lower:g} is above the upper limit {upper:g}")
    if lower == upper:
        source.note("warning", element, name, f"the limits leave no room to move: {lower:g} to {upper:g}")
    return Limits((lower,), (upper,), (velocity,), (effort,))


def _resistance(source: UrdfSource, joint: Element, kind: Joint, owner: str, name: str) -> tuple[float, float]:
    element = source.child(joint, "dynamics", owner)
    if element is None:
        return 0.0, 0.0
    source.account(element, name, (), ("damping", "friction"))
    damping, friction = (number(source, element, key, owner, 0.0) for key in ("damping", "friction"))
    for key, value in (("damping", damping), ("friction", friction)):
        if value < 0:
            source.note("warning", element, name, f"negative {key} {value:g}: it drives the joint")
    if kind.nv != 1 and (damping or friction):
        source.note("warning", element, name, "<dynamics> ignored: it is for joints of one freedom")
        return 0.0, 0.0
    return damping, friction


def _mimic(source: UrdfSource, joint: Element, kind: Joint, owner: str, name: str) -> Following | None:
    element = source.child(joint, "mimic", owner)
    if element is None:
        return None
    source.account(element, name, (), ("joint", "multiplier", "offset"))
    ratio = number(source, element, "multiplier", owner, 1.0)
    offset = number(source, element, "offset", owner, 0.0)
    followed = source.attribute(element, "joint", owner)
    if kind.nv == 0:
        source.note("info", element, name, "<mimic> ignored: the joint is fixed")
        return None
    if kind.nv != 1:
        raise source.error(element, owner, f"only a joint of one freedom can mimic; this one has {kind.nv}")
    return Following(followed, ratio, offset, element)
