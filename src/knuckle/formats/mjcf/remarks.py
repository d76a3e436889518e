"""What of a MuJoCo model does not come over, as notes."""

from __future__ import annotations

from typing import Any

from .source import Source

_LEFT_OUT = {
    "nsensor": "sensors", "nkey": "keyframes", "ncam": "cameras", "nskin": "skins", "npair": "contact pairs",
    "nexclude": "contact exclusions",
}  # fmt: skip
_CHANGES_DYNAMICS = {"ntendon": "tendons", "nflex": "flexes", "nplugin": "plugins"}


def remark(source: Source) -> None:
    """Notes on everything that is ignored: as a warning if it moves the mechanism in MuJoCo, else as information."""
    m = source.m
    for key, what in _LEFT_OUT.items():
        _count(source, "info", m, key, what)
    for key, what in _CHANGES_DYNAMICS.items():
        _count(source, "warning", m, key, what)
    if m.nu:
        source.note("info", "actuators", f"{m.nu} actuators ignored, but for their armature and damping at a joint")
    colliding = int(((m.geom_contype != 0) | (m.geom_conaffinity != 0)).sum())
    if colliding:
        source.note("info", "contacts", f"{colliding} colliding geoms are kept as data: no contact forces here")
    for b in range(m.nbody):
        if m.body_gravcomp[b]:
            source.note("warning", source.name("body", b), f"gravcomp {float(m.body_gravcomp[b]):g} ignored")
        if m.body_mocapid[b] >= 0:
            source.note("info", source.name("body", b), "a mocap body: it stands where the file has it")
    if m.opt.density or m.opt.viscosity:
        source.note("warning", "option", "fluid forces (density, viscosity, wind) ignored")
    for j in range(m.njnt):
        _nonlinear(source, j)


def _count(source: Source, level: str, m: Any, key: str, what: str) -> None:
    n = int(getattr(m, key, 0))
    if n:
        source.note(level, what, f"{n} {what} ignored")


def _nonlinear(source: Source, j: int) -> None:
    """Joint properties of newer MuJoCo versions that have no counterpart."""
    m, name = source.m, source.name("joint", j)
    if hasattr(m, "jnt_stiffnesspoly") and m.jnt_stiffnesspoly[j].any():
        source.note("warning", name, "higher terms of its stiffness ignored")
    if hasattr(m, "jnt_springyield") and m.jnt_springyield[j]:
        source.note("warning", name, "yield of its spring ignored")
    if hasattr(m, "dof_dampingpoly") and m.dof_dampingpoly[m.jnt_dofadr[j]].any():
        source.note("warning", name, "higher terms of its damping ignored")
