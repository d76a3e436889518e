"""Which pairs of shapes may touch: those that nothing holds together, and that no rule keeps apart."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from knuckle.joints import Free
from knuckle.model.edit.places import is_weld
from knuckle.model.model import Model
from knuckle.model.parts import ROOT, Body, Geometry, HeightField, Plane


class ShapeOn(NamedTuple):
    """The k-th colliding shape of a body (ROOT for the base)."""

    body: int
    k: int
    geometry: Geometry


def contact_candidates(model: Model) -> tuple[tuple[ShapeOn, ShapeOn], ...]:
    """The pairs of colliding shapes that may touch, those of lower bodies first.

    Two shapes may if the bits of one's `contact_type` and the other's `contact_affinity` say so, unless the rules
    ignore their bodies, or their bodies are one or joined (`joined_bodies`). Planes and height fields of the base are
    ground: they touch what the base carries too.
    """
    weld, joined = welds(model), joined_bodies(model)
    names = {ROOT: model.base.name, **dict(enumerate(model.body_names))}
    ignored = {frozenset(pair) for pair in model.contact.ignored}
    shapes = [ShapeOn(i, k, x) for i, body in _bodies(model) for k, x in enumerate(body.collisions)]
    return tuple(
        (a, b)
        for a, b in combinations(shapes, 2)
        if _bits_meet(a.geometry, b.geometry)
        and weld[a.body] != weld[b.body]
        and (frozenset((weld[a.body], weld[b.body])) not in joined or _is_ground(a, weld) or _is_ground(b, weld))
        and frozenset((names[a.body], names[b.body])) not in ignored
    )


def may_touch_ground(model: Model) -> bool:
    """Whether some body may touch a shape of the base: a ground, a terrain, a wall."""
    weld = welds(model)
    if not any(body.collisions for i, body in _bodies(model) if weld[i] == ROOT):
        return False
    return any(ROOT in (weld[a.body], weld[b.body]) for a, b in contact_candidates(model))


def joined_bodies(model: Model) -> set[frozenset[int]]:
    """The pairs of bodies that a joint of the tree, other than a free one, or a loop joint holds together.

    Bodies on fixed joints count as the body that carries them, and bodies without mass and shapes, which stand between
    the joints of one place, as parts of the joint.
    """
    weld = welds(model)
    filled = {weld[i] for i, body in _bodies(model) if body.collisions or body.inertia.mass != 0}
    joined = {frozenset((weld[loop.predecessor], weld[loop.successor])) for loop in model.loops}
    for i, joint in enumerate(model.joints):
        free, carrier = isinstance(joint.type, Free), weld[joint.parent]
        while not free and carrier != ROOT and carrier not in filled:
            free = isinstance(model.joints[carrier].type, Free)
            carrier = weld[model.joints[carrier].parent]
        if not free and weld[i] == i:
            joined.add(frozenset((carrier, i)))
    return joined


def _bodies(model: Model) -> list[tuple[int, Body]]:
    return [(ROOT, model.base), *enumerate(model.bodies)]


def welds(model: Model) -> dict[int, int]:
    """The body, or ROOT, that each body is part of, fixed joints being none."""
    weld = {ROOT: ROOT}
    for i, joint in enumerate(model.joints):
        weld[i] = weld[joint.parent] if is_weld(joint.type) else i
    return weld


def _is_ground(shape: ShapeOn, weld: dict[int, int]) -> bool:
    return weld[shape.body] == ROOT and isinstance(shape.geometry.shape, (Plane, HeightField))


def _bits_meet(a: Geometry, b: Geometry) -> bool:
    return bool(a.contact_type & b.contact_affinity or b.contact_type & a.contact_affinity)
