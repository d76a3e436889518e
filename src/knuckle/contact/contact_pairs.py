"""Which shapes of a mechanism may touch."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from knuckle.errors import ModelError
from knuckle.model import ROOT, Body, Geometry, Model
from knuckle.model.surfaces import Surface

from .detection import is_known


@dataclass(frozen=True)
class ContactPair:
    """Two shapes that may touch, the bodies that they are on, and what holds between their surfaces."""

    first: int
    second: int
    first_shape: Geometry
    second_shape: Geometry
    surface: Surface

    def names(self, model: Model) -> tuple[str, str]:
        """The names of the two bodies."""
        return _body(model, self.first).name, _body(model, self.second).name


def _body(model: Model, i: int) -> Body:
    return model.base if i == ROOT else model.bodies[i]


def contact_pairs(model: Model) -> tuple[ContactPair, ...]:
    """All pairs of shapes that may touch, in the order of their bodies.

    Shapes of one body never do, nor those of a body and the body that carries it, unless that is the base. Shapes on
    the base do not touch each other. An error names two shapes whose contact cannot be computed.
    """
    pairs: list[ContactPair] = []
    for i, j in combinations(range(ROOT, model.nb), 2):
        if (i != ROOT and model.parents[j] == i) or model.contact.is_ignored(
            _body(model, i).name, _body(model, j).name
        ):
            continue
        for one in _body(model, i).collisions:
            for other in _body(model, j).collisions:
                if _may_touch(one, other):
                    pairs.append(_pair(model, (i, one), (j, other)))
    return tuple(pairs)


def _may_touch(one: Geometry, other: Geometry) -> bool:
    return bool(one.contact_type & other.contact_affinity or other.contact_type & one.contact_affinity)


def _pair(model: Model, one: tuple[int, Geometry], other: tuple[int, Geometry]) -> ContactPair:
    surface = model.contact.between(one[1].surface, other[1].surface)
    for (i, a), (j, b) in ((other, one), (one, other)):
        if is_known(a.shape, b.shape):
            return ContactPair(i, j, a, b, surface)
    kinds = " and ".join(
        f"a {type(geometry.shape).__name__.lower()} of {_body(model, i).name!r}" for i, geometry in (one, other)
    )
    raise ModelError(
        f"the contact of {kinds} cannot be computed: give them simpler shapes, or take the bodies out of contact"
    )
