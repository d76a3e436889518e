"""Meshes as convex hulls, for contact."""

from __future__ import annotations

from dataclasses import replace

from knuckle.errors import ModelError
from knuckle.formats.mesh_hull import mesh_hull
from knuckle.model import Body, Geometry, Mesh, Model
from knuckle.public_names import public_in
from knuckle.warning import warn

CONVEX_ENOUGH = 0.8
"""The part of its hull that a mesh fills at least, if it is to be taken for it without a word."""


@public_in("contact")
def with_hulls(model: Model) -> Model:
    """The model with the corners of the convex hulls of all meshes that collide, read from their files.

    The hulls are part of the model then: what is compiled for it knows them, and files are not read again. A warning
    names closed meshes that are hollow or bent, so that their hulls are a good deal larger than they are.

    Raises:
        ModelError: a mesh file is missing or cannot be read; the message names it.
    """
    hollow: list[str] = []
    base, bodies = _body(model.base, hollow), tuple(_body(body, hollow) for body in model.bodies)
    if hollow:
        warn(
            f"contact takes meshes for their convex hulls, and these are not convex: {', '.join(hollow)}. What is "
            "hollow in them is solid for contact: give the links several convex shapes, or leave the meshes out "
            "(kn.model.edit.keep_collisions)"
        )
    is_same = base is model.base and all(a is b for a, b in zip(bodies, model.bodies, strict=True))
    return model if is_same else model.replace(base=base, bodies=bodies)


def _body(body: Body, hollow: list[str]) -> Body:
    if not any(isinstance(x.shape, Mesh) and not x.shape.hull for x in body.collisions):
        return body
    return replace(body, collisions=tuple(_geometry(x, body.name, hollow) for x in body.collisions))


def _geometry(geometry: Geometry, body: str, hollow: list[str]) -> Geometry:
    """The shape with its hull; a mesh that is much smaller is noted."""
    shape = geometry.shape
    if not isinstance(shape, Mesh) or shape.hull:
        return geometry
    if shape.path is None:
        raise ModelError(f"the mesh {shape.uri!r} of {body!r} was not found, so that its hull is not known")
    hull = mesh_hull(shape.path, shape.scale)
    if hull.filled < CONVEX_ENOUGH:
        hollow.append(f"{shape.path} of link {body!r} fills {hull.filled:.0%} of its hull")
    return replace(geometry, shape=replace(shape, hull=hull.corners))
