"""The planar joint with translations in the predecessor (RBDA example 4.5; made consistent)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.joints.axis import Z_AXIS, Axis, Unit, frame, turn, unit, wrapped
from knuckle.joints.base import ConstantSubspace
from knuckle.scalar import ZERO
from knuckle.spatial import Force, Inertia, Motion, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import ZERO3, add, dot, scale

from .plane_motion import steady_velocity, steady_velocity_rate, travelled, turned


class PlanarMotions(ConstantSubspace):
    """What the two planar joints share: a plane, two directions in it, and S = [(n, 0), (0, x), (0, y)]."""

    normal: Unit
    _q = ("rad", "m", "m")
    _v = ("rad", "m", "m")
    _symmetrical = True

    def subspace(self, q: Vector) -> Subspace:
        x, y, n = frame(self.normal)
        return Subspace(Motion, [Motion(n, ZERO3), Motion(ZERO3, x), Motion(ZERO3, y)])

    def difference_rate(self, u: Vector, v: Vector) -> Vector:
        return Vector([v[0], *steady_velocity_rate(u[0], (u[1], u[2]), v[0], (v[1], v[2]))])

    def constraints(self, q: Vector) -> Subspace:
        x, y, n = frame(self.normal)
        return Subspace(Force, [Force(x, ZERO3), Force(y, ZERO3), Force(ZERO3, n)])

    def actuation(self, q: Vector) -> Subspace:
        x, y, n = frame(self.normal)
        return Subspace(Force, [Force(n, ZERO3), Force(ZERO3, x), Force(ZERO3, y)])


@dataclass(frozen=True)
class Planar(PlanarMotions):
    """Moves in a plane. q = (angle, x, y) with the translations in predecessor coordinates; v is the angular velocity
    and the linear velocity in successor coordinates, so q̇ = [1 0 0; 0 c −s; 0 s c] v and S is constant.

    The directions x and y complete the normal to a right-handed frame: they are the coordinate axes x and y for the
    normal z. `difference` takes the short way round.
    """

    normal: Unit = Z_AXIS

    def __init__(self, normal: Axis = Z_AXIS) -> None:
        object.__setattr__(self, "normal", unit(normal))

    def transform(self, q: Vector) -> Transform:
        x, y, n = frame(self.normal)
        return Transform(rotation.about(n, q[0]), add(scale(q[1], x), scale(q[2], y)))

    def rate(self, q: Vector, v: Vector) -> Vector:
        return Vector([v[0], *turned(q[0], (v[1], v[2]))])

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        x, y = turned(q[0], travelled(dv[0], (dv[1], dv[2])))
        return Vector([q[0] + dv[0], q[1] + x, q[2] + y])

    def coasted(
        self, q: Vector, v: Vector, dt: Any, body: Inertia | None = None, turn: Vector | None = None
    ) -> tuple[Vector, Vector]:
        x, y = turned(q[0], (dt * v[1], dt * v[2]))
        return Vector([q[0] + dt * v[0], q[1] + x, q[2] + y]), Vector([v[0], *turned(-dt * v[0], (v[1], v[2]))])

    def coasting(self, v: Vector, dt: Any, body: Inertia | None = None) -> tuple[Vector, Vector]:
        return v, Vector([ZERO, v[0] * v[2], -(v[0] * v[1])])

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        angle = wrapped(q1[0] - q0[0])
        return Vector([angle, *steady_velocity(angle, turned(-q0[0], (q1[1] - q0[1], q1[2] - q0[2])))])

    def locate(self, X: Transform) -> Vector:
        x, y, n = frame(self.normal)
        return Vector([turn(n, X.E), dot(x, X.r), dot(y, X.r)])
