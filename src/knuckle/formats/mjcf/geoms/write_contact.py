"""Surfaces, pairs of them and bodies that never touch, as MJCF has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from knuckle.formats.mjcf.mjcf_losses import is_ground, wraps_base
from knuckle.model import ROOT, ContactRules, Geometry, Model, Surface
from knuckle.model.contact import contact_candidates, joined_bodies, welds

GeomNames = Mapping[tuple[str, int, int], str]
"""Names of geoms by role ("visuals" or "collisions"), body and number."""


def geom_names(model: Model) -> dict[tuple[str, int, int], str]:
    """Each shape's own name where no other has it, and a new one for a colliding shape that a <pair> speaks of."""
    bodies = [(ROOT, model.base), *enumerate(model.bodies)]
    shapes = {
        (role, i, k): shape.name
        for role in ("collisions", "visuals")
        for i, body in bodies
        for k, shape in enumerate(getattr(body, role))
    }
    names: dict[tuple[str, int, int], str] = {}
    taken: set[str] = set()
    for key, name in shapes.items():
        if name and name not in taken:
            names[key] = name
            taken.add(name)
    for a, b, _ in _special(model):
        for role, i, k in (a, b):
            name = f"{model.base.name if i == ROOT else model.body_names[i]} shape {k}"
            while name in taken:
                name += "_"
            if (role, i, k) not in names:
                names[role, i, k] = name
                taken.add(name)
    return names


def contact_words(rules: ContactRules, shape: Geometry) -> dict[str, str]:
    """The attributes of a geom that say how it touches, left out where they are MuJoCo's own."""
    surface, said = rules.surface(shape.surface), dict[str, str]()
    if rules.surfaces:
        said["friction"] = _texts(surface.friction, surface.torsional, surface.rolling)
    if _condim(surface) != 3:
        said["condim"] = str(_condim(surface))
    for word, bits in (("contype", shape.contact_type), ("conaffinity", shape.contact_affinity)):
        if bits != 1:
            said[word] = str(bits)
    return said


def exclusions(model: Model) -> list[tuple[str, str]]:
    """The pairs of bodies that MuJoCo has to be told never touch: it knows that of a body and its parent that moves."""
    weld = welds(model)
    names = {ROOT: model.base.name if wraps_base(model) else "world", **dict(enumerate(model.body_names))}
    members: dict[int, list[int]] = {}
    for i, root in weld.items():
        members.setdefault(root, []).append(i)
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    for pair in joined_bodies(model):
        a, b = sorted(pair) if len(pair) == 2 else (ROOT, ROOT)
        known = a != ROOT and weld[model.joints[b].parent] == a
        if a == b or known or (a == ROOT and not wraps_base(model)):
            continue
        for i, k in product(members[a], members[b]):
            pairs.setdefault(frozenset((names[i], names[k])), (names[i], names[k]))
    own = {model.base.name: names[ROOT]}
    for first, second in model.contact.ignored:
        one, two = own.get(first, first), own.get(second, second)
        pairs.setdefault(frozenset((one, two)), (one, two))
        if model.base.name in (first, second) and names[ROOT] != "world" and any(map(is_ground, model.base.collisions)):
            other = second if first == model.base.name else first
            pairs.setdefault(frozenset(("world", other)), ("world", other))
    return sorted(pairs.values())


def pair_words(model: Model, names: GeomNames) -> Iterator[dict[str, str]]:
    """The attributes of every <pair>: of shapes for whose surfaces the rules say what their own do not."""
    for a, b, contact in _special(model):
        sliding, rolling = contact.friction, contact.rolling
        friction = _texts(sliding, sliding, contact.torsional, rolling, rolling)
        yield {"geom1": names[a], "geom2": names[b], "condim": str(_condim(contact)), "friction": friction}


def _special(model: Model) -> Iterator[tuple[tuple[str, int, int], tuple[str, int, int], Surface]]:
    rules = model.contact
    if not rules.pairs:
        return
    for a, b in contact_candidates(model):
        one, two = a.geometry.surface, b.geometry.surface
        here, natural = rules.between(one, two), rules.surface(one).against(rules.surface(two))
        if _rubs(here) != _rubs(natural) and all(x.body == ROOT or not is_ground(x.geometry) for x in (a, b)):
            yield ("collisions", a.body, a.k), ("collisions", b.body, b.k), here


def _rubs(surface: Surface) -> Surface:
    """What of a surface MJCF can say."""
    return replace(surface, name="", restitution=0.0, stiffness=None, damping=None)


def _condim(surface: Surface) -> int:
    if surface.rolling:
        return 6
    if surface.torsional:
        return 4
    return 3 if surface.friction else 1


def _texts(*values: float) -> str:
    return " ".join(repr(x).removesuffix(".0") for x in values)
