"""The planar joint with translations in the successor (RBDA table 4.1; made consistent)."""

from __future__ import annotations

from dataclasses import dataclass

from knuckle.joints.axis import Z_AXIS, Axis, Unit, frame, turn, unit, wrapped
from knuckle.spatial import Transform, Vector, rotation
from knuckle.spatial.three import add, dot, scale

from .planar import PlanarMotions
from .plane_motion import steady_velocity, travelled, turned


@dataclass(frozen=True)
class PlanarLocal(PlanarMotions):
    """Moves in a plane. q = (angle, x, y) with the translations in successor coordinates, as RBDA table 4.1 prints it;
    v as for `Planar`, so q̇ = [1 0 0; y 1 0; −x 0 1] v and S is constant: with v = q̇ it would not be.

    Far from the origin x and y change fast when the body spins; `Planar` does not have that.
    """

    normal: Unit = Z_AXIS

    def __init__(self, normal: Axis = Z_AXIS) -> None:
        object.__setattr__(self, "normal", unit(normal))

    def transform(self, q: Vector) -> Transform:
        x, y, n = frame(self.normal)
        u, w = turned(q[0], (q[1], q[2]))
        return Transform(rotation.about(n, q[0]), add(scale(u, x), scale(w, y)))

    def rate(self, q: Vector, v: Vector) -> Vector:
        return Vector([v[0], v[1] + q[2] * v[0], v[2] - q[1] * v[0]])

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        x, y = travelled(dv[0], (dv[1], dv[2]))
        return Vector([q[0] + dv[0], *turned(-dv[0], (q[1] + x, q[2] + y))])

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        angle = wrapped(q1[0] - q0[0])
        x, y = turned(angle, (q1[1], q1[2]))
        return Vector([angle, *steady_velocity(angle, (x - q0[1], y - q0[2]))])

    def locate(self, X: Transform) -> Vector:
        x, y, n = frame(self.normal)
        angle = turn(n, X.E)
        return Vector([angle, *turned(-angle, (dot(x, X.r), dot(y, X.r)))])
