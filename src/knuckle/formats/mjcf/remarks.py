"""What of a MuJoCo model does not come over, as notes."""

from __future__ import annotations

from typing import Any

from .actuators.actuator_notes import remark_actuators
from .geoms.exclusions import remark_contact
from .mjcf_source import MjcfSource

_LEFT_OUT = {
    "nsensor": "sensors", "ncam": "cameras", "nskin": "skins",
}  # fmt: skip
_CHANGES_DYNAMICS = {"nplugin": "plugins"}


def remark(source: MjcfSource) -> None:
    """Notes on everything that is ignored: as a warning if it moves the mechanism in MuJoCo, else as information."""
    m = source.m
    for key, what in _LEFT_OUT.items():
        _count(source, "info", m, key, what)
    for key, what in _CHANGES_DYNAMICS.items():
        _count(source, "warning", m, key, what)
    remark_actuators(source)
    remark_contact(source)
    weighs = not source.disabled("GRAVITY") and m.opt.gravity.any()
    for b in range(m.nbody):
        if m.body_gravcomp[b] and weighs:
            source.note("warning", source.name("body", b), f"gravcomp {float(m.body_gravcomp[b]):g} ignored")
        if m.body_mocapid[b] >= 0:
            source.note("info", source.name("body", b), "a mocap body: it stands where the file has it")
    _options(source)
    for j in range(m.njnt):
        _nonlinear(source, j)


def _count(source: MjcfSource, level: str, m: Any, key: str, what: str) -> None:
    n = int(getattr(m, key, 0))
    if n:
        source.note(level, what, f"{n} {what} ignored")


def _options(source: MjcfSource) -> None:
    m = source.m
    if m.opt.density or m.opt.viscosity:
        source.note("warning", "option", "fluid forces (density, viscosity, wind) ignored")
    bit = int(getattr(source.mujoco.mjtEnableBit, "mjENBL_SLEEP", 0))
    if int(m.opt.enableflags) & bit:
        source.note("info", "option", "bodies at rest do not fall asleep here")
    if source.disabled("LIMIT", "CONSTRAINT") and m.jnt_limited.any():
        source.note("info", "option", "the file switches limits of joints off: they are kept as data")
    if m.dof_frictionloss.any() and not source.disabled("FRICTIONLOSS", "CONSTRAINT"):
        source.note("info", "option", "dry friction of joints: in MuJoCo a soft constraint (solreffriction)")


def _nonlinear(source: MjcfSource, j: int) -> None:
    """Joint properties of newer MuJoCo versions that have no counterpart."""
    m, name = source.m, source.name("joint", j)
    spring, damper = not source.disabled("SPRING"), not source.disabled("DAMPER")
    if spring and source.has("jnt_stiffnesspoly", j):
        source.note("warning", name, "higher terms of its stiffness ignored")
    if spring and source.has("jnt_springyield", j):
        source.note("warning", name, "yield of its spring ignored")
    if damper and source.has("dof_dampingpoly", int(m.jnt_dofadr[j])):
        source.note("warning", name, "higher terms of its damping ignored")
    if m.jnt_limited[j] and m.jnt_margin[j]:
        source.note("info", name, f"margin {float(m.jnt_margin[j]):g} of its limits ignored")
