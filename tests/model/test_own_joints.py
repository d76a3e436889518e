"""The Builder tries a user's joint: what is wrong is said with its name, what is right goes through."""

from dataclasses import dataclass
from math import cos as plain_cos

import pytest

import knuckle as kn
from knuckle.joints import FunctionJoint, Joint
from knuckle.scalar import ZERO, cos, sin
from knuckle.spatial import Motion, Subspace, Transform, Vector, rotation


@dataclass(frozen=True)
class Turning(Joint):
    """Turns about z and climbs: right in every respect."""

    lead: float = 0.1
    _q = ("rad",)
    _v = ("rad",)

    def transform(self, q: Vector) -> Transform:
        return Transform.rotation(rotation.rz(q[0])) @ Transform.translation((ZERO, ZERO, self.lead * q[0]))


class Unitless(Turning):
    _q = ("degrees",)
    _v = ("degrees",)


class NoNumbers(Turning):
    def transform(self, q: Vector) -> Transform:
        return Transform.translation((plain_cos(q[0]), ZERO, ZERO))


class NoTransform(Turning):
    def transform(self, q: Vector):
        return q


class Stretching(Turning):
    def transform(self, q: Vector) -> Transform:
        c, s = cos(q[0]), sin(q[0])
        return Transform(((c, s, ZERO), (-s, c, ZERO), (ZERO, ZERO, 1.1)), (ZERO, ZERO, ZERO))


class WrongSign(Turning):
    def subspace(self, q: Vector) -> Subspace:
        return Subspace(Motion, [Motion.of((0, 0, 1, 0, 0, -self.lead))])


class WrongRate(Turning):
    def subspace_rate(self, q: Vector, v: Vector) -> Subspace:
        return Subspace(Motion, [Motion.of((0, 0, v[0], 0, 0, 0))])


class TwiceTheSame(Turning):
    _q = ("rad", "rad")
    _v = ("rad", "rad")

    def transform(self, q: Vector) -> Transform:
        return Transform.rotation(rotation.rz(q[0] + q[1]))


class OtherRate(Turning):
    def rate(self, q: Vector, v: Vector) -> Vector:
        return 2.0 * v


class HalfIntegrated(Turning):
    def rate(self, q: Vector, v: Vector) -> Vector:
        return 2.0 * v

    def integrate(self, q: Vector, dv: Vector) -> Vector:
        return q + dv

    def difference(self, q0: Vector, q1: Vector) -> Vector:
        return q1 - q0


class GoesElsewhere(Turning):
    def difference(self, q0: Vector, q1: Vector) -> Vector:
        return 0.5 * (q1 - q0)


@pytest.mark.parametrize(
    ("joint", "complaint"),
    [
        (Unitless(), r'its units are "rad", "m" or "1", not \'degrees\''),
        (NoNumbers(), "transform fails on dual numbers.*knuckle.scalar"),
        (NoTransform(), "transform gives Vector, and a Transform is needed"),
        (Stretching(), "no rotation"),
        (WrongSign(), "subspace is not the derivative of its transform"),
        (WrongRate(), "subspace_rate is not the rate of its subspace"),
        (TwiceTheSame(), "columns that depend on each other"),
        (OtherRate(), "OtherRate.integrate has to be given"),
        (HalfIntegrated(), "rate gives"),
        (GoesElsewhere(), "difference from .* leads elsewhere"),
        (FunctionJoint(lambda q: Transform.translation((plain_cos(q[0]), 0, 0)), "rad"), "transform fails"),
    ],
)
def test_what_is_wrong_is_said_when_it_is_built_in(joint: Joint, complaint: str):
    with pytest.raises(kn.ModelError, match=f"hinge: this {type(joint).__name__} is no joint yet: .*{complaint}"):
        kn.Builder("trial").body("plate", joint=joint, joint_name="hinge", mass=1.0)


@pytest.mark.parametrize("joint", [Turning(), Turning(0.0)])
def test_what_is_right_goes_through(joint: Joint):
    b = kn.Builder("trial")
    b.body("plate", joint=joint, mass=1.0, inertia=(0.1, 0.1, 0.1))
    assert b.build().nv == 1


def test_symbols_are_not_tried():
    sympy = pytest.importorskip("sympy")
    b = kn.Builder("trial")
    b.body("plate", joint=Turning(sympy.Symbol("lead")), mass=1.0, inertia=(0.1, 0.1, 0.1))
    assert b.build().nv == 1
