"""MuJoCo's tendons as lines: spatial ones, fixed ones, and those that muscles pull at."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from knuckle.errors import ModelError
from knuckle.model import Frame
from knuckle.model.elements import (
    Cable,
    ConstantTension,
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
from knuckle.spatial import IDENTITY

from .actuators.actuator_notes import count, drives
from .actuators.read_muscles import muscles_on
from .mjcf_source import MjcfSource, numbers, transform
from .mjcf_tree import MjcfTree

_OTHERS = {
    "stiffnesspoly": ("higher terms of its stiffness", "SPRING"),
    "dampingpoly": ("higher terms of its damping", "DAMPER"),
    "springyield": ("the yield of its spring", "SPRING"),
    "frictionloss": ("its frictionloss", "FRICTIONLOSS", "CONSTRAINT"),
    "limited": ("its range", "LIMIT", "CONSTRAINT"),
}
"""Properties of tendons that lines do not have, with the flags that switch them off."""
_SURFACE = re.compile("(.*)/surface_*")
"""What this library calls a geom that is there for a line only, after its frame."""


def tendons(source: MjcfSource, tree: MjcfTree) -> tuple[Line | JointLine, ...]:
    """Lines for all tendons, and for the muscles at them, with a warning for what a line does not do.

    A tendon that does nothing itself is the line of its muscles; one of joints that does nothing is left out.
    """
    m, fixed = source.m, int(source.mujoco.mjtWrap.mjWRAP_JOINT)
    found = list[Line | JointLine]()
    idle = 0
    for t in range(m.ntendon):
        name, left_out, muscles = source.name("tendon", t), _left_out(source, t), muscles_on(source, t)
        is_wound = int(m.wrap_type[int(m.tendon_adr[t])]) == fixed
        laws: list[tuple[str, TensionLaw]] = [(source.name("actuator", a), law) for a, law in muscles]
        source.muscles.update(a for a, _ in muscles)
        made = _wound if is_wound else _spatial
        try:
            if _done(source, t) or left_out or not (muscles or is_wound):
                laws.insert(0, (name, _law(source, t)))
            for own, law in laws:
                called = source.claim("element", own, "_muscle" if isinstance(law, MujocoMuscle) else "_tendon")
                line = made(source, tree, t, called, law)
                found.append(line if law is not laws[0][1] else replace(line, armature=_armature(source, t)))
                if not isinstance(law, MujocoMuscle):
                    source.lines[t] = called
        except ValueError as error:
            raise ModelError(str(error), element=name) from None
        idle += not laws and not _actuators_on(source, t)
        if left_out:
            source.note("warning", name, f"a line here, without {', '.join(left_out)}")
    if idle:
        source.note("info", "tendons", f"{idle} tendons ignored: they exert no force of their own")
    return tuple(found)


def _spatial(source: MjcfSource, tree: MjcfTree, t: int, name: str, law: TensionLaw) -> Line:
    return Line(name, _entries(source, tree, t), law)


def _wound(source: MjcfSource, tree: MjcfTree, t: int, name: str, law: TensionLaw) -> JointLine:
    m, first = source.m, int(source.m.tendon_adr[t])
    on = [
        (tree.numbers[int(m.wrap_objid[w])], float(m.wrap_prm[w])) for w in range(first, first + int(m.tendon_num[t]))
    ]
    return JointLine(name, tuple(Winding(tree.bodies[i].name, c) for i, c in on), law)


def _entries(source: MjcfSource, tree: MjcfTree, t: int) -> tuple[LinePoint | Wrap | Pulley, ...]:
    m, types = source.m, source.mujoco.mjtWrap
    entries = list[LinePoint | Wrap | Pulley]()
    for w in range(int(m.tendon_adr[t]), int(m.tendon_adr[t]) + int(m.tendon_num[t])):
        kind, k = int(m.wrap_type[w]), int(m.wrap_objid[w])
        if kind == types.mjWRAP_SITE:
            entries.append(LinePoint(tree.sites[k]))
        elif kind == types.mjWRAP_PULLEY:
            entries.append(Pulley(float(m.wrap_prm[w])))
        else:
            shape = "sphere" if kind == types.mjWRAP_SPHERE else "cylinder"
            s = round(float(m.wrap_prm[w]))
            inside = s >= 0 and _is_inside(source, k, s)
            side = LinePoint(tree.sites[s]) if s >= 0 and not inside else None
            entries.append(Wrap(_frame(source, tree, k), float(m.geom_size[k][0]), shape, side, inside))
    return tuple(entries)


def _frame(source: MjcfSource, tree: MjcfTree, g: int) -> str:
    """The frame of a geom: a new one, or the one that it was written for."""
    m = source.m
    if g not in tree.surfaces:
        name, place = source.name("geom", g), tree.places[int(m.geom_bodyid[g])]
        X = transform(m.geom_pos[g], m.geom_quat[g], place.origin)
        written = _SURFACE.fullmatch(name)
        bodies = (Frame(body.name, i, IDENTITY) for i, body in enumerate(tree.bodies))
        same = {frame.name for frame in (*tree.frames, *bodies) if frame.body == place.body and frame.X == X}
        if written and written[1] in same:
            tree.surfaces[g] = written[1]
        else:
            tree.surfaces[g] = source.claim("frame", name, "_geom")
            tree.frames.append(Frame(tree.surfaces[g], place.body, X))
    return tree.surfaces[g]


def _is_inside(source: MjcfSource, g: int, s: int) -> bool:
    """Whether a side site is nearer to the centre of a geom than its radius where the mechanism starts."""
    m, data = source.m, source.start
    if int(m.site_bodyid[s]) != int(m.geom_bodyid[g]):
        where = f"{source.name('site', s)!r}, a side site on another body than geom {source.name('geom', g)!r}"
        source.note("info", source.name("geom", g), f"{where}, is inside or outside as it is at the start")
    return bool(np.linalg.norm(data.site_xpos[s] - data.geom_xpos[g]) < float(m.geom_size[g][0]))


def _law(source: MjcfSource, t: int) -> TensionLaw:
    m = source.m
    k = 0.0 if source.disabled("SPRING") else float(m.tendon_stiffness[t])
    d = 0.0 if source.disabled("DAMPER") else float(m.tendon_damping[t])
    shortest, longest = numbers(m.tendon_lengthspring[t])
    if not k:
        return Spring(0.0, 0.0, d) if d else ConstantTension(0.0)
    if shortest == longest:
        return Spring(k, shortest, d)
    return SlackSpring(k, shortest, longest, d) if shortest or d else Cable(k, longest)


def _done(source: MjcfSource, t: int) -> list[str]:
    """What a tendon exerts that a line does too."""
    m = source.m
    words = ("its stiffness", "SPRING", m.tendon_stiffness), ("its damping", "DAMPER", m.tendon_damping)
    forces = [word for word, switch, values in words if values[t] and not source.disabled(switch)]
    return [*forces, "its armature"] if _armature(source, t) else forces


def _armature(source: MjcfSource, t: int) -> float:
    """The inertia along a tendon, which one of the lines that it becomes has."""
    return float(source.m.tendon_armature[t]) if source.has("tendon_armature", t) else 0.0


def _left_out(source: MjcfSource, t: int) -> list[str]:
    """What a tendon exerts that a line does not."""
    found = [
        word
        for field, (word, *switches) in _OTHERS.items()
        if source.has(f"tendon_{field}", t) and not source.disabled(*switches)
    ]
    driven = any(drives(source, a) for a in _actuators_on(source, t))
    return [*found, "armature or damping of its actuator"] if driven else found


def _actuators_on(source: MjcfSource, t: int) -> list[int]:
    """The actuators at a tendon."""
    m, kind = source.m, int(source.mujoco.mjtTrn.mjTRN_TENDON)
    places = ((int(m.actuator_trntype[a]), int(m.actuator_trnid[a][0])) for a in range(count(source)))
    return [a for a, place in enumerate(places) if place == (kind, t)]
