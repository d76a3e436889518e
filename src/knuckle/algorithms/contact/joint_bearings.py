"""Joints as bearings: where their surfaces touch, and the wrench that they carry (notes 2.11).

A bearing is on the body, in its coordinates; its places are fixed, so that nothing has to be detected. A hinge is a
cylinder that touches around both ends, radially and along its axis; a slider a square sleeve that touches at the eight
corners; a ball joint touches where its axes go through the ball.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.scalar import cos, sin
from knuckle.spatial.three import Vec3, add, cross, scale

Axes = Sequence[Vec3]


class BearingPlace(NamedTuple):
    """A place of a bearing: the force along its normal, and the ways in which it slips."""

    point: Vec3
    normal: Vec3
    ways: tuple[Vec3, ...]


def hinge_places(middle: Vec3, axes: Axes, radius: Any, length: Any, count: int) -> list[BearingPlace]:
    """Around both ends of a cylinder along the first axis."""
    a, b, c = axes
    places: list[BearingPlace] = []
    for end in (-0.5, 0.5):
        for k in range(count):
            turn = 2 * 3.141592653589793 * k / count
            out, along = (add(scale(cos(t), b), scale(sin(t), c)) for t in (turn, turn + 1.5707963267948966))
            at = add(add(middle, scale(end * length, a)), scale(radius, out))
            places += [BearingPlace(at, out, (along,)), BearingPlace(at, a, (along,))]
    return places


def slider_places(middle: Vec3, axes: Axes, radius: Any, length: Any) -> list[BearingPlace]:
    """At the corners of a square sleeve along the first axis."""
    a, b, c = axes
    places: list[BearingPlace] = []
    for end in (-0.5, 0.5):
        for x, y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            corner = add(scale(x * radius, b), scale(y * radius, c))
            at = add(add(middle, scale(end * length, a)), corner)
            places += [BearingPlace(at, b, (a,)), BearingPlace(at, c, (a,))]
    return places


def ball_places(middle: Vec3, axes: Axes, radius: Any) -> list[BearingPlace]:
    """Where three axes go through a ball."""
    places: list[BearingPlace] = []
    for k in range(3):
        n, s, t = axes[k], axes[(k + 1) % 3], axes[(k + 2) % 3]
        places += [BearingPlace(add(middle, scale(end * radius, n)), n, (s, t)) for end in (-1, 1)]
    return places


def unit_wrench(point: Vec3, way: Vec3) -> tuple[Any, ...]:
    """The wrench of a unit force at a point, moment first."""
    return (*cross(point, way), *way)


def joint_wrenches(model: Model, q: PerJoint, v: PerJoint, a: PerJoint, f_ext: PerBody) -> dict[int, Any]:
    """What each joint passes on to its body, in body coordinates (RBDA 5.20)."""
    V, A, F = {ROOT: model.zero_motion}, {ROOT: -model.g}, {ROOT: model.zero_force}
    X: dict[int, Any] = {}
    for i, p, joint in model.outward():
        XJ, S, vJ, cJ = joint.motion(q[i], v[i])
        X[i] = XJ @ model.X_tree[i]
        V[i] = X[i] @ V[p] + vJ
        A[i] = X[i] @ A[p] + S @ a[i] + cJ + V[i].cross(vJ)
        F[i] = model.I[i] @ A[i] + V[i].cross(model.I[i] @ V[i]) - f_ext[i]
    for i, p, _ in model.inward():
        F[p] = F[p] + X[i].T @ F[i]
    return F
