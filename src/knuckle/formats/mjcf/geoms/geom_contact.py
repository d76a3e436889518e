"""How MuJoCo's geoms touch, as surfaces of ours.

A geom has a number of directions of friction (condim), coefficients for them, and a priority; where two of one priority
touch, the larger of each counts, else those of the higher one. That is `Surface.against` for geoms of one condim and
priority; where it is not, and where the file has a <pair> of geoms, a pair of surfaces says what holds. Geoms of which
all of this is the same have one surface. A <pair> touches whatever contype and conaffinity say: it has bits of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from knuckle.model import Surface, SurfacePair

if TYPE_CHECKING:
    from knuckle.formats.mjcf.mjcf_source import MjcfSource

_BITS = 31
"""Of contype and conaffinity, without the sign."""
_MOST_SURFACES = 300
"""Up to which every two surfaces are compared."""
_COEFFICIENTS = {1: 0, 3: 1, 4: 2, 6: 3}
"""How many of sliding, torsional and rolling friction count, by condim."""


class GeomKind(NamedTuple):
    """What decides how a geom rubs on others."""

    priority: int
    condim: int
    friction: tuple[float, ...]


@dataclass
class GeomContacts:
    """How geoms touch: the name of each one's surface and its bits, by number; only those that do are there."""

    surfaces: tuple[Surface, ...] = ()
    pairs: tuple[SurfacePair, ...] = ()
    surface_of: dict[int, str] = field(default_factory=dict)
    types: dict[int, int] = field(default_factory=dict)
    affinities: dict[int, int] = field(default_factory=dict)


def geom_contacts(source: MjcfSource) -> GeomContacts:
    """The surfaces of a file's geoms."""
    m = source.m
    explicit = {
        frozenset((int(m.pair_geom1[k]), int(m.pair_geom2[k]))): _of_pair(source, k)
        for k in range(m.npair)
        if m.pair_geom1[k] != m.pair_geom2[k]
    }
    paired = {g for pair in explicit for g in pair}
    geoms = [g for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g] or g in paired]
    found = GeomContacts(
        types={g: int(m.geom_contype[g]) for g in geoms}, affinities={g: int(m.geom_conaffinity[g]) for g in geoms}
    )
    _give_bits(source, found, list(explicit))
    most = max((_COEFFICIENTS[int(m.geom_condim[g])] for g in geoms), default=0)
    kinds = {
        g: GeomKind(int(m.geom_priority[g]), int(m.geom_condim[g]), tuple(map(float, m.geom_friction[g][:most])))
        for g in geoms
    }
    explicit = {pair: x for pair, x in explicit.items() if x != _combined(*(kinds[g] for g in pair))}
    groups = _groups(kinds, explicit)
    names = _names(source, groups, paired=bool(explicit))
    surfaces = {name: replace(_combined(kinds[g], kinds[g]), name=name) for name, g in names.items()}
    for name, members in zip(names, groups, strict=True):
        found.surface_of |= dict.fromkeys(members, "" if name == "default" else name)
    found.surfaces = tuple(surface for surface in surfaces.values() if surface != Surface())
    found.pairs = tuple(_pairs(source, names, surfaces, kinds, explicit))
    return found


def _of_pair(source: MjcfSource, k: int) -> Surface:
    m = source.m
    first, second, torsional, *rolling = map(float, m.pair_friction[k])
    condim = int(m.pair_dim[k])
    if (condim >= 3 and first != second) or (condim == 6 and rolling[0] != rolling[1]):
        text = "friction that differs by direction: that of the first direction is taken for both"
        source.note("warning", source.name("pair", k), text)
    return _surface(condim, (first, torsional, rolling[0]))


def _surface(condim: int, friction: tuple[float, ...]) -> Surface:
    counted = friction[: _COEFFICIENTS[condim]]
    sliding, torsional, rolling = (*counted, *(0.0,) * (3 - len(counted)))
    return Surface("", sliding, torsional, rolling)


def _combined(a: GeomKind, b: GeomKind) -> Surface:
    """What MuJoCo has where two geoms touch."""
    if a.priority != b.priority:
        _, condim, friction = max(a, b, key=lambda kind: kind.priority)
        return _surface(condim, friction)
    larger = tuple(max(x, y) for x, y in zip(a.friction, b.friction, strict=True))
    return _surface(max(a.condim, b.condim), larger)


def _groups(kinds: dict[int, GeomKind], explicit: dict[frozenset[int], Surface]) -> list[list[int]]:
    """Geoms that touch others in the same way: of one kind, and in equal pairs with the same geoms."""
    partners: dict[int, set[tuple[int, Surface]]] = {}
    for pair, surface in explicit.items():
        a, b = pair
        partners.setdefault(a, set()).add((b, surface))
        partners.setdefault(b, set()).add((a, surface))
    groups: dict[Any, list[int]] = {}
    for g, kind in kinds.items():
        groups.setdefault((kind, frozenset(partners.get(g, ()))), []).append(g)
    return [groups[key] for key in sorted(groups, key=lambda key: bool(key[1]))]


def _names(source: MjcfSource, groups: list[list[int]], paired: bool) -> dict[str, int]:
    """A name for each group and one of its geoms: after its friction, or after that geom where a name is taken."""
    m, names = source.m, dict[str, int]()
    for first, *_ in groups:
        own = _surface(int(m.geom_condim[first]), tuple(map(float, m.geom_friction[first])))
        words = [f"{what} {x:g}" for what in ("friction", "torsional", "rolling") if (x := getattr(own, what))]
        priority = int(m.geom_priority[first])
        name = ", ".join([*(words or ["frictionless"]), *([f"priority {priority}"] if priority else [])])
        name = "default" if own == Surface("") and not priority else name
        if name in names:
            name = source.name("geom", first) if paired else name
        while name in names:
            name += "_"
        names[name] = first
    return names


def _pairs(
    source: MjcfSource,
    names: dict[str, int],
    surfaces: dict[str, Surface],
    kinds: dict[int, GeomKind],
    explicit: dict[frozenset[int], Surface],
) -> Iterator[SurfacePair]:
    """What holds between surfaces where it is not what they say themselves."""
    group_of = {g: name for name, g in names.items()}
    said = {frozenset(group_of[g] for g in pair): x for pair, x in explicit.items() if pair <= group_of.keys()}
    classes = {name: kinds[g][:2] for name, g in names.items()}
    compared = combinations(names, 2)
    if len(set(classes.values())) > 1 and len(names) > _MOST_SURFACES:
        source.note("warning", "contacts", f"{len(names)} surfaces, of several condim or priorities, rub as they are")
        compared = (tuple(pair) for pair in said)
    for a, b in compared:
        here = said.get(frozenset((a, b)))
        if here is None and classes[a] != classes[b]:
            here = _combined(kinds[names[a]], kinds[names[b]])
        natural = surfaces[a].against(surfaces[b])
        if here is not None and replace(natural, name="") != here:
            yield SurfacePair(a, b, replace(here, name=natural.name))


def _give_bits(source: MjcfSource, found: GeomContacts, pairs: list[frozenset[int]]) -> None:
    """Bits for geoms that touch because a <pair> says so: one for each geom that many of them share."""
    apart = [pair for pair in pairs if not _meet(found, *pair)]
    used = 0
    for bits in (*found.types.values(), *found.affinities.values()):
        used |= bits
    free = [1 << k for k in range(_BITS) if not used >> k & 1]
    while apart and free:
        counts: dict[int, int] = {}
        for g in (g for pair in apart for g in pair):
            counts[g] = counts.get(g, 0) + 1
        shared, bit = max(counts, key=lambda g: counts[g]), free.pop(0)
        found.types[shared] |= bit
        for (other,) in (pair - {shared} for pair in apart if shared in pair):
            found.affinities[other] |= bit
        apart = [pair for pair in apart if shared not in pair]
    if apart:
        source.note("warning", "contacts", f"{len(apart)} pairs of geoms left out: more than bits can say")


def _meet(found: GeomContacts, a: int, b: int) -> bool:
    return bool(found.types[a] & found.affinities[b] or found.types[b] & found.affinities[a])
