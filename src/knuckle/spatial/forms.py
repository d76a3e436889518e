"""Other forms of a spatial vector: what it was made of, where that leads to a shorter formula.

A form is an identity. It holds whatever the vector stands for, and nothing but cost depends on it: the components are
there without it, and in a recorded text those that nobody uses are dead code.

With them the Newton-Euler recursion, written in spatial accelerations (RBDA table 5.1), is computed in those of points
on the bodies: a = (ω̇, p̈ − ω × v), where p̈ is that of the point at the origin (RBDA 2.11). p̈ goes from body to body
without v, and I a + v ×* I v is a function of ω, ω̇ and p̈, so that of bodies that turn no linear velocity is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from knuckle.scalar import MadeOfScalars

from .three import Vec3, add, cross, matvec, spin

V = TypeVar("V", bound="Formed")
F = TypeVar("F", bound="Force")

if TYPE_CHECKING:
    from .transform import Transform
    from .vectors import Force, Motion


class Formed(MadeOfScalars):
    """What can remember a form. It is no part of the value: equality, copies and files do not have it."""

    __slots__ = ("_form",)

    @property
    def form(self) -> object:
        """The other form, or None."""
        return getattr(self, "_form", None)

    def formed(self: V, form: object) -> V:
        """This vector, just made, with its form."""
        object.__setattr__(self, "_form", form)
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """X v, for a velocity or for what is one in another form."""

    X: Transform
    v: Motion | Carried

    @property
    def angular(self) -> Vec3:
        return self.X.turned(self.v.angular)

    def is_same(self, other: object) -> bool:
        """Whether the other one is made of the same two."""
        return isinstance(other, Carried) and other.X is self.X and other.v is self.v


@dataclass(frozen=True, slots=True, eq=False)
class VelocitySum:
    """X v + u: the velocity of a body from its parent's and the joint's."""

    carried: Carried
    u: Motion

    def is_of(self, carried: object, u: Motion) -> bool:
        """Whether it is the sum of these two."""
        return self.u is u and self.carried.is_same(carried)


@dataclass(frozen=True, slots=True, eq=False)
class CrossProduct:
    """v × u."""

    v: Motion
    u: Motion


@dataclass(frozen=True, slots=True, eq=False)
class Acceleration:
    """(ω̇, p̈ − ω × v) for a velocity (ω, v)."""

    velocity: Motion | Carried
    point: Vec3


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """I m."""

    inertia: Any
    m: Motion


@dataclass(frozen=True, slots=True, eq=False)
class Gyration:
    """v ×* I v."""

    inertia: Any
    v: Motion


def carried(X: Transform, m: Motion) -> Carried | Acceleration:
    """The form of X m: p̈ becomes E (p̈ + ω̇ × r + ω × (ω × r))."""
    if not isinstance(m.form, Acceleration):
        return Carried(X, m)
    at = add(m.form.point, matvec(spin(m.form.velocity.angular, m.angular), X.r))
    return Acceleration(Carried(X, m.form.velocity), matvec(X.E, at))


def stepped(X: Transform, m: Motion, result: Motion) -> Carried | Acceleration:
    """The form of X m where X has steps, which gave `result`."""
    if isinstance(m.form, Acceleration) and isinstance(result.form, Acceleration):
        return Acceleration(Carried(X, m.form.velocity), result.form.point)
    return Carried(X, m)


def summed(a: Motion, b: Motion, linear: Vec3) -> VelocitySum | Acceleration | None:
    """The form of a + b, whose linear part is given.

    An acceleration a of what moves with X v, plus (X v + u) × u, is one of what moves with X v + u: its point gains
    (2 X v + u)_ω × u_v, the Coriolis acceleration of RBDA 2.11, which turning about the origin has not.
    """
    before, product = a.form, b.form
    if isinstance(product, CrossProduct):
        v, u = product.v, product.u
        if isinstance(before, Acceleration) and isinstance(v.form, VelocitySum) and v.form.is_of(before.velocity, u):
            twice = add(before.velocity.angular, v.angular)
            return Acceleration(v, add(before.point, cross(twice, u.linear)))
        return Acceleration(v, add(linear, cross(v.angular, v.linear)))
    if isinstance(before, Acceleration):
        return Acceleration(before.velocity, add(before.point, b.linear))
    return VelocitySum(before, b) if isinstance(before, Carried) else None


def gyration(v: Motion, f: Force) -> Force | None:
    """v ×* f, if f is known to be I v."""
    made = f.form
    if not isinstance(made, Applied) or made.m is not v:
        return None
    return type(f)(*made.inertia.gyration(v)).formed(Gyration(made.inertia, v))


def rate_of_momentum(a: F, b: F) -> F | None:
    """a + b, if they are known to be I a and v ×* I v, and a the acceleration of what moves with v (RBDA 2.14)."""
    applied, gyrating = a.form, b.form
    if not isinstance(applied, Applied) or not isinstance(gyrating, Gyration):
        return None
    I, v, known = gyrating.inertia, gyrating.v, applied.m.form
    if applied.inertia is not I or not isinstance(known, Acceleration) or known.velocity is not v:
        return None
    return type(a)(*I.inertial_force(v.angular, applied.m.angular, known.point))
