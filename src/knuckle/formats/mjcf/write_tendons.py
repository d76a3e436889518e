"""Lines of a model as MuJoCo's tendons, with the sites and geoms that these need, and muscles as actuators at them."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from typing import Any, TypeAlias

from knuckle.model import Model
from knuckle.model.actuators import (
    Actuator,
    ActuatorDynamics,
    AlongLine,
    AtBallJoint,
    AtFrame,
    AtFreeJoint,
    AtJoints,
    BetweenFrames,
)
from knuckle.model.elements import (
    Cable,
    ConstantTension,
    ForceElement,
    JointLine,
    Line,
    LinePoint,
    MujocoMuscle,
    Pulley,
    SlackSpring,
    Spring,
    TensionLaw,
    Winding,
    Wrap,
)
from knuckle.model.elements.lines import TensionLine
from knuckle.spatial import Transform

Words: TypeAlias = dict[str, Any]
"""The attributes of an element; numbers, tuples of them and transforms are not texts yet."""


class TendonWords:
    """What is written for the lines of a model: sites and geoms of its bodies, and the tendons that name them."""

    def __init__(self, model: Model, geoms: set[str]) -> None:
        self.model = model
        self.sites, self.geoms = list[tuple[int, Words]](), list[tuple[int, Words]]()
        self._own = {frame.name for frame in model.frames}
        self._taken = {"site": set(self._own), "geom": set(geoms)}
        self._surfaces: dict[tuple[str, str, float], str] = {}
        self.tendons = [
            (line.name, line_words(line), [self._entry(line, k, x) for k, x in enumerate(line.points)])
            for line in model.elements
            if isinstance(line, Line) and is_tendon(line)
        ]
        self.wound = [
            (line.name, line_words(line), [self._winding(x) for x in line.windings])
            for line in model.elements
            if isinstance(line, JointLine) and is_tendon(line)
        ]
        self.wound += [(name, {}, windings) for name, windings in wound_by_actuators(model)]
        self.muscles = [
            {"name": line.name, "tendon": line.name, **muscle_words(line.law)}
            for line in model.elements
            if isinstance(line, TensionLine) and isinstance(line.law, MujocoMuscle)
        ]

    def _winding(self, winding: Winding) -> Words:
        joint = self.model.joints[self.model.frame(winding.body).body]
        return {"joint": joint.name, "coef": winding.coefficient}

    def _entry(self, line: Line, k: int, entry: LinePoint | Wrap | Pulley) -> tuple[str, Words]:
        if isinstance(entry, Pulley):
            return "pulley", {"divisor": entry.divisor}
        if isinstance(entry, LinePoint):
            return "site", {"site": self._site(entry, f"{line.name}/{k}")}
        words: Words = {"geom": self._surface(entry)}
        if entry.side is not None or entry.inside:
            words["sidesite"] = self._site(self._side(entry), f"{line.name}/{k}/side")
        return "geom", words

    def _site(self, point: LinePoint, name: str) -> str:
        """The site of a frame, or a new one."""
        if point.frame in self._own and not any(point.at):
            return point.frame
        frame = self.model.frame(point.frame)
        name = self._claimed("site", name)
        self.sites.append((frame.body, {"name": name, "pos": frame.X.inv.point(point.own), "group": "4"}))
        return name

    def _surface(self, wrap: Wrap) -> str:
        """A geom that touches nothing and is not drawn, once for each surface."""
        key = wrap.frame, wrap.shape, float(wrap.radius)
        if key not in self._surfaces:
            frame, r = self.model.frame(wrap.frame), wrap.radius
            name = self._surfaces[key] = self._claimed("geom", f"{wrap.frame}/surface")
            size = (r,) if wrap.shape == "sphere" else (r, r)
            words = {"name": name, "type": wrap.shape, "size": size, "at": frame.X, "group": "4"}
            self.geoms.append((frame.body, words | {"contype": "0", "conaffinity": "0"}))
        return self._surfaces[key]

    def _side(self, wrap: Wrap) -> LinePoint:
        """The side point: at the centre, where the line goes inside, else outside the surface, as MuJoCo tells them."""
        if wrap.side is None or wrap.inside:
            return LinePoint(wrap.frame)
        surface, side = self.model.frame(wrap.frame), self.model.frame(wrap.side.frame)
        place: Transform = surface.X @ side.X.inverse()
        own = [float(x) for x in place.point(wrap.side.own)]
        distance = hypot(*own)
        if surface.body != side.body or distance > float(wrap.radius) or not distance:
            return wrap.side
        x, y, z = (2 * float(wrap.radius) / distance * c for c in own)
        return LinePoint(wrap.frame, (x, y, z))

    def _claimed(self, kind: str, name: str) -> str:
        while name in self._taken[kind]:
            name += "_"
        self._taken[kind].add(name)
        return name


def is_tendon(element: ForceElement) -> bool:
    """Whether MJCF has a tendon for a force element."""
    return isinstance(element, TensionLine) and tendon_words(element.law) is not None


def line_words(line: TensionLine) -> Words:
    """The attributes of a tendon that is this line."""
    words = tendon_words(line.law) or {}
    return words | {"armature": line.armature} if line.armature and not is_wrapped(line) else words


def is_wrapped(line: ForceElement) -> bool:
    """Whether a line goes over a surface: MuJoCo has no armature of such tendons."""
    return isinstance(line, Line) and any(isinstance(entry, Wrap) for entry in line.points)


def tendon_words(law: TensionLaw) -> Words | None:
    """The attributes of a tendon that pulls by this law; None if there is none."""
    match law:
        case Spring():
            return {"stiffness": law.stiffness, "damping": law.damping, "springlength": (law.rest, law.rest)}
        case Cable():
            return {"stiffness": law.stiffness, "damping": law.damping, "springlength": (0.0, law.rest)}
        case SlackSpring():
            ends = law.shortest, law.longest
            return {"stiffness": law.stiffness, "damping": law.damping, "springlength": ends}
        case ConstantTension() if not law.force:
            return {}
        case MujocoMuscle():
            return {}
        case _:
            return None


def actuator_words(model: Model) -> list[Words]:
    """The attributes of general actuators for those of a model; fixed tendons for those at several joints."""
    return [_actuator(x) for x in model.actuators]


def wound_by_actuators(model: Model) -> list[tuple[str, list[Words]]]:
    """Names and windings of the fixed tendons of actuators at several joints."""
    return [
        (
            tendon_of(x),
            [{"joint": j, "coef": g} for j, g in zip(x.transmission.joints, x.transmission.gears, strict=True)],
        )
        for x in model.actuators
        if isinstance(x.transmission, AtJoints) and len(x.transmission.joints) > 1
    ]


def tendon_of(actuator: Actuator) -> str:
    """The name of the tendon of an actuator at several joints."""
    return f"{actuator.name}/tendon"


def _actuator(x: Actuator) -> Words:
    gain = "affine" if any(x.gain[1:]) else "fixed"
    words: Words = {"name": x.name, "gaintype": gain, "biastype": "affine", **_dynamics(x.dynamics)}
    match at := x.transmission:
        case AtFrame():
            words |= {"site": at.frame, "gear": (*at.force, *at.moment)}
        case BetweenFrames():
            words |= {"site": at.frame, "refsite": at.reference, "gear": (*at.force, *at.moment)}
        case AtBallJoint():
            words |= {"jointinparent" if at.in_parent else "joint": at.joint, "gear": at.gear}
        case AtFreeJoint():
            words |= {"jointinparent" if at.in_parent else "joint": at.joint, "gear": (*at.force, *at.moment)}
        case AlongLine():
            words |= {"tendon": at.line, "gear": at.gear}
        case AtJoints() if len(at.joints) == 1:
            words |= {"joint": at.joints[0], "gear": at.gears[0]}
        case _:
            words |= {"tendon": tendon_of(x), "gear": 1.0}
    words |= {"gainprm": x.gain, "biasprm": x.bias}
    for word, flag, ends in (
        ("ctrlrange", "ctrllimited", x.control_range),
        ("forcerange", "forcelimited", x.force_range),
    ):
        words |= {flag: "false"} if ends is None else {flag: "true", word: ends}
    return words


def _dynamics(law: ActuatorDynamics | None) -> Words:
    """The attributes of an actuator's state."""
    if law is None:
        return {"dyntype": "none"}
    words: Words = {"dyntype": law.kind, "dynprm": law.time_constant, "actearly": "true" if law.is_early else "false"}
    return words | ({"actlimited": "false"} if law.range is None else {"actlimited": "true", "actrange": law.range})


def muscle_words(law: MujocoMuscle) -> Words:
    """The attributes of a muscle."""
    words: Words = {name: getattr(law, name) for name in ("force", "range", "lmin", "lmax", "vmax", "fpmax", "fvmax")}
    times = {"timeconst": (law.rise, law.fall), "tausmooth": law.smooth}
    return {**words, "lengthrange": law.length_range, **times, "ctrllimited": "true", "ctrlrange": (0.0, 1.0)}


def lost_elements(model: Model) -> Iterator[tuple[str, str]]:
    """(where, what) of the force elements that MJCF has no words for, or that act in another way there."""
    for element in model.elements:
        if not is_tendon(element):
            what = type(element).__name__
            law = f" with the law {type(element.law).__name__}" if isinstance(element, TensionLine) else ""
            yield element.name, f"a force element ({what}{law})"
        elif isinstance(element, TensionLine) and isinstance(element.law, MujocoMuscle) and element.law.activation:
            yield element.name, "the activation that a muscle begins with"
        elif isinstance(element, TensionLine) and isinstance(element.law, Cable) and element.law.damping:
            yield element.name, "that the damper of a cable does nothing while it is slack, and never pushes"
        if is_tendon(element) and element.armature and is_wrapped(element):
            yield element.name, "the armature of a line over a surface"
