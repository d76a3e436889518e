"""Contacts of any convex shapes, for plain numbers: what is compiled together with what other libraries find."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from knuckle.algorithms.contact.plane_gaps import TouchPoint
from knuckle.algorithms.contact.shape_gaps import axes_at
from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.engine.calls.function import function
from knuckle.errors import ModelError
from knuckle.extras import install
from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, Mesh, Model, Plane, Sphere
from knuckle.model.parts import HeightField, Shape
from knuckle.public_names import public_in
from knuckle.spatial import Matrix, Transform

from .colliders import LIBRARIES, Array, Collider, collider, installed_library
from .contact_pairs import ContactPair, contact_pairs
from .contact_terms import Candidate
from .detection import is_known
from .pair_loops.near_places import PLACE_SIZE, PairTable, near_places

PLACES = 5
"""The places of two shapes that a library computes: the nearest, and one for each way in which the first may tilt."""
COUNTS: dict[tuple[type, type], int] = {
    (Sphere, Plane): 1, (Capsule, Plane): 2, (Box, Plane): 4, (Cylinder, Plane): 4, (Ellipsoid, Plane): 1,
    (Mesh, Plane): 4, (Sphere, HeightField): 1, (Capsule, HeightField): 3, (Box, HeightField): 5,
    (Cylinder, HeightField): 6, (Ellipsoid, HeightField): 1, (Mesh, HeightField): 5, (Capsule, Box): 2, (Box, Box): 4,
}  # fmt: skip
"""The places of two shapes that have a text; others of them have one."""
TILT = 1e-3
"""By how much it tilts, in radians."""
APART = 0.01
"""How far places are from each other at least, relative to the smaller shape's size, to be two."""


@public_in("contact")
@dataclass(frozen=True)
class ShapeCollider:
    """Where shapes of a mechanism touch, also those that have no text: cylinders, ellipsoids and hulls on each other.

    These are computed by coal (the extra `collision`) or by MuJoCo's collider (the extra `mjcf`), one state at a time:
    rollouts cannot have them. Each such pair has five places: the nearest points, and the points that would be nearest
    if the first shape were tilted a little, four ways. The gap there is that of these points along the same normal. A
    place that is not needed has a gap that is larger than the shapes.
    """

    model: Model
    library: str | None
    pairs: tuple[ContactPair, ...]
    """As `contact_pairs` lists them with `any_shapes`."""
    counts: tuple[int, ...]
    """How many places each pair has."""
    colliders: tuple[Collider, ...]
    """Those of the pairs that are not compiled."""

    @classmethod
    def of(cls, model: Model, library: str | None = None) -> ShapeCollider:
        """All pairs of shapes of a model; meshes that collide need their hulls (`with_hulls`).

        Args:
            model: the mechanism.
            library: "coal" or "mujoco"; the first of them that is installed, if not given.
        """
        if library not in (None, *LIBRARIES):
            raise ValueError(f'library is "coal" or "mujoco", not {library!r}')
        pairs = contact_pairs(model, any_shapes=True)
        others = [pair for pair in pairs if not pair.is_compiled]
        name = library or (installed_library() if others else None)
        if others and name is None:
            first, second = others[0].names(model)
            raise ModelError(
                f"the contact of {first!r} and {second!r} needs coal or mujoco, and neither is installed: "
                f"{install('collision')}, or {install('mjcf')}"
            )
        colliders = tuple(collider(name or "", x.first_shape.shape, x.second_shape.shape) for x in others)
        return cls(model, name, pairs, place_counts(pairs), colliders)

    @cached_property
    def _table(self) -> PairTable:
        return PairTable.of(self.pairs, self.counts)

    def places(self, q: Any) -> Array:
        """Gap, point and normal of each place, as rows (n, 7), in one state; in base coordinates."""
        placed = np.array(_placements(self.model, q, shapes=self._table.placements), float).reshape(-1, 4, 3)
        room = self._table.room(self._table.codes(), placed.reshape(-1))
        room.speed[:] = math.inf  # so that all are looked at
        near_places(room, 1.0)
        found, others = room.places.reshape(-1, PLACE_SIZE), iter(self.colliders)
        for k, (kind, first, second, start, count, _) in enumerate(self._table.rows):
            if kind < 0:
                found[start : start + count] = self.places_of(k, next(others), placed[first], placed[second])
        return found

    def places_of(self, pair: int, collider: Collider, first: Array, second: Array) -> list[list[float]]:
        """The places of a pair that a library computes; its shapes are placed by their axes and origins (4, 3)."""
        shapes = self.pairs[pair].first_shape.shape, self.pairs[pair].second_shape.shape
        size = min(map(_size, shapes))
        return _tilted_places(collider, first[:3].T, first[3], second[:3].T, second[3], size)


def candidates_at(model: Model, places: Sequence[Sequence[Any]]) -> list[Candidate]:
    """All places as `contact_terms.candidates` lists them, where they are known: rows of gap, point and normal."""
    every = contact_pairs(model, any_shapes=True)
    pairs = [pair for pair, count in zip(every, place_counts(every), strict=True) for _ in range(count)]
    return [Candidate(pair, touch_point(place)) for pair, place in zip(pairs, places, strict=True)]


def touch_point(place: Sequence[Any]) -> TouchPoint:
    """A place from its row of gap, point and normal."""
    gap, x, y, z, a, b, c = place
    return TouchPoint(gap, (x, y, z), (a, b, c))


def place_counts(pairs: Sequence[ContactPair]) -> tuple[int, ...]:
    """How many places each pair has."""
    return tuple(_place_count(pair.first_shape.shape, pair.second_shape.shape) for pair in pairs)


def _place_count(first: Shape, second: Shape) -> int:
    if isinstance(second, (Plane, HeightField)):
        return COUNTS.get((type(first), type(second)), PLACES)
    return COUNTS.get((type(first), type(second)), 1 if is_known(first, second) else PLACES)


@function(q="q", loops=True)
def _placements(model: Model, q: Any, shapes: tuple[tuple[int, Transform], ...]) -> Array:
    """The axes and the origin of each shape."""
    X0 = positions(model, model.positions(q))
    here = [X @ X0[i] for i, X in shapes]
    return Matrix([[*X.E[0], *X.E[1], *X.E[2], *X.r] for X in here], 12)  # type: ignore[return-value]


def _tilted_places(pair: Collider, R: Array, r: Array, S: Array, s: Array, size: float) -> list[list[float]]:
    """The nearest points, and those of the first shape tilted four ways about its nearest point."""
    near = pair.nearest(R, r, S, s)
    n, pivot = near.normal, near.first
    middles = [(near.first + near.second) / 2]
    rows, spare = [[near.distance, *middles[0], *n]], [near.distance + 10 * size, *middles[0], *n]
    if near.distance > size:
        return [*rows, *[spare] * (PLACES - 1)]
    _, t, u = (np.array(x, float) for x in axes_at((float(n[0]), float(n[1]), float(n[2]))))
    for axis in (t, u, -t, -u):
        Q = _turned(axis)
        tilted = pair.nearest(Q @ R, pivot + Q @ (r - pivot), S, s)
        first, second = pivot + Q.T @ (tilted.first - pivot), tilted.second
        middle, gap = (first + second) / 2, float(n @ (first - second))
        if min(np.linalg.norm(middle - x) for x in middles) > APART * size:
            middles.append(middle)
            rows.append([gap, *middle, *n])
        else:
            rows.append(spare)
    return rows


def _turned(axis: Array) -> Array:
    """The rotation by `TILT` about an axis of length one."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(TILT) * K + (1 - math.cos(TILT)) * K @ K


def _size(shape: Shape) -> float:
    """A length of about a shape's size."""
    match shape:
        case Sphere(radius):
            return 2 * radius
        case Capsule(radius, length) | Cylinder(radius, length):
            return 2 * radius + length
        case Box(size):
            return math.hypot(*size)
        case Ellipsoid(radii):
            return 2 * max(radii)
        case Mesh(hull=hull):
            return 2 * max(math.hypot(*corner) for corner in hull)
        case _:
            return 1.0
