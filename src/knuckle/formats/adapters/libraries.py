"""Adapters for Pinocchio, MuJoCo and Drake. None of them is imported: the caller's objects say what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from knuckle.joints import Free, Joint, Planar, Spherical, Translational
from knuckle.model import Model

from . import joint_rules
from .adapter import Adapter, Match
from .joint_rules import Rule


@dataclass(frozen=True)
class Theirs:
    """A joint of another library: its name, type, and where its variables are."""

    name: str
    word: str
    q: int
    nq: int
    v: int
    nv: int


def pinocchio(model: Model, other: Any, *, names: Mapping[str, str] | None = None) -> Adapter:
    """An adapter to a `pinocchio.Model`; `names` maps joint names of ours to theirs where they differ."""
    joints = [
        Theirs(other.names[i], j.shortname(), j.idx_q, j.nq, j.idx_v, j.nv)
        for i, j in ((i, other.joints[i]) for i in range(1, other.njoints))
    ]
    matches = _matched("Pinocchio", model, joints, _pinocchio_rule, names)
    return Adapter("Pinocchio", model, other.nq, other.nv, matches, moment_first=False)


def mujoco(model: Model, other: Any, *, names: Mapping[str, str] | None = None) -> Adapter:
    """An adapter to a `mujoco.MjModel`; `names` maps joint names of ours to theirs where they differ."""
    sizes = {0: (7, 6, "free"), 1: (4, 3, "ball"), 2: (1, 1, "slide"), 3: (1, 1, "hinge")}
    joints: list[Theirs] = []
    for j in range(other.njnt):
        nq, nv, word = sizes[int(other.jnt_type[j])]
        name = other.joint(j).name or f"joint{j}"
        joints.append(Theirs(name, word, int(other.jnt_qposadr[j]), nq, int(other.jnt_dofadr[j]), nv))
    matches = _matched("MuJoCo", model, joints, _mujoco_rule, names)
    return Adapter("MuJoCo", model, other.nq, other.nv, matches, moment_first=False)


def drake(model: Model, other: Any, *, names: Mapping[str, str] | None = None) -> Adapter:
    """An adapter to a finalized Drake `MultibodyPlant`; `names` maps joint names of ours to theirs if they differ."""
    joints = [
        Theirs(j.name(), j.type_name(), j.position_start(), j.num_positions(), j.velocity_start(), j.num_velocities())
        for j in (other.get_joint(index) for index in other.GetJointIndices())
    ]
    matches = _matched("Drake", model, joints, _drake_rule, names)
    return Adapter("Drake", model, other.num_positions(), other.num_velocities(), matches, moment_first=True)


def _matched(
    library: str,
    model: Model,
    joints: Iterable[Theirs],
    rule_of: Callable[[Joint, Theirs], Rule | None],
    names: Mapping[str, str] | None,
) -> tuple[Match, ...]:
    names, coupled = names or {}, model.coupled
    free = {joint.name: joint for joint in joints if joint.nv}
    matches: list[Match] = []
    missing: list[int] = []

    def match(i: int, theirs: Theirs) -> None:
        kind = model.joints[i].type
        rule = rule_of(kind, theirs)
        if rule is None or (rule.nq, rule.nv) != (theirs.nq, theirs.nv):
            ours = type(kind).__name__
            text = f"joint {model.joint_names[i]!r} is {ours} here and {theirs.word} in {library}, with {theirs.nq}"
            raise ValueError(f"{text} position variables: no rule translates that")
        places = slice(theirs.q, theirs.q + theirs.nq), slice(theirs.v, theirs.v + theirs.nv)
        matches.append(Match(i, rule, *places))

    for i, joint in enumerate(model.joints):
        if not joint.type.nv:
            continue
        theirs = free.pop(names.get(joint.name, joint.name), None)
        if theirs is not None:
            match(i, theirs)
        elif i not in coupled:
            missing.append(i)
    unnamed = [joint for joint in free.values() if joint.nv == 6]
    if len(unnamed) == 1 and len(missing) == 1 and isinstance(model.joints[missing[0]].type, Free):
        match(missing.pop(), free.pop(unnamed[0].name))
    if missing or free:
        ours = ", ".join(model.joint_names[i] for i in missing) or "none"
        raise ValueError(
            f"joints without a counterpart: here {ours}; in {library} {', '.join(free) or 'none'}; "
            "load the same file with the same base, or pair them with names={ours: theirs}"
        )
    return tuple(matches)


def _pinocchio_rule(kind: Joint, theirs: Theirs) -> Rule | None:
    if kind.nv == 1:
        return joint_rules.CIRCLE if theirs.nq == 2 else joint_rules.PLAIN
    table: dict[type[Joint], Rule] = {
        Free: joint_rules.FREE_PINOCCHIO, Spherical: joint_rules.BALL_XYZW, Translational: joint_rules.THREE
    }  # fmt: skip
    if isinstance(kind, Planar) and kind.normal == (0.0, 0.0, 1.0) and theirs.word == "JointModelPlanar":
        return joint_rules.PLANE_PINOCCHIO
    words = {Free: "JointModelFreeFlyer", Spherical: "JointModelSpherical", Translational: "JointModelTranslation"}
    return table.get(type(kind)) if words.get(type(kind)) == theirs.word else None


def _mujoco_rule(kind: Joint, theirs: Theirs) -> Rule | None:
    if kind.nv == 1:
        return joint_rules.PLAIN
    table = {(Free, "free"): joint_rules.FREE_MUJOCO, (Spherical, "ball"): joint_rules.BALL_WXYZ}
    return table.get((type(kind), theirs.word))


def _drake_rule(kind: Joint, theirs: Theirs) -> Rule | None:
    if kind.nv == 1:
        return joint_rules.PLAIN
    if isinstance(kind, Planar) and kind.normal == (0.0, 0.0, 1.0) and theirs.word == "planar":
        return joint_rules.PLANE_DRAKE
    return joint_rules.FREE_DRAKE if isinstance(kind, Free) and theirs.word == "quaternion_floating" else None
