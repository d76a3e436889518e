"""A floating base whose velocity is in the world's axes, as MuJoCo and Drake have it: the way to ours and back.

Each library gets doubles in its own variables, and the reference gets the very numbers of those doubles. A vector is a
list of numbers of any kind, each of them one for all states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Numbers = list[Any]


@dataclass(frozen=True)
class BaseAxes:
    """Whether the angular and the linear part of a base's velocity are in the world's axes."""

    turn: bool
    slide: bool

    def outside(self, R: list[Numbers], v: Numbers) -> Numbers:
        """A velocity in body axes (or a force) as the library has it; R from body to world axes."""
        new = list(v)
        for is_world, first in ((self.turn, 0), (self.slide, 3)):
            if is_world:
                new[first : first + 3] = [_dot(row, v[first : first + 3]) for row in R]
        return new

    def inside(self, R: list[Numbers], v: Numbers) -> Numbers:
        """The way back."""
        return self.outside([list(column) for column in zip(*R, strict=True)], v)

    def acceleration_outside(self, R: list[Numbers], v: Numbers, a: Numbers) -> Numbers:
        """Rates of the library's variables from ours: d/dt R v = R (v̇ + ω × v)."""
        total = list(a)
        if self.slide:
            total[3:6] = [x + y for x, y in zip(a[3:6], _cross(v[:3], v[3:6]), strict=True)]
        return self.outside(R, total)

    def acceleration_inside(self, R: list[Numbers], v: Numbers, a: Numbers) -> Numbers:
        """The way back; v is ours."""
        total = self.inside(R, a)
        if self.slide:
            total[3:6] = [x - y for x, y in zip(total[3:6], _cross(v[:3], v[3:6]), strict=True)]
        return total

    def matrix_outside(self, R: list[Numbers], H: list[Numbers]) -> list[Numbers]:
        """B⁻ᵀ H B⁻¹ of a mass matrix: rows and columns of the base in the library's axes."""
        columns = [self.outside(R, list(column)) for column in zip(*H, strict=True)]
        return [self.outside(R, list(row)) for row in zip(*columns, strict=True)]


def _dot(a: Numbers, b: Numbers) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Numbers, b: Numbers) -> Numbers:
    return [a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3] for i in range(3)]


def rotation(q: Numbers) -> list[Numbers]:
    """From body to world axes for q = (w, x, y, z, …), of any length."""
    w, x, y, z = q[:4]
    s = 2 / (w * w + x * x + y * y + z * z)
    return [
        [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
        [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)],
        [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)],
    ]
