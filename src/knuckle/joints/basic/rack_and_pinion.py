"""The rack-and-pinion joint (RBDA example 4.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knuckle.joints.axis import Z_AXIS, Axis, Unit, finite, structural, turn, unit, unwound
from knuckle.joints.base import Joint
from knuckle.scalar import constant, cos, sin
from knuckle.spatial import Force, Motion, Subspace, Transform, Vector, rotation
from knuckle.spatial.three import ZERO3, Vec3, add, cross, dot, scale

_SQUARE = 1e-9


@dataclass(frozen=True)
class RackAndPinion(Joint):
    """A pinion of the successor rolls along a rack of the predecessor. q is the angle of the pinion.

    The pinion turns about `axis` through the successor's origin, which moves by `radius` q along `rack`, a direction
    square to the axis (by default x for the axis z, y for x, z for y). An asymmetrical joint: it matters which body
    has the rack.
    """

    radius: float
    axis: Unit
    rack: Unit
    _q = ("rad",)
    _v = ("rad",)

    def __init__(self, radius: float, axis: Axis = Z_AXIS, rack: Axis | None = None) -> None:
        a = unit(axis)
        t = unit(rotation.perpendicular(a)[0] if rack is None else rack)
        if abs(dot(a, t)) > _SQUARE:
            raise ValueError(f"a rack lies square to the pinion's axis, which rack={rack!r} and axis={axis!r} do not")
        object.__setattr__(self, "radius", finite(radius, "radius"))
        object.__setattr__(self, "axis", a)
        object.__setattr__(self, "rack", t)

    def transform(self, q: Vector) -> Transform:
        t, _, a = self._frame()
        return Transform(rotation.about(a, q[0]), scale(constant(self.radius) * q[0], t))

    def subspace(self, q: Vector) -> Subspace:
        _, _, a = self._frame()
        return Subspace(Motion, [Motion(a, self._roll(cos(q[0]), -sin(q[0])))])

    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        return Subspace(Motion, [Motion(ZERO3, scale(v[0], self._roll(-sin(q[0]), -cos(q[0]))))])

    def constraints(self, q: Vector) -> Subspace:
        t, n, a = self._frame()
        r, c, s = constant(self.radius), cos(q[0]), sin(q[0])
        fixed = [Force(t, ZERO3), Force(n, ZERO3), Force(ZERO3, a)]
        return Subspace(Force, [*fixed, Force(scale(-(r * c), a), t), Force(scale(r * s, a), n)])

    def actuation(self, q: Vector) -> Subspace:
        return Subspace(Force, [Force(structural(self.axis), ZERO3)])

    def locate(self, X: Transform) -> Vector:
        """The angle that E shows, in the turn that the place along the rack shows."""
        t, _, a = self._frame()
        angle = turn(a, X.E)
        return Vector([unwound(angle, dot(t, X.r) / self.radius) if self.radius else angle])

    def _frame(self) -> tuple[Vec3, Vec3, Vec3]:
        """Along the rack, square to it and along the axis."""
        t, a = structural(self.rack), structural(self.axis)
        return t, cross(a, t), a

    def _roll(self, along: Any, across: Any) -> Vec3:
        t, n, _ = self._frame()
        return scale(constant(self.radius), add(scale(along, t), scale(across, n)))
