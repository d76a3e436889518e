"""What impulses may be: in a friction cone, or between bounds; and the projections onto them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ONE, ZERO, less, maximum, minimum, select

from .friction_discs import (
    Disc,
    ResponseSteps,
    Scalars,
    Velocity,
    disc_slope,
    in_disc,
    inverse_response,
)


@dataclass(frozen=True)
class Cone:
    """A contact with friction: across its normal, against turning about it, and against rolling.

    `torsional` and `rolling` are lengths: moments over the normal force.
    """

    mu: Any = ZERO
    torsional: Any = ZERO
    rolling: Any = ZERO

    only_pushes = True
    """Whether its first impulse has one sign."""

    @property
    def discs(self) -> list[Disc]:
        """What the rows after the normal may be, in their order."""
        found, n = list[Disc](), 1
        for coefficient, size in ((self.mu, 2), (self.torsional, 1), (self.rolling, 2)):
            if coefficient is not ZERO:
                found.append(Disc(coefficient, tuple(range(n, n + size))))
                n += size
        return found

    @property
    def rows(self) -> int:
        return 1 + sum(len(disc.rows) for disc in self.discs)

    def steps(self, own: Sequence[Sequence[Any]], least: Any) -> ResponseSteps:
        """One over the responses of its rows. Those with a unit of their own are measured alone."""
        slipping = ZERO if self.mu is ZERO else own[1][1] + own[2][2]
        response: Scalars = [own[0][0] + slipping]
        for disc in self.discs:
            shared = disc.rows[0] == 1 and self.mu is not ZERO
            response += [response[0] if shared else sum((own[k][k] for k in disc.rows), ZERO)] * len(disc.rows)
        return ResponseSteps(own, least, [inverse_response(x, least) for x in response], response)

    def swept(self, impulses: Scalars, n: int, steps: ResponseSteps, velocity: Velocity) -> None:
        """Its impulses, from row n on, where the others stay: the normal one first, then those across it."""
        impulses[n] = maximum(impulses[n] - steps.normal * velocity(n, impulses), 0.0)
        for disc in self.discs:
            step = steps.across(disc)
            trial = [impulses[n + k] - step * velocity(n + k, impulses) for k in disc.rows]
            for k, x in zip(disc.rows, in_disc(trial, disc.coefficient * impulses[n]), strict=True):
                impulses[n + k] = x

    def projected(self, trial: Scalars) -> Scalars:
        """Π: the normal part not below zero, the others in the discs that it allows."""
        normal = maximum(trial[0], 0.0)
        found = [normal]
        for disc in self.discs:
            found += in_disc([trial[k] for k in disc.rows], disc.coefficient * normal)
        return found

    def slope(self, trial: Scalars) -> list[Scalars]:
        """Π': where it pushes and sticks the identity, where it slides along the rim of the disc, else zero."""
        n, pushes, normal = self.rows, select(less(0.0, trial[0]), 1.0, 0.0), maximum(trial[0], 0.0)
        lines: list[Scalars] = [[pushes, *[ZERO] * (n - 1)]]
        for disc in self.discs:
            own = disc_slope([trial[k] for k in disc.rows], disc.coefficient, normal, pushes)
            for along, across in own:
                line: Scalars = [along, *[ZERO] * (n - 1)]
                for k, x in zip(disc.rows, across, strict=True):
                    line[k] = x
                lines.append(line)
        return lines

    def state(self, impulses: Scalars) -> Scalars:
        """Whether it pushes, and whether each disc is on its rim: 1 or 0."""
        found: Scalars = [select(less(0.0, impulses[0]), 1.0, 0.0)]
        for disc in self.discs:
            radius = RIM * disc.coefficient * impulses[0]
            squared = sum((impulses[k] * impulses[k] for k in disc.rows), ZERO)
            found.append(select(less(radius * radius, squared), 1.0, 0.0))
        return found


RIM = 1 - 1e-6
"""The part of a disc's radius from which on an impulse counts as on its rim."""


@dataclass(frozen=True)
class Bounds:
    """An impulse between bounds; None where there is none."""

    lower: Any = None
    upper: Any = None

    rows = 1

    @property
    def only_pushes(self) -> bool:
        """Whether its impulse has one sign."""
        return self.upper is None and self.lower is not None

    def steps(self, own: Sequence[Sequence[Any]], least: Any) -> ResponseSteps:
        """One over the response of its row."""
        return ResponseSteps(own, least, [inverse_response(own[0][0], least)], [own[0][0]])

    def swept(self, impulses: Scalars, n: int, steps: ResponseSteps, velocity: Velocity) -> None:
        """Its impulse, where the others stay."""
        (impulses[n],) = self.projected([impulses[n] - steps.normal * velocity(n, impulses)])

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

    def state(self, impulses: Scalars) -> Scalars:
        """Whether it is between its bounds: 1 or 0."""
        return self.slope(impulses)[0]


PUSHES = Bounds(lower=0.0)
"""A contact without friction, or a joint at its limit."""
