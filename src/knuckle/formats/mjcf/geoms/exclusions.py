"""Bodies that never touch, in MuJoCo and here, and what is said about contact that is another one here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knuckle.model import ROOT, HeightField, Model, Plane
from knuckle.model.contact import joined_bodies, welds

if TYPE_CHECKING:
    from knuckle.formats.mjcf.mjcf_source import MjcfSource
    from knuckle.formats.mjcf.mjcf_tree import MjcfTree

_SOLREF, _SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)
"""MuJoCo's own."""


def exclusions(source: MjcfSource, tree: MjcfTree, model: Model) -> tuple[tuple[str, str], ...]:
    """The pairs of bodies that the file excludes, by our names; those that joints hold together need no words."""
    m = source.m
    names = {ROOT: model.base.name, **dict(enumerate(model.body_names))}
    joined, weld = joined_bodies(model), welds(model)

    def together(a: int, b: int) -> bool:
        return weld[a] == weld[b] or frozenset((weld[a], weld[b])) in joined

    def has_ground(i: int) -> bool:
        shapes = (model.base if i == ROOT else model.bodies[i]).collisions
        return any(isinstance(x.shape, (Plane, HeightField)) for x in shapes)

    excluded: dict[frozenset[int], None] = {}
    for signature in m.exclude_signature:
        a, b = (tree.places[int(n)].body for n in (int(signature) >> 16, int(signature) & 0xFFFF))
        if a != b and (not together(a, b) or has_ground(a) or has_ground(b)):
            excluded[frozenset((a, b))] = None
    for k in range(m.npair):
        a, b = (tree.places[int(m.geom_bodyid[g[k]])].body for g in (m.pair_geom1, m.pair_geom2))
        ground = has_ground(a) or has_ground(b)
        if frozenset((a, b)) in excluded or weld[a] == weld[b] or (together(a, b) and not ground):
            text = f"{names[a]!r} and {names[b]!r} do not touch here: a joint or an exclusion keeps them from it"
            source.note("warning", source.name("pair", k), text)
    return tuple((names[a], names[b]) for a, b in map(sorted, excluded))


def remark_contact(source: MjcfSource) -> None:
    """Notes on contact that is another one in MuJoCo."""
    m = source.m
    n = len(source.contacts.surface_of)
    if not n:
        return
    source.note("info", "contacts", f"{n} colliding geoms: they touch where a simulation is told to have contacts")
    if source.disabled("CONTACT", "CONSTRAINT"):
        source.note("info", "option", "the file switches contact off: shapes and surfaces are kept as data")
    if source.disabled("FILTERPARENT"):
        source.note("warning", "option", "a body touches its parent in MuJoCo: it does not here")
    if int(m.opt.enableflags) & int(source.mujoco.mjtEnableBit.mjENBL_OVERRIDE):
        source.note("warning", "option", "the file overrides the parameters of all contacts: those of geoms are read")
    own = [(f"geom_{what}", g) for what in ("solref", "solimp") for g in source.contacts.surface_of]
    own += [(f"pair_{what}", k) for what in ("solref", "solimp") for k in range(m.npair)]
    values = dict.fromkeys(_text(m, field, k) for field, k in own)
    others = [text for text in values if text not in (_words("solref", _SOLREF), _words("solimp", _SOLIMP))]
    if others:
        listed = "; ".join(others[:4]) + (f" and {len(others) - 4} more" if len(others) > 4 else "")
        source.note("info", "contacts", f"{listed}: read, not applied. Surfaces are rigid, or have a stiffness in N/m")
    for what in ("margin", "gap"):
        if any(getattr(m, f"geom_{what}")[g] for g in source.contacts.surface_of) or getattr(m, f"pair_{what}").any():
            source.note("info", "contacts", f"{what} of geoms: read, not applied")


def _text(m: Any, field: str, k: int) -> str:
    return _words(field.partition("_")[2], getattr(m, field)[k])


def _words(what: str, values: Any) -> str:
    return f"{what} {' '.join(f'{float(x):g}' for x in values)}"
