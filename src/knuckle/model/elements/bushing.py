"""A soft connection of two frames in all six directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from knuckle.public_names import public_in
from knuckle.scalar import ZERO, constant
from knuckle.spatial import Force, Motion, Transform, lie, rotation
from knuckle.spatial.three import Vec3, add, cross, dot, neg

from .base import ForceElement
from .local_slopes import LocalSlopes
from .plain_numbers import numbers_of


@public_in("elements")
@dataclass(frozen=True)
class Bushing(ForceElement):
    """Springs and dampers between two frames, in the axes of the first: six numbers each, turning first.

    It is at rest where the frames coincide. The turn of the second against the first is a rotation vector θ below π,
    with energy ½ Σ k θ²; the shift of its origin is x, with ½ Σ k x². Dampers act on the relative velocity there.
    """

    name: str
    first: str
    second: str
    stiffness: tuple[float, ...]
    damping: tuple[float, ...] = (0.0,) * 6

    def __post_init__(self) -> None:
        for what in ("stiffness", "damping"):
            named = f"{what} of the bushing {self.name!r}"
            needed = "six finite numbers, zero or more (three of turning, three of shifting)"
            numbers = numbers_of(getattr(self, what), 6, named, needed)
            if any(isinstance(x, (int, float)) and x < 0 for x in numbers):
                raise ValueError(f"{named} is {needed}, not {numbers}")
            object.__setattr__(self, what, numbers)

    @property
    def frames(self) -> tuple[str, ...]:
        return self.first, self.second

    def forces(self, X: Sequence[Transform], V: Sequence[Motion]) -> list[Force]:
        apart, theta, x = self._displaced(X)
        (kn, kf), (dn, df) = (_halves(numbers) for numbers in (self.stiffness, self.damping))
        motion = apart.inv @ V[1] - V[0]
        turning, shifting = motion.angular, add(motion.linear, cross(motion.angular, x))
        moment = add(lie.left_jacobian_inverse(neg(theta), _each(kn, theta)), _each(dn, turning))
        force = add(_each(kf, x), _each(df, shifting))
        pull = Force(add(moment, cross(x, force)), force)
        return [pull, -(apart @ pull)]

    def local_slopes(self, X: Sequence[Transform], V: Sequence[Motion]) -> LocalSlopes:
        """Its springs and dampers, at the origin of the second frame along axes of the first."""
        apart, _, x = self._displaced(X)
        rows: list[tuple[Any, Any, list[Force]]] = []
        for k, d, e in zip(map(constant, self.stiffness), map(constant, self.damping), Force.basis(), strict=True):
            pull = Force(add(e.angular, cross(x, e.linear)), e.linear)
            if k is not ZERO or d is not ZERO:
                rows.append((k, d, [pull, -(apart @ pull)]))
        return LocalSlopes.along(rows)

    def energy(self, X: Sequence[Transform]) -> Any:
        _, theta, x = self._displaced(X)
        kn, kf = _halves(self.stiffness)
        return (dot(theta, _each(kn, theta)) + dot(x, _each(kf, x))) / 2

    def renamed(self, name: str, frame: Callable[[str], str]) -> Bushing:
        return replace(self, name=name, first=frame(self.first), second=frame(self.second))

    def _displaced(self, X: Sequence[Transform]) -> tuple[Transform, Vec3, Vec3]:
        """²X₁, and by how much it turns and shifts, in the axes of the first."""
        apart = X[1] @ X[0].inverse()
        return apart, rotation.log(apart.E), apart.r


def _halves(numbers: tuple[float, ...]) -> tuple[Vec3, Vec3]:
    a, b, c, d, e, f = map(constant, numbers)
    return (a, b, c), (d, e, f)


def _each(k: Vec3, x: Vec3) -> Vec3:
    return k[0] * x[0], k[1] * x[1], k[2] * x[2]
