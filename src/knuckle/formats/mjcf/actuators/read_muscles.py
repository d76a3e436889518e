"""MuJoCo's muscles: actuators on tendons, as laws of lines."""

from __future__ import annotations

from knuckle.errors import ModelError
from knuckle.formats.mjcf.mjcf_source import MjcfSource
from knuckle.model.elements import MujocoMuscle

from .actuator_notes import count, is_switched_off, output


def muscles_on(source: MjcfSource, t: int) -> list[tuple[int, MujocoMuscle]]:
    """The muscles that pull at a tendon: their numbers among the actuators, and their laws."""
    m, kind = source.m, int(source.mujoco.mjtTrn.mjTRN_TENDON)
    there = (a for a in range(count(source)) if (int(m.actuator_trntype[a]), int(m.actuator_trnid[a][0])) == (kind, t))
    return [(a, _law(source, a)) for a in there if is_muscle(source, a)]


def is_muscle(source: MjcfSource, a: int) -> bool:
    """Whether an actuator is a muscle as `MujocoMuscle` is one, at a tendon that it pulls."""
    m, words = source.m, source.mujoco
    kinds = (
        (m.actuator_gaintype[a], words.mjtGain.mjGAIN_MUSCLE), (m.actuator_biastype[a], words.mjtBias.mjBIAS_MUSCLE),
        (m.actuator_dyntype[a], words.mjtDyn.mjDYN_MUSCLE), (m.actuator_trntype[a], words.mjtTrn.mjTRN_TENDON),
    )  # fmt: skip
    same = bool((m.actuator_gainprm[a][:9] == m.actuator_biasprm[a][:9]).all())
    if is_switched_off(source, a) or not all(int(one) == int(other) for one, other in kinds):
        return False
    return same and float(m.actuator_gear[output(source, a)][0]) > 0


def _law(source: MjcfSource, a: int) -> MujocoMuscle:
    """Lengths and forces are those of the tendon: MuJoCo has them times the gear, and through it."""
    m, name = source.m, source.name("actuator", a)
    gear = float(m.actuator_gear[output(source, a)][0])
    low, high, force, scale, lmin, lmax, vmax, fpmax, fvmax = (float(x) for x in m.actuator_gainprm[a][:9])
    force = scale / max(float(m.actuator_acc0[a]), 1e-15) if force < 0 else force
    rise, fall, smooth = (float(x) for x in m.actuator_dynprm[a][:3])
    shortest, longest = (float(x) / gear for x in m.actuator_lengthrange[a])
    left_out = [word for field, word in (("forcelimited", "its forcerange"),) if source.has(f"actuator_{field}", a)]
    left_out += ["actearly"] if source.has("actuator_actearly", a) else []
    if left_out:
        source.note("warning", name, f"a muscle here, without {', '.join(left_out)}")
    numbers = (lmin, lmax, vmax, fpmax, fvmax)
    try:
        return MujocoMuscle(
            gear * force, (shortest, longest), (low, high), *numbers, rise=rise, fall=fall, smooth=smooth
        )
    except ValueError as error:
        raise ModelError(str(error), element=name) from None
