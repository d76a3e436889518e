"""MuJoCo's actuators: what they add to a joint besides their force, and what is said of those that do not come over."""

from __future__ import annotations

from knuckle.formats.mjcf.mjcf_source import MjcfSource


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
    """A warning for actuators that do not come over; muscles of lines, motors and servos do."""
    n = count(source)
    off = [a for a in range(n) if is_switched_off(source, a)]
    if off:
        text = "switched off by the file, and ignored, but for their armature and damping at a joint"
        source.note("info", source.listed("actuator", off), text)
    for why in dict.fromkeys(source.unread.values()):
        others = [a for a, reason in source.unread.items() if reason == why]
        source.note("warning", source.listed("actuator", others), f"ignored as an actuator: {why}")
    active = sorted(a for a in source.actuators if _is_active(source, a))
    if active:
        text = (
            "not idle at zero control in MuJoCo: here they push only where kn.simulate or kn.rollout is given controls="
        )
        source.note("warning", source.listed("actuator", active), text)
    if source.actuators:
        text = f"{len(source.actuators)} actuators: they push where kn.simulate or kn.rollout is given controls="
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
    if int(m.actuator_biastype[a]) == int(words.mjtBias.mjBIAS_AFFINE) and m.actuator_biasprm[a][:3].any():
        return True
    k = int(m.actuator_ctrladr[a]) if hasattr(m, "actuator_ctrladr") else a
    ranges = [m.actuator_ctrlrange[k]] if m.actuator_ctrllimited[k] and not source.disabled("CLAMPCTRL") else []
    ranges += [m.actuator_forcerange[a]] if m.actuator_forcelimited[a] else []
    return any(not low <= 0 <= high for low, high in ranges)


def output(source: MjcfSource, a: int) -> int:
    """The row of an actuator in arrays with one per force that it puts out."""
    return int(source.m.actuator_outadr[a]) if hasattr(source.m, "actuator_outadr") else a
