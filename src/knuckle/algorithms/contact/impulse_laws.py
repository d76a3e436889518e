"""What impulses may be: in a friction cone, or between bounds; and the projections onto them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ONE, ZERO, less, maximum, minimum, select, sqrt

Scalars = list[Any]
Velocity = Callable[[int, Scalars], Any]
"""The velocity of a row under impulses."""


def in_disc(x: Scalars, radius: Any) -> Scalars:
    """The nearest point of a disc about the origin."""
    squared = x[0] * x[0] + x[1] * x[1]
    is_out = less(radius * radius, squared)
    factor = select(is_out, radius / sqrt(select(is_out, squared, 1.0)), 1.0)
    return [factor * x[0], factor * x[1]]


@dataclass(frozen=True)
class Cone:
    """A contact with friction."""

    mu: Any

    rows = 3

    def swept(self, impulses: Scalars, n: int, normal: Any, across: Any, velocity: Velocity) -> None:
        """Its impulses, from row n on, where the others stay: the normal one first, then those across it."""
        impulses[n] = maximum(impulses[n] - normal * velocity(n, impulses), 0.0)
        trial = [impulses[k] - across * velocity(k, impulses) for k in (n + 1, n + 2)]
        impulses[n + 1 : n + 3] = in_disc(trial, self.mu * impulses[n])

    def projected(self, trial: Scalars) -> Scalars:
        """Π: the normal part not below zero, the others in the disc that it allows."""
        normal = maximum(trial[0], 0.0)
        return [normal, *in_disc(trial[1:], self.mu * normal)]

    def slope(self, trial: Scalars) -> list[Scalars]:
        """Π': where it pushes and sticks the identity, where it slides along the rim of the disc, else zero."""
        pushes = select(less(0.0, trial[0]), 1.0, 0.0)
        normal, (x, y) = maximum(trial[0], 0.0), trial[1:]
        squared, radius = x * x + y * y, self.mu * normal
        slides = less(radius * radius, squared)
        length = sqrt(select(slides, squared, 1.0))
        c, s, part = x / length, y / length, radius / length

        def entry(sliding: Any, sticking: Any) -> Any:
            return select(slides, sliding, sticking)

        return [
            [pushes, ZERO, ZERO],
            [entry(self.mu * pushes * c, 0.0), entry(part * s * s, 1.0), entry(-part * c * s, 0.0)],
            [entry(self.mu * pushes * s, 0.0), entry(-part * c * s, 0.0), entry(part * c * c, 1.0)],
        ]


@dataclass(frozen=True)
class Bounds:
    """An impulse between bounds; None where there is none."""

    lower: Any = None
    upper: Any = None

    rows = 1

    def swept(self, impulses: Scalars, n: int, normal: Any, _: Any, velocity: Velocity) -> None:
        """Its impulse, where the others stay."""
        (impulses[n],) = self.projected([impulses[n] - normal * velocity(n, impulses)])

    def projected(self, trial: Scalars) -> Scalars:
        """Π: the nearest impulse between the bounds."""
        (x,) = trial
        x = x if self.lower is None else maximum(x, self.lower)
        return [x if self.upper is None else minimum(x, self.upper)]

    def slope(self, trial: Scalars) -> list[Scalars]:
        """Π': 1 between the bounds, 0 at them."""
        (x,), inside = trial, ONE
        inside = inside if self.lower is None else select(less(self.lower, x), inside, 0.0)
        return [[inside if self.upper is None else select(less(x, self.upper), inside, 0.0)]]


PUSHES = Bounds(lower=0.0)
"""A contact without friction, or a joint at its limit."""


def stiffest(A: Sequence[Sequence[Any]], i: int) -> Any:
    """The larger eigenvalue of two rows of A, from i on."""
    mean, half = (A[i][i] + A[i + 1][i + 1]) / 2, (A[i][i] - A[i + 1][i + 1]) / 2
    return mean + sqrt(half * half + A[i][i + 1] * A[i + 1][i])
