"""A floating base whose velocity is in the world's axes, as MuJoCo and Drake have it: the way to ours in fifty digits.

Each library gets doubles in its own variables, and the reference gets the very numbers of those doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class BaseAxes:
    """Whether the angular and the linear part of a base's velocity are in the world's axes."""

    turn: bool
    slide: bool

    def outside(self, R: Array, v: Array) -> Array:
        """A velocity in body axes (or a force) as the library has it; R from body to world axes."""
        new = v.copy()
        for is_world, part in ((self.turn, slice(0, 3)), (self.slide, slice(3, 6))):
            if is_world:
                new[:, part] = _times(R, v[:, part])
        return new

    def inside(self, R: Array, v: Array) -> Array:
        """The way back."""
        return self.outside(np.swapaxes(R, 1, 2), v)

    def acceleration_outside(self, R: Array, v: Array, a: Array) -> Array:
        """Rates of the library's variables from ours: d/dt R v = R (v̇ + ω × v)."""
        total = a.copy()
        if self.slide:
            total[:, 3:6] = total[:, 3:6] + _cross(v[:, :3], v[:, 3:6])
        return self.outside(R, total)

    def acceleration_inside(self, R: Array, v: Array, a: Array) -> Array:
        """The way back; v is ours."""
        total = self.inside(R, a)
        if self.slide:
            total[:, 3:6] = total[:, 3:6] - _cross(v[:, :3], v[:, 3:6])
        return total

    def matrix_outside(self, R: Array, H: Array) -> Array:
        """B⁻ᵀ H B⁻¹ of a mass matrix: rows and columns of the base in the library's axes."""
        columns = np.stack([self.outside(R, H[:, :, k]) for k in range(H.shape[2])], axis=2)
        return np.stack([self.outside(R, columns[:, k, :]) for k in range(H.shape[1])], axis=1)


def _times(R: Array, x: Array) -> Array:
    return np.stack([sum(R[:, i, k] * x[:, k] for k in range(3)) for i in range(3)], axis=1)  # type: ignore[arg-type]


def _cross(a: Array, b: Array) -> Array:
    terms = [a[:, (i + 1) % 3] * b[:, (i + 2) % 3] - a[:, (i + 2) % 3] * b[:, (i + 1) % 3] for i in range(3)]
    return np.stack(terms, axis=1)


def rotation(q: Array) -> Array:
    """From body to world axes for q = (w, x, y, z, …), of any length: numbers of any kind."""
    w, x, y, z = (q[:, k] for k in range(4))
    s = 2 / (w * w + x * x + y * y + z * z)
    rows = [
        [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
        [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)],
        [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=1) for row in rows], axis=1)
