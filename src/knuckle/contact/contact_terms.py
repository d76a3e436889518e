"""Contacts of a mechanism in a state: gaps, points, normals and Jacobians (RBDA 11.23-11.40)."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from knuckle.algorithms.contact.contact_rows import rate, row
from knuckle.algorithms.contact.plane_gaps import TouchPoint
from knuckle.algorithms.contact.shape_gaps import axes_at
from knuckle.algorithms.kinematics.body_motions import positions, velocities
from knuckle.engine.calls.function import Array, function
from knuckle.model import Model
from knuckle.public_names import public_in
from knuckle.scalar import ZERO, constant
from knuckle.spatial import Matrix, Transform, Vector

from .contact_pairs import ContactPair, contact_pairs
from .detection import Detector


class Candidate(NamedTuple):
    """A place at which two shapes may touch."""

    pair: ContactPair
    place: TouchPoint


def candidates(model: Model, X0: Any) -> list[Candidate]:
    """All places at which shapes may touch; X₀ goes from base to body coordinates."""
    found, detector = list[Candidate](), Detector()
    for pair in contact_pairs(model):
        X, Y = placed_shapes(pair, X0)
        places = detector.places(pair.first_shape.shape, X, pair.second_shape.shape, Y)
        found += [Candidate(pair, place) for place in places]
    return found


def placed_shapes(pair: ContactPair, X0: Any) -> tuple[Transform, Transform]:
    """From base to shape coordinates, for both shapes of a pair."""
    return pair.first_shape.X @ X0[pair.first], pair.second_shape.X @ X0[pair.second]


def _here(model: Model, q: Any) -> list[Candidate]:
    return candidates(model, positions(model, model.positions(q)))


@public_in("contact")
@function(q="q", loops=True)
def gaps(model: Model, q: ArrayLike) -> Array:
    """The gap (..., n) at each place where shapes may touch, negative where they overlap (RBDA 11.37)."""
    return Vector(candidate.place.gap for candidate in _here(model, q))


@public_in("contact")
@function(q="q", loops=True)
def points(model: Model, q: ArrayLike) -> Array:
    """The points (..., n, 3) half-way between the shapes, in base coordinates."""
    return Matrix([candidate.place.point for candidate in _here(model, q)], 3)


@public_in("contact")
@function(q="q", loops=True)
def normals(model: Model, q: ArrayLike) -> Array:
    """The normals (..., n, 3) in base coordinates: from the second body of a pair to the first."""
    return Matrix([candidate.place.normal for candidate in _here(model, q)], 3)


@public_in("contact")
@function(q="q", v="v", loops=True)
def gap_rates(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """The rates φ̇ = tᵀq̇ (..., n) of the gaps: the velocity of the first body against the second along the normal.

    (RBDA 11.24, 11.37.) Of a pair with several places that is the derivative of its least gap, and of the others where
    they keep their place on both shapes.
    """
    at, u = model.positions(q), model.velocities(q, v)
    X0, V = positions(model, at), velocities(model, at, u)
    rows = (row(model, X0, x.pair.first, x.pair.second, x.place.point, x.place.normal) for x in candidates(model, X0))
    return Vector(rate(V, u, x) for x in rows)


def frame_axes(pair: ContactPair, place: TouchPoint) -> Any:
    """The directions of the rows of a contact: its normal and, where there is friction, two across it."""
    axes = axes_at(place.normal)
    return axes[:1] if constant(pair.surface.friction) is ZERO else axes
