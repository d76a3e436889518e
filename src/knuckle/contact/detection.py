"""Where two shapes touch: the text for each pair of kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from typing import Any

from knuckle.algorithms.contact.box_gaps import box_on_box
from knuckle.algorithms.contact.capsule_gaps import capsule_on_box, capsule_on_capsule
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
from knuckle.model.parts import Box, Capsule, Cylinder, Ellipsoid, Plane, Shape, Sphere
from knuckle.spatial import Transform, called

Kinds = tuple[type, type]

_ON_PLANE: dict[type, Callable[..., Places]] = {
    Sphere: sphere_on_plane,
    Capsule: capsule_on_plane,
    Box: box_on_plane,
    Cylinder: cylinder_on_plane,
    Ellipsoid: ellipsoid_on_plane,
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
    on_plane = isinstance(second, Plane) and type(first) in _ON_PLANE
    kinds = type(first), type(second)
    return on_plane or kinds in _PAIRS or kinds in _LONG


@dataclass(frozen=True)
class Detector:
    """Where shapes are nearest, for all pairs of one run of a text."""

    _pieces: dict[Kinds, Callable[..., Any]] = field(default_factory=dict[Kinds, Callable[..., Any]])

    def places(self, first: Shape, X: Transform, second: Shape, Y: Transform) -> Places:
        """The places of two shapes for which there is a text, placed by transforms from base coordinates."""
        kinds = type(first), type(second)
        if isinstance(second, Plane):
            return _ON_PLANE[type(first)](first, X, Y)
        if kinds in _PAIRS:
            return _PAIRS[kinds](first, X, second, Y)
        if kinds not in self._pieces:
            self._pieces[kinds] = _piece(*kinds)
        found = self._pieces[kinds](astuple(first), X.E, X.r, astuple(second), Y.E, Y.r)
        return [TouchPoint(*place) for place in found]


def _piece(first: type, second: type) -> Callable[..., Any]:
    """The text of two kinds of shapes, over the shapes' numbers."""
    text = _LONG[first, second]

    def flat(a: Any, E: Any, r: Any, b: Any, F: Any, s: Any) -> tuple[Any, ...]:
        return tuple(tuple(x) for x in text(first(*a), Transform(E, r), second(*b), Transform(F, s)))

    return called(flat, is_general=True)
