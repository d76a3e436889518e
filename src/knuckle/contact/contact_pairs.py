"""The shapes of a mechanism that may touch, in pairs whose contact can be computed."""

from __future__ import annotations

from dataclasses import dataclass

from knuckle.errors import ModelError
from knuckle.model import ROOT, Body, Geometry, Mesh, Model
from knuckle.model.contact.contact_candidates import ShapeOn, contact_candidates
from knuckle.model.surfaces import Surface
from knuckle.public_names import public_in

from .colliders import CONVEX
from .detection import is_known


@public_in("contact")
@dataclass(frozen=True)
class ContactPair:
    """Two shapes that may touch, the bodies that they are on, and what holds between their surfaces."""

    first: int
    second: int
    first_shape: Geometry
    second_shape: Geometry
    surface: Surface

    @property
    def is_compiled(self) -> bool:
        """Whether there is a text for it, so that it can be part of compiled code; else it takes a `ShapeCollider`."""
        return is_known(self.first_shape.shape, self.second_shape.shape)

    def names(self, model: Model) -> tuple[str, str]:
        """The names of the two bodies."""
        return _body(model, self.first).name, _body(model, self.second).name


def _body(model: Model, i: int) -> Body:
    return model.base if i == ROOT else model.bodies[i]


@public_in("contact")
def contact_pairs(model: Model, *, any_shapes: bool = False) -> tuple[ContactPair, ...]:
    """All pairs of shapes that may touch (`kn.model.contact_candidates`), in the order in which gaps are computed.

    Some pairs have several places: a box on a plane has four. An error names shapes whose contact cannot be computed in
    compiled code; with `any_shapes`, only those that no `ShapeCollider` can compute either.
    """
    surfaces: dict[tuple[str, str], Surface] = {}
    return tuple(_pair(model, one, other, any_shapes, surfaces) for one, other in contact_candidates(model))


def _pair(
    model: Model, one: ShapeOn, other: ShapeOn, any_shapes: bool, surfaces: dict[tuple[str, str], Surface]
) -> ContactPair:
    """A pair; `surfaces` has what holds between those that were met before."""
    names = one.geometry.surface, other.geometry.surface
    surface = surfaces.get(names) or surfaces.setdefault(names, model.contact.between(*names))
    shapes = one.geometry.shape, other.geometry.shape
    for a, b in ((other, one), (one, other)):
        if is_known(a.geometry.shape, b.geometry.shape):
            return ContactPair(a.body, b.body, a.geometry, b.geometry, surface)
    kinds = " and ".join(
        f"a {type(x.geometry.shape).__name__.lower()} of {_body(model, x.body).name!r}" for x in (one, other)
    )
    if any(isinstance(shape, Mesh) and not shape.hull for shape in shapes):
        raise ModelError(
            f"the contact of {kinds} cannot be computed without the mesh's hull: kn.contact.with_hulls(model) reads it"
        )
    is_convex = all(isinstance(shape, CONVEX) for shape in shapes)
    if any_shapes and is_convex:
        return ContactPair(other.body, one.body, other.geometry, one.geometry, surface)
    where = " in compiled code" if is_convex else ""
    raise ModelError(
        f"the contact of {kinds} cannot be computed{where}: give them simpler shapes, or take the bodies out of contact"
    )
