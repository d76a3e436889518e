"""MuJoCo's actuators as `Actuator`s; a warning names the others, and why they do not come over."""

from __future__ import annotations

from typing import Any

from knuckle.formats.mjcf.mjcf_source import MjcfSource, numbers
from knuckle.formats.mjcf.mjcf_tree import MjcfTree
from knuckle.model.actuators import (
    Actuator,
    ActuatorDynamics,
    AlongLine,
    AtBallJoint,
    AtFrame,
    AtFreeJoint,
    AtJoints,
    BetweenFrames,
    Transmission,
)

from .actuator_notes import count, is_switched_off, output


def actuators(source: MjcfSource, tree: MjcfTree) -> tuple[Actuator, ...]:
    """The actuators that come over."""
    found = list[Actuator]()
    for a in range(count(source)):
        if a in source.muscles or is_switched_off(source, a):
            continue
        why, at = _why_not(source, a), _transmission(source, tree, a)
        if why or isinstance(at, str):
            source.unread[a] = why or str(at)
            continue
        source.actuators.add(a)
        found.append(_actuator(source, a, at))
    return tuple(found)


def _actuator(source: MjcfSource, a: int, at: Transmission) -> Actuator:
    m, words = source.m, source.mujoco
    gain, bias = (numbers(prm[a][:3]) for prm in (m.actuator_gainprm, m.actuator_biasprm))
    gain = (gain[0], 0.0, 0.0) if int(m.actuator_gaintype[a]) == int(words.mjtGain.mjGAIN_FIXED) else gain
    bias = (0.0, 0.0, 0.0) if int(m.actuator_biastype[a]) == int(words.mjtBias.mjBIAS_NONE) else bias
    k = _input(source, a)
    is_clamped = bool(m.actuator_ctrllimited[k]) and not source.disabled("CLAMPCTRL")
    controls, forces = numbers(m.actuator_ctrlrange[k]), numbers(m.actuator_forcerange[a])
    return Actuator(
        source.claim("actuator", source.name("actuator", a), "_actuator"),
        at,
        (gain[0], gain[1], gain[2]),
        (bias[0], bias[1], bias[2]),
        (controls[0], controls[1]) if is_clamped else None,
        (forces[0], forces[1]) if m.actuator_forcelimited[a] else None,
        _dynamics(source, a),
    )


def _dynamics(source: MjcfSource, a: int) -> ActuatorDynamics | None:
    """The state of an actuator, if it has one."""
    m, kinds = source.m, source.mujoco.mjtDyn
    words = {int(kinds.mjDYN_INTEGRATOR): "integrator", int(kinds.mjDYN_FILTER): "filter"}
    words[int(kinds.mjDYN_FILTEREXACT)] = "filterexact"
    kind: Any = words.get(int(m.actuator_dyntype[a]))
    if kind is None:
        return None
    low, high = (float(x) for x in m.actuator_actrange[a])
    return ActuatorDynamics(
        kind,
        max(0.0, float(m.actuator_dynprm[a][0])),
        (low, high) if m.actuator_actlimited[a] else None,
        source.has("actuator_actearly", a),
    )


def _input(source: MjcfSource, a: int) -> int:
    """The place of an actuator's input among the controls."""
    return int(source.m.actuator_ctrladr[a]) if hasattr(source.m, "actuator_ctrladr") else a


def _why_not(source: MjcfSource, a: int) -> str:
    """Why the law of an actuator does not come over; nothing if it does."""
    m, words = source.m, source.mujoco
    kinds = words.mjtDyn.mjDYN_NONE, words.mjtDyn.mjDYN_INTEGRATOR, words.mjtDyn.mjDYN_FILTER
    if int(m.actuator_dyntype[a]) not in [int(kind) for kind in (*kinds, words.mjtDyn.mjDYN_FILTEREXACT)]:
        return "its state is none of integrator, filter and filterexact (dyntype)"
    if hasattr(m, "actuator_actnum") and int(m.actuator_actnum[a]) > 1:
        return f"it has {int(m.actuator_actnum[a])} states"
    if hasattr(m, "actuator_ctrlnum") and int(m.actuator_ctrlnum[a]) != 1:
        return f"it has {int(m.actuator_ctrlnum[a])} inputs"
    if hasattr(m, "actuator_plugin") and int(m.actuator_plugin[a]) >= 0:
        return "it is a plugin"
    gains = int(words.mjtGain.mjGAIN_FIXED), int(words.mjtGain.mjGAIN_AFFINE)
    biases = int(words.mjtBias.mjBIAS_NONE), int(words.mjtBias.mjBIAS_AFFINE)
    if int(m.actuator_gaintype[a]) not in gains or int(m.actuator_biastype[a]) not in biases:
        return "its gain or bias is no constant and no affine function"
    return ""


def _transmission(source: MjcfSource, tree: MjcfTree, a: int) -> Transmission | str:
    """Where an actuator acts, or why that does not come over."""
    m, trn, joints = source.m, source.mujoco.mjtTrn, source.mujoco.mjtJoint
    kind, k, other = int(m.actuator_trntype[a]), *(int(x) for x in m.actuator_trnid[a][:2])
    gear = numbers(m.actuator_gear[output(source, a)])
    force, moment = (gear[0], gear[1], gear[2]), (gear[3], gear[4], gear[5])
    if kind in (int(trn.mjTRN_JOINT), int(trn.mjTRN_JOINTINPARENT)):
        name, in_parent = tree.joints[tree.numbers[k]].name, kind == int(trn.mjTRN_JOINTINPARENT)
        if int(m.jnt_type[k]) == int(joints.mjJNT_BALL):
            return AtBallJoint(name, force, in_parent)
        if int(m.jnt_type[k]) == int(joints.mjJNT_FREE):
            return AtFreeJoint(name, moment, force, in_parent)
        return AtJoints((name,), (gear[0],))
    if kind == int(trn.mjTRN_SITE) and other < 0:
        return AtFrame(tree.sites[k], moment, force)
    if kind == int(trn.mjTRN_SITE):
        return BetweenFrames(tree.sites[k], tree.sites[other], moment, force)
    if kind != int(trn.mjTRN_TENDON):
        return "its transmission is none of joint, tendon or site"
    first = int(m.tendon_adr[k])
    if int(m.wrap_type[first]) == int(source.mujoco.mjtWrap.mjWRAP_JOINT):
        wound = range(first, first + int(m.tendon_num[k]))
        names = tuple(tree.joints[tree.numbers[int(m.wrap_objid[w])]].name for w in wound)
        return AtJoints(names, tuple(gear[0] * float(m.wrap_prm[w]) for w in wound))
    return AlongLine(source.lines[k], gear[0]) if k in source.lines else "its tendon is a muscle's"
