"""Where two shapes touch: the text for each pair of kinds."""

from __future__ import annotations

from collections.abc import Callable

from knuckle.algorithms.contact.plane_gaps import (
    Places,
    box_on_plane,
    capsule_on_plane,
    cylinder_on_plane,
    ellipsoid_on_plane,
    sphere_on_plane,
)
from knuckle.algorithms.contact.shape_gaps import (
    capsule_on_capsule,
    sphere_on_box,
    sphere_on_capsule,
    sphere_on_sphere,
)
from knuckle.model.parts import Box, Capsule, Cylinder, Ellipsoid, Plane, Shape, Sphere
from knuckle.spatial import Transform

_ON_PLANE: dict[type, Callable[..., Places]] = {
    Sphere: sphere_on_plane,
    Capsule: capsule_on_plane,
    Box: box_on_plane,
    Cylinder: cylinder_on_plane,
    Ellipsoid: ellipsoid_on_plane,
}
_PAIRS: dict[tuple[type, type], Callable[..., Places]] = {
    (Sphere, Sphere): sphere_on_sphere,
    (Sphere, Capsule): sphere_on_capsule,
    (Sphere, Box): sphere_on_box,
    (Capsule, Capsule): capsule_on_capsule,
}


def is_known(first: Shape, second: Shape) -> bool:
    """Whether there is a text for two shapes, in this order."""
    on_plane = isinstance(second, Plane) and type(first) in _ON_PLANE
    return on_plane or (type(first), type(second)) in _PAIRS


def places(first: Shape, X: Transform, second: Shape, Y: Transform) -> Places:
    """Where two shapes are nearest, placed by transforms from base coordinates. `is_known` says if there is a text."""
    if isinstance(second, Plane):
        return _ON_PLANE[type(first)](first, X, Y)
    return _PAIRS[type(first), type(second)](first, X, second, Y)
