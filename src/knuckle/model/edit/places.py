"""What every edit shares: bodies that go to other bodies, and everything that was fastened to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from knuckle.joints import Composite, Fixed, InPlane, Joint, Reversed
from knuckle.model.deformables import Deformable
from knuckle.model.elements import ForceElement
from knuckle.model.model import Model
from knuckle.model.parts import Body, Frame, Geometry, LoopJoint, Note
from knuckle.model.placement import Placement, to_transform
from knuckle.spatial import PLANAR, PlanarTransform, Transform, project
from knuckle.spatial.algebra import embed

E = TypeVar("E", ForceElement, Deformable)


@dataclass(frozen=True)
class Place:
    """Where a body's frame is after an edit: on body `body`, from whose frame `X` leads to it."""

    body: int
    X: Any


def is_weld(kind: Joint) -> bool:
    """Whether a joint holds its two bodies together for good: `Fixed`, also reversed, in the plane or in a chain."""
    if isinstance(kind, (InPlane, Reversed)):
        return is_weld(kind.joint)
    if isinstance(kind, Composite):
        return all(is_weld(joint) for joint in kind.joints)
    return isinstance(kind, Fixed)


def transform_in(model: Model, at: Placement, element: str) -> Any:
    """A placement as a transform of the model's algebra."""
    X = to_transform(at, "placement", element)
    return project(X) if model.algebra is PLANAR and isinstance(X, Transform) else X


def placed_geometry(shapes: Iterable[Geometry], X: Any) -> tuple[Geometry, ...]:
    """Shapes of a body as shapes of another, whose frame `X` leads from; spatial ones, in the plane too."""
    there = embed(X) if isinstance(X, PlanarTransform) else X
    return tuple(dataclasses.replace(shape, X=shape.X @ there) for shape in shapes)


def welded(host: Body, guest: Body, X: Any) -> Body:
    """`host` with `guest` fastened to it at `X`: inertia Xᵀ I X added (RBDA 2.66), shapes brought along."""
    return Body(
        host.name,
        host.inertia + X.T @ guest.inertia @ X,
        host.visuals + placed_geometry(guest.visuals, X),
        host.collisions + placed_geometry(guest.collisions, X),
    )


def re_expressed(body: Body, X: Any) -> Body:
    """The body with its frame moved to where `X` leads: inertia X* I X⁻¹ (RBDA 2.66), shapes left in place."""
    back = X.inverse()
    visuals, collisions = placed_geometry(body.visuals, back), placed_geometry(body.collisions, back)
    return Body(body.name, X @ body.inertia, visuals, collisions)


def unused(name: str, taken: Container[str]) -> str:
    """`name`, or the first name made from it that is not taken."""
    while name in taken:
        name += "_"
    return name


def placed_frames(frames: Iterable[Frame], places: Mapping[int, Place]) -> tuple[Frame, ...]:
    """Frames on the bodies their own bodies went to."""
    return tuple(Frame(f.name, places[f.body].body, f.X @ places[f.body].X) for f in frames)


def placed_loops(loops: Iterable[LoopJoint], places: Mapping[int, Place]) -> tuple[LoopJoint, ...]:
    """Loop joints between the bodies their own bodies went to."""
    return tuple(
        dataclasses.replace(
            loop,
            predecessor=places[loop.predecessor].body,
            successor=places[loop.successor].body,
            X_predecessor=loop.X_predecessor @ places[loop.predecessor].X,
            X_successor=loop.X_successor @ places[loop.successor].X,
        )
        for loop in loops
    )


def on_frames(elements: Iterable[E], names: Mapping[str, str]) -> tuple[E, ...]:
    """Force elements, or deformables, on frames that have other names now."""
    return tuple(x.renamed(x.name, lambda frame: names.get(frame, frame)) for x in elements)


def noted(model: Model, notes: Iterable[Note]) -> Model:
    """The model with notes added to its provenance."""
    provenance = model.provenance
    return model.replace(provenance=dataclasses.replace(provenance, notes=(*provenance.notes, *notes)))
