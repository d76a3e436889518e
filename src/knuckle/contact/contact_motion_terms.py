"""T and Ṫᵀq̇ of a mechanism's contacts, and the states of separation (RBDA 11.23-11.40)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.algorithms.contact.contact_motion import relative_bias, relative_velocity, unit_forces
from knuckle.algorithms.contact.plane_gaps import Places, TouchPoint
from knuckle.algorithms.contact.shape_gaps import axes_at
from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.constraints.base import ConstraintState, Terms, jacobian
from knuckle.engine.calls.function import Array, function
from knuckle.model import Model
from knuckle.public_names import public_in
from knuckle.spatial import Matrix, Transform, Vector

from .contact_pairs import ContactPair, contact_pairs
from .contact_terms import gaps
from .detection import Detector


class TouchSlot(NamedTuple):
    """The k-th place of a pair, and what finds the pair's places from the transforms of its bodies."""

    pair: ContactPair
    k: int
    place: TouchPoint
    places: Callable[[Transform, Transform], Places]


def slots(model: Model, X0: Any) -> Iterator[TouchSlot]:
    """All places at which shapes may touch, in the order of `gaps`; X₀ goes from base to body coordinates."""
    detector = Detector()
    for pair in contact_pairs(model):

        def found(X: Transform, Y: Transform, pair: ContactPair = pair) -> Places:
            first, second = pair.first_shape, pair.second_shape
            return detector.places(first.shape, first.X @ X, second.shape, second.X @ Y)

        for k, place in enumerate(found(X0[pair.first], X0[pair.second])):
            yield TouchSlot(pair, k, place, found)


@public_in("contact")
@function(q="q", loops=True)
def contact_frames(model: Model, q: ArrayLike) -> Array:
    """(..., n, 3, 3): for each place of `gaps` its normal and two directions across it, in base coordinates, as rows.

    They are orthonormal and right-handed. A force λ along them on the first body is `frame.T @ λ` in base coordinates.
    """
    return [Matrix(axes_at(slot.place.normal), 3) for slot in slots(model, positions(model, model.positions(q)))]


@public_in("contact")
@function(q="q", loops=True)
def contact_jacobian(model: Model, q: ArrayLike) -> Array:
    """Tᵀ (..., n, 3, nv): the velocity of the first body against the second at each place of `gaps` (RBDA 11.31).

    The three rows of a place are along the normal, from the second body to the first, and along the two directions
    across it that `contact_frames` has. T λ is the generalised force of λ on the first body and −λ on the second.
    """
    state = ConstraintState.of(model, q, Vector.zero(model.nv))
    zero, X0 = Vector.zero(3), positions(model, state.Q)
    blocks: list[Matrix] = []
    for pair, _, place, _ in slots(model, X0):
        on, against = unit_forces(X0[pair.first], place), -unit_forces(X0[pair.second], place)
        terms = Terms(zero, zero, zero, ((pair.first, on), (pair.second, against)), None)
        blocks.append(Matrix(jacobian(state, terms), model.nv))
    return blocks


@public_in("contact")
@function(q="q", v="v", loops=True)
def contact_velocity(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """ζ (..., n, 3): Tᵀq̇ at each place of `gaps`, along the rows of `contact_frames` (RBDA 11.24).

    The first entry is the rate of the gap, φ̇ of 11.38, where bodies touch.
    """
    bodies = ConstraintState.of(model, q, v).bodies
    found = (relative_velocity(bodies, x.pair.first, x.pair.second, x.place) for x in slots(model, bodies.X))
    return Matrix(found, 3)


@public_in("contact")
@function(q="q", v="v", loops=True)
def contact_bias(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Ṫᵀq̇ (..., n, 3): the rate of `contact_velocity` without acceleration of the variables (RBDA 11.30).

    The points and the normals move: what is here is exact for shapes that roll and turn on each other, and its first
    entry is φ̈ where bodies touch. ζ̇ = Tᵀq̈ + Ṫᵀq̇ (11.32).
    """
    bodies = ConstraintState.of(model, q, v).bodies
    found = (relative_bias(bodies, x.pair.first, x.pair.second, x.places, x.k) for x in slots(model, bodies.X))
    return Matrix(found, 3)


SeparationState = Literal["apart", "closing", "opening", "touching"]


@public_in("contact")
def separation_states(
    model: Model, q: ArrayLike, v: ArrayLike, *, gap: float = 1e-9, speed: float = 1e-9
) -> NDArray[Any]:
    """(..., n) what each place of `gaps` is (RBDA 11.39, figure 11.4).

    "apart" is state 1, φ > 0; "closing" 2a, φ = 0 > φ̇: an impulse is due; "opening" 2b, φ = 0 < φ̇, the same as apart;
    "touching" 3, φ = φ̇ = 0: there may be a force.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        gap: what counts as φ = 0, in metres; an overlap does too.
        speed: what counts as φ̇ = 0, in metres per second.
    """
    phi, rate = np.asarray(gaps(model, q)), np.asarray(contact_velocity(model, q, v))[..., 0]
    moving = np.where(rate < -speed, "closing", np.where(rate > speed, "opening", "touching"))
    return np.where(phi > gap, "apart", moving)
