"""How a place of contact moves: the relative velocity and acceleration of two bodies there (RBDA 11.23-11.31).

A place has an orthonormal frame: the normal, from the second body to the first, and two directions across it. Its rows
are the velocity of the first body against the second at the point, along these directions; their unit multipliers are
forces on the first body, and the opposite ones on the second (t = (J_s − J_p)ᵀn, 11.31).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from knuckle.algorithms.kinematics.frame_relations import Bodies
from knuckle.scalar import Dual, parts
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector
from knuckle.spatial.three import Vec3, add, cross, dot, matmul, neg, skew, sub, tmatvec

from .plane_gaps import Places, TouchPoint
from .shape_gaps import axes_at


def unit_forces(X: Transform, place: TouchPoint) -> Subspace:
    """The unit forces of the rows of a place on a body, in its coordinates; X goes from base to body."""
    forces = (Force(cross(place.point, axis), axis) for axis in axes_at(place.normal))
    return Subspace(Force, (X @ f for f in forces))


def relative_velocity(bodies: Bodies, first: int, second: int, place: TouchPoint) -> Vector:
    """ζ of the three rows (11.24)."""
    u = _at(_in_base(bodies.X[first], bodies.V[first]) - _in_base(bodies.X[second], bodies.V[second]), place.point)
    return Vector(dot(axis, u) for axis in axes_at(place.normal))


def relative_bias(bodies: Bodies, first: int, second: int, places: Callable[..., Places], k: int) -> Vector:
    """ṫᵀq̇ of the three rows: n·(a_s − a_p) + ṅ·(v_s − v_p), for each direction of the frame (11.30).

    The frame and the point move as the shapes do: `places` makes the k-th of them from the two bodies' transforms, and
    is differentiated while these move with their bodies.
    """
    V = _in_base(bodies.X[first], bodies.V[first]) - _in_base(bodies.X[second], bodies.V[second])
    A = _in_base(bodies.X[first], bodies.A[first]) - _in_base(bodies.X[second], bodies.A[second])
    moving = places(*(moved(bodies.X[i], bodies.V[i]) for i in (first, second)))[k]
    p, dp = _split(moving.point)
    u, a = _at(V, p), add(_at(A, p), cross(V.angular, dp))
    axes = [_split(axis) for axis in axes_at(moving.normal)]
    return Vector(dot(axis, a) + dot(rate, u) for axis, rate in axes)


def moved(X: Transform, V: Motion) -> Transform:
    """X with its rate in its entries, as of a body that moves with V (RBDA 2.45)."""
    dE, dr = matmul(skew(neg(V.angular)), X.E), tmatvec(X.E, V.linear)
    E: Any = tuple(tuple(map(Dual, row, rate)) for row, rate in zip(X.E, dE, strict=True))
    r: Any = tuple(map(Dual, X.r, dr))
    return Transform(E, r)


def _in_base(X: Transform, V: Motion) -> Motion:
    return X.inverse() @ V


def _at(V: Motion, point: Vec3) -> Vec3:
    """The velocity of a body at a point, both in base coordinates."""
    return sub(V.linear, cross(point, V.angular))


def _split(x: Sequence[Any]) -> tuple[Vec3, Vec3]:
    """A vector of duals, and its rate."""
    (a, da), (b, db), (c, dc) = (parts(entry) for entry in x)
    return (a, b, c), (da, db, dc)
