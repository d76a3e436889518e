"""Meshes as convex hulls, for contact."""

from __future__ import annotations

from dataclasses import replace

from knuckle.errors import ModelError
from knuckle.formats.mesh_hull import hull_corners
from knuckle.model import Body, Geometry, Mesh, Model
from knuckle.public_names import public_in


@public_in("contact")
def with_hulls(model: Model) -> Model:
    """The model with the corners of the convex hulls of all meshes that collide, read from their files.

    The hulls are part of the model then: what is compiled for it knows them, and files are not read again.

    Raises:
        ModelError: a mesh file is missing or cannot be read; the message names it.
    """
    base, bodies = _body(model.base), tuple(_body(body) for body in model.bodies)
    is_same = base is model.base and all(a is b for a, b in zip(bodies, model.bodies, strict=True))
    return model if is_same else model.replace(base=base, bodies=bodies)


def _body(body: Body) -> Body:
    if not any(isinstance(x.shape, Mesh) and not x.shape.hull for x in body.collisions):
        return body
    return replace(body, collisions=tuple(_geometry(x, body.name) for x in body.collisions))


def _geometry(geometry: Geometry, body: str) -> Geometry:
    shape = geometry.shape
    if not isinstance(shape, Mesh) or shape.hull:
        return geometry
    if shape.path is None:
        raise ModelError(f"the mesh {shape.uri!r} of {body!r} was not found, so that its hull is not known")
    return replace(geometry, shape=replace(shape, hull=hull_corners(shape.path, shape.scale)))
