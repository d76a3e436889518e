"""MuJoCo's actuators, which do not come over: what they add to a joint all the same, and what is said of the rest."""

from __future__ import annotations

from .mjcf_source import MjcfSource

_SERVO = (
    "ignored, and not idle at zero control in MuJoCo, where they hold or move what they act on; a position servo at "
    "zero is knuckle.model.edit.with_joint(model, joint, stiffness=kp, damping=kv)"
)


def motors(source: MjcfSource, j: int) -> tuple[float, float]:
    """Armature and damping of the actuators on a joint of one freedom: gear squared times their own."""
    m = source.m
    total_armature = total_damping = 0.0
    for a in on_joint(source, j):
        squared = float(m.actuator_gear[output(source, a)][0]) ** 2
        total_armature += squared * float(m.actuator_armature[a]) if source.has("actuator_armature", a) else 0.0
        total_damping += squared * float(m.actuator_damping[a]) if source.has("actuator_damping", a) else 0.0
    return total_armature, total_damping


def on_joint(source: MjcfSource, j: int) -> list[int]:
    """The actuators on a joint."""
    m, words = source.m, source.mujoco.mjtTrn
    direct = int(words.mjTRN_JOINT), int(words.mjTRN_JOINTINPARENT)
    return [
        a for a in range(count(source)) if int(m.actuator_trntype[a]) in direct and int(m.actuator_trnid[a][0]) == j
    ]


def count(source: MjcfSource) -> int:
    """Actuators; before MuJoCo 4 each had one input."""
    return int(getattr(source.m, "nactuator", source.m.nu))


def remark_actuators(source: MjcfSource) -> None:
    """A warning for actuators that push at zero control, information on the others; muscles of lines come over."""
    n = count(source)
    others = [a for a in range(n) if a not in source.muscles]
    active = [a for a in others if _is_active(source, a)]
    if active:
        source.note("warning", source.listed("actuator", active), _SERVO)
    if len(others) > len(active):
        text = f"{len(others) - len(active)} actuators ignored, but for their armature and damping at a joint"
        source.note("info", "actuators", text)
    curved = [
        a for a in range(n) if hasattr(source.m, "actuator_dampingpoly") and source.m.actuator_dampingpoly[a].any()
    ]
    if curved and not source.disabled("DAMPER"):
        source.note("warning", source.listed("actuator", curved), "higher terms of their damping ignored")
    _remark_spread(source)


def drives(source: MjcfSource, a: int) -> bool:
    """Whether an actuator adds armature or damping to what it acts on, besides its force."""
    damped = source.has("actuator_damping", a) and not source.disabled("DAMPER")
    return damped or source.has("actuator_armature", a)


def _remark_spread(source: MjcfSource) -> None:
    """Armature and damping that act on more than one freedom."""
    m, types = source.m, source.mujoco.mjtJoint
    for j in range(m.njnt):
        if int(m.jnt_type[j]) in (int(types.mjJNT_BALL), int(types.mjJNT_FREE)) and any(
            drives(source, a) for a in on_joint(source, j)
        ):
            source.note("warning", source.name("joint", j), "armature and damping of its actuators ignored")


def is_switched_off(source: MjcfSource, a: int) -> bool:
    """Whether the options of the file switch an actuator off."""
    group = int(source.m.actuator_group[a])
    return source.disabled("ACTUATION") or bool(0 <= group < 31 and int(source.m.opt.disableactuator) >> group & 1)


def _is_active(source: MjcfSource, a: int) -> bool:
    """Whether an actuator may push although every control is zero."""
    m, words = source.m, source.mujoco
    if is_switched_off(source, a):
        return False
    gains = int(words.mjtGain.mjGAIN_FIXED), int(words.mjtGain.mjGAIN_AFFINE), int(words.mjtGain.mjGAIN_MUSCLE)
    others = [int(getattr(words.mjtGain, "mjGAIN_DCMOTOR", -1))]
    if int(m.actuator_gaintype[a]) not in (*gains, *others):
        return True
    bias = int(m.actuator_biastype[a])
    if bias == int(words.mjtBias.mjBIAS_AFFINE):
        if m.actuator_biasprm[a][:3].any():
            return True
    elif bias != int(words.mjtBias.mjBIAS_NONE):
        return True
    first = int(m.actuator_ctrladr[a]) if hasattr(m, "actuator_ctrladr") else a
    inputs = range(first, first + (int(m.actuator_ctrlnum[a]) if hasattr(m, "actuator_ctrlnum") else 1))
    ranges = [m.actuator_ctrlrange[k] for k in inputs if m.actuator_ctrllimited[k] and not source.disabled("CLAMPCTRL")]
    ranges += [m.actuator_forcerange[a]] if m.actuator_forcelimited[a] else []
    ranges += [m.actuator_actrange[a]] if m.actuator_actlimited[a] else []
    return any(not low <= 0 <= high for low, high in ranges)


def output(source: MjcfSource, a: int) -> int:
    """The row of an actuator in arrays with one per force that it puts out."""
    return int(source.m.actuator_outadr[a]) if hasattr(source.m, "actuator_outadr") else a
