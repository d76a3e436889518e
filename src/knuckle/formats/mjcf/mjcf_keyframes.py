"""Keyframes of a MuJoCo model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from knuckle.model import Coupling, Keyframe
from knuckle.spatial import Vector

from .joint_variables import position, velocity
from .mjcf_source import MjcfSource, numbers
from .mjcf_tree import MjcfTree

_MET = 1e-6
"""How far a joint may be from where its coupling puts it, in metres and radians."""


def keyframes(source: MjcfSource, tree: MjcfTree, couplings: Sequence[Coupling]) -> tuple[Keyframe, ...]:
    """The keyframes of the file, with a note on what of them has no counterpart."""
    m, coupled = source.m, {c.joint for c in couplings}
    ours = {i: j for j, i in tree.numbers.items()}
    _note_unmet(source, tree, couplings, "the start", m.qpos0)
    found: list[Keyframe] = []
    for k in range(m.nkey):
        q, v = list[float](), list[float]()
        for i, joint in enumerate(tree.joints):
            if i in coupled:
                continue
            if i not in ours:
                q += joint.start
                v += (0.0,) * joint.type.nv
                continue
            at, rate = int(m.jnt_qposadr[ours[i]]), int(m.jnt_dofadr[ours[i]])
            here = position(joint.type, m.key_qpos[k][at : at + joint.type.nq])
            q += here
            v += velocity(joint.type, here, m.key_qvel[k][rate : rate + joint.type.nv])
        name = source.name("keyframe", k)
        found.append(Keyframe(name, tuple(q), tuple(v), numbers(m.key_ctrl[k]), float(m.key_time[k])))
        _note_unmet(source, tree, couplings, f"keyframe {name!r}", m.key_qpos[k])
    if m.nkey and m.na and m.key_act.any():
        source.note("info", "keyframes", "their activations of actuators ignored")
    if m.nkey and m.nmocap:
        source.note("info", "keyframes", "their places of mocap bodies ignored: these stand where the file has them")
    return tuple(found)


def _note_unmet(source: MjcfSource, tree: MjcfTree, couplings: Sequence[Coupling], where: str, qpos: Any) -> None:
    """Joints that a state of the file does not have where their couplings put them, as they are here."""
    at: Mapping[int, float] = {i: float(qpos[source.m.jnt_qposadr[j]]) for j, i in tree.numbers.items()}
    for c in couplings:
        told = float(c.law.value(Vector(at[s] for s in c.sources)))
        if abs(told - at[c.joint]) > _MET:
            text = f"{where} has it at {at[c.joint]:.6g}, its coupling at {told:.6g}, where it is here"
            source.note("info", tree.joints[c.joint].name, text)
