"""Where two shapes touch: the text for each pair of kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from knuckle.algorithms.contact.pairs.box_gaps import box_on_box
from knuckle.algorithms.contact.pairs.capsule_gaps import capsule_on_box, capsule_on_capsule
from knuckle.algorithms.contact.pairs.hull_gaps import hull_on_plane, hull_on_terrain
from knuckle.algorithms.contact.pairs.round_on_terrain import cylinder_on_terrain, ellipsoid_on_terrain
from knuckle.algorithms.contact.pairs.terrain_gaps import box_on_terrain, capsule_on_terrain, sphere_on_terrain
from knuckle.algorithms.contact.plane_gaps import (
    Places,
    TouchPoint,
    box_on_plane,
    capsule_on_plane,
    cylinder_on_plane,
    ellipsoid_on_plane,
    sphere_on_plane,
)
from knuckle.algorithms.contact.shape_gaps import sphere_on_box, sphere_on_capsule, sphere_on_sphere
from knuckle.model.parts import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Shape, Sphere
from knuckle.spatial import Transform, called

Kinds = tuple[type, type]

_ON_PLANE: dict[type, Callable[..., Places]] = {
    Sphere: sphere_on_plane,
    Capsule: capsule_on_plane,
    Box: box_on_plane,
    Cylinder: cylinder_on_plane,
    Ellipsoid: ellipsoid_on_plane,
    Mesh: hull_on_plane,
}
_ON_TERRAIN: dict[type, Callable[..., Places]] = {
    Sphere: sphere_on_terrain,
    Capsule: capsule_on_terrain,
    Box: box_on_terrain,
    Cylinder: cylinder_on_terrain,
    Ellipsoid: ellipsoid_on_terrain,
    Mesh: hull_on_terrain,
}
_PAIRS: dict[Kinds, Callable[..., Places]] = {
    (Sphere, Sphere): sphere_on_sphere,
    (Sphere, Capsule): sphere_on_capsule,
    (Sphere, Box): sphere_on_box,
    (Capsule, Capsule): capsule_on_capsule,
}
_LONG: dict[Kinds, Callable[..., Places]] = {
    (Capsule, Box): capsule_on_box,
    (Box, Box): box_on_box,
}
"""Texts that are printed once, however many pairs there are of such shapes."""


def is_known(first: Shape, second: Shape) -> bool:
    """Whether there is a text for two shapes, in this order."""
    if isinstance(second, Plane):
        return type(first) in _ON_PLANE and _is_read(first)
    if isinstance(second, HeightField):
        return type(first) in _ON_TERRAIN and _is_read(first)
    kinds = type(first), type(second)
    return kinds in _PAIRS or kinds in _LONG


def _is_read(shape: Shape) -> bool:
    """Whether a shape is known by its numbers: a mesh is if its hull was read."""
    return not isinstance(shape, Mesh) or bool(shape.hull)


@dataclass(frozen=True)
class Detector:
    """Where shapes are nearest, for all pairs of one run of a text."""

    _pieces: dict[Any, Callable[..., Any]] = field(default_factory=dict[Any, Callable[..., Any]])

    def places(self, first: Shape, X: Transform, second: Shape, Y: Transform) -> Places:
        """The places of two shapes for which there is a text, placed by transforms from base coordinates."""
        kinds = type(first), type(second)
        if isinstance(second, Plane):
            return _ON_PLANE[type(first)](first, X, Y)
        if kinds in _PAIRS:
            return _PAIRS[kinds](first, X, second, Y)
        if isinstance(second, HeightField):
            piece = self._piece((type(first), first, second), lambda: _on_terrain(first, second))
            found = piece(X.E, X.r, Y.E, Y.r)
        else:
            piece = self._piece(kinds, lambda: _of_kinds(*kinds))
            found = piece(_numbers(first), X.E, X.r, _numbers(second), Y.E, Y.r)
        return [TouchPoint(*place) for place in found]

    def _piece(self, key: Any, make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        if key not in self._pieces:
            self._pieces[key] = make()
        return self._pieces[key]


def _numbers(shape: Shape) -> tuple[Any, ...]:
    """What a shape is made of, which may be symbols."""
    return tuple(getattr(shape, field.name) for field in fields(shape))


def _of_kinds(first: type, second: type) -> Callable[..., Any]:
    """The text of two kinds of shapes, over the shapes' numbers."""
    text = _LONG[first, second]

    def flat(a: Any, E: Any, r: Any, b: Any, F: Any, s: Any) -> tuple[Any, ...]:
        return tuple(tuple(x) for x in text(first(*a), Transform(E, r), second(*b), Transform(F, s)))

    return called(flat, is_general=True)


def _on_terrain(first: Shape, field: HeightField) -> Callable[..., Any]:
    """The text of a shape on a height field, whose heights are a table in it."""
    text = _ON_TERRAIN[type(first)]

    def flat(E: Any, r: Any, F: Any, s: Any) -> tuple[Any, ...]:
        return tuple(tuple(x) for x in text(first, Transform(E, r), field, Transform(F, s)))

    return called(flat, is_general=True)
