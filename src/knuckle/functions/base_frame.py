"""Frames that suit a mechanism that floats: where it is and how fast it travels, left out where they do not matter.

A base that is far away or that travels fast costs digits, and operations (RBDA 10.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from knuckle.joints import Free
from knuckle.model import ROOT, Model
from knuckle.scalar import ZERO
from knuckle.spatial import Vector


def floats(model: Model) -> bool:
    """Whether the first joint is free, and the only one on the ground."""
    return bool(model.joints) and type(model.joints[0].type) is Free and model.parents.count(ROOT) == 1


def near(model: Model, Q: Sequence[Vector]) -> Sequence[Vector]:
    """The same position with a floating base at the ground's origin: for what does not depend on where it is."""
    return (Vector((*Q[0][:4], ZERO, ZERO, ZERO)), *Q[1:]) if floats(model) else Q


def hovering(model: Model, V: Sequence[Vector]) -> Sequence[Vector]:
    """The same velocity in an inertial frame that moves with the base: for what does not depend on how it travels."""
    return (Vector((*V[0][:3], ZERO, ZERO, ZERO)), *V[1:]) if floats(model) else V


def held(model: Model, V: Sequence[Vector]) -> Sequence[Vector]:
    """The same velocity of the joints, with a floating base at rest: for what only depends on how the joints move."""
    return (Vector.zero(6), *V[1:]) if floats(model) else V


def travelling(_: Model, V: Sequence[Vector]) -> Sequence[Vector]:
    """The velocity as it is."""
    return V
