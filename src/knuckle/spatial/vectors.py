"""Motion and Force: the two kinds of spatial vector (RBDA 2.2-2.10). They do not mix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, overload

from knuckle.scalar import ONE, ZERO, MadeOfScalars, constant

from . import forms
from .three import ZERO3, Vec3, add, cross, dot, neg, scale, sub


def refuse(operation: str, a: object, b: object) -> TypeError:
    """The error for an operation that the algebra does not have."""
    return TypeError(f"{operation} of {type(a).__name__} and {type(b).__name__} has no meaning")


@dataclass(frozen=True, slots=True)
class SpatialVector(forms.Formed):
    """What motions and forces share: a vector space, angular part first."""

    dimension = 6

    angular: Vec3
    linear: Vec3

    @classmethod
    def zero(cls) -> Self:
        return cls(ZERO3, ZERO3)

    @classmethod
    def basis(cls) -> tuple[Self, ...]:
        """The six unit vectors of the Plücker basis (RBDA 2.4)."""
        unit = [tuple(ONE if i == j else ZERO for j in range(6)) for i in range(6)]
        return tuple(cls.of(u) for u in unit)

    @classmethod
    def of(cls, numbers: Any) -> Self:
        """From six numbers, angular first; plain zeros and ones become structural."""
        a, b, c, d, e, f = (constant(x) for x in numbers)
        return cls((a, b, c), (d, e, f))

    @property
    def components(self) -> tuple[Any, ...]:
        return (*self.angular, *self.linear)

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            raise refuse("the sum", self, other)
        return self._in_short(other) or type(self)(
            add(self.angular, other.angular), add(self.linear, other.linear)
        )._as_sum(self, other)

    def _in_short(self, other: Any) -> Self | None:
        """The sum, where a form gives it."""
        return None

    def _as_sum(self, a: Any, b: Any) -> Self:
        """This vector, the sum of a and b, with the form that follows."""
        return self

    def __sub__(self, other: Self) -> Self:
        if type(other) is not type(self):
            raise refuse("the difference", self, other)
        return type(self)(sub(self.angular, other.angular), sub(self.linear, other.linear))

    def __neg__(self) -> Self:
        return type(self)(neg(self.angular), neg(self.linear))

    def __mul__(self, s: Any) -> Self:
        if isinstance(s, MadeOfScalars):
            raise refuse("the product", self, s)
        return type(self)(scale(s, self.angular), scale(s, self.linear))

    __rmul__ = __mul__

    def __truediv__(self, s: Any) -> Self:
        if isinstance(s, MadeOfScalars):
            raise refuse("the quotient", self, s)
        (a, b, c), (d, e, f) = self.angular, self.linear
        return type(self)((a / s, b / s, c / s), (d / s, e / s, f / s))


class Motion(SpatialVector):
    """A velocity, acceleration or displacement: (ω, v at the origin)."""

    __slots__ = ()
    is_motion = True

    def _as_sum(self, a: Any, b: Any) -> Self:
        return self.formed(forms.summed(a, b, self.linear))

    @overload
    def cross(self, other: Motion) -> Motion: ...
    @overload
    def cross(self, other: Force) -> Force: ...
    @overload
    def cross(self, other: Any) -> Any: ...
    def cross(self, other: Any) -> Any:
        """v × m for a motion, v ×* f for a force (RBDA 2.31-2.34); of each column for a subspace."""
        if isinstance(other, Motion):
            return Motion(
                cross(self.angular, other.angular),
                add(cross(self.angular, other.linear), cross(self.linear, other.angular)),
            ).formed(forms.CrossProduct(self, other))
        if isinstance(other, Force):
            return forms.gyration(self, other) or Force(
                add(cross(self.angular, other.angular), cross(self.linear, other.linear)),
                cross(self.angular, other.linear),
            )
        if getattr(other, "dimension", 0) == 6 and hasattr(other, "crossed_by"):
            return other.crossed_by(self)
        raise refuse("the cross product", self, other)

    @staticmethod
    def dual() -> type[Force]:
        return Force

    def dot(self, other: Force) -> Any:
        """The power of a force on a motion (RBDA 2.2)."""
        if not isinstance(other, Force):
            raise refuse("the scalar product", self, other)
        return dot(self.angular, other.angular) + dot(self.linear, other.linear)


class Force(SpatialVector):
    """A force, impulse or momentum: (moment about the origin, force)."""

    __slots__ = ()
    is_force = True

    def _in_short(self, other: Any) -> Self | None:
        return forms.rate_of_momentum(self, other)

    @staticmethod
    def dual() -> type[Motion]:
        return Motion

    @staticmethod
    def articulated() -> Any:
        """The type of map from motions to these forces."""
        from .articulated import ArticulatedInertia

        return ArticulatedInertia

    def dot(self, other: Motion) -> Any:
        """The power of this force on a motion (RBDA 2.2)."""
        if not isinstance(other, Motion):
            raise refuse("the scalar product", self, other)
        return other.dot(self)

    def cross(self, other: object) -> Any:
        """There is none: only a motion stands left of a cross product."""
        raise refuse("the cross product", self, other)
