"""RedMax's ground (folder `matlab-diff`): springs, dampers and friction at the corners of a cuboid below a plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from knuckle.model.elements import ForceElement
from knuckle.scalar import ZERO, absolute, less, minimum, select
from knuckle.spatial import Force, Motion, Transform
from knuckle.spatial.three import Vec3, add, cross, tmatvec


@dataclass(frozen=True)
class PenaltyGround(ForceElement):
    """The ground y = 0 under a cuboid that moves in the xy plane: −k y − d ẏ at each corner below it.

    Friction is that of a damper, at most μ times the force of the spring. RedMax has it the other way round where that
    is reached: it pushes on what slides.
    """

    name: str
    frame: str
    sides: tuple[float, float, float]
    stiffness: float
    damping: float
    friction: float
    sticking: float
    pushes_what_slides: bool = False

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    def _corners(self) -> list[Vec3]:
        return [(a, b, c) for a, b, c in product(*((-side / 2, side / 2) for side in self.sides))]

    def forces(self, X: Sequence[Transform], V: Sequence[Motion]) -> list[Force]:
        total = Force((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        for corner in self._corners():
            height = X[0].inv.point(corner)[1]
            slip, rate, _ = tmatvec(X[0].E, add(V[0].linear, cross(V[0].angular, corner)))
            most = self.friction * self.stiffness * absolute(height)
            held = self.sticking * absolute(slip)
            slides = -most if self.pushes_what_slides else most
            size = select(less(held, most), held, slides) if self.pushes_what_slides else minimum(held, most)
            along = -size * select(less(slip, 0), -1.0, 1.0)
            up = -self.stiffness * height - self.damping * rate
            touches = less(height, 0)
            f = X[0].turned((select(touches, along, 0.0), select(touches, up, 0.0), 0.0))
            total = total + Force(cross(corner, f), f)
        return [total]

    def energy(self, X: Sequence[Transform]) -> Any:
        heights = (minimum(X[0].inv.point(corner)[1], 0.0) for corner in self._corners())
        return sum((self.stiffness * y * y / 2 for y in heights), ZERO)

    def renamed(self, name: str, frame: Callable[[str], str]) -> PenaltyGround:
        return replace(self, name=name, frame=frame(self.frame))
