"""Rigid contact from event to event: what a simulation is told."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from knuckle.public_names import public_in

ImpactLaw = Literal["newton", "poisson", "energetic", "sticking"]
Order = Literal["simultaneous", "sequential"]


@public_in("contact")
@dataclass(frozen=True)
class RigidContacts:
    """Rigid contacts in a simulation, from event to event (RBDA table 11.1, with friction): touch, loss, stick, slip.

    Between events the motion is smooth and as exact as the integrator; events are found to rounding. Bounces that
    become ever smaller end.

    Args:
        law: of impacts, as in `kn.contact.impact`: "energetic", "newton", "poisson" or "sticking".
        order: of impacts at several contacts: "simultaneous" or "sequential".
        rest_speed: arrivals slower than this (m/s) do not bounce. The record of the contact has the time at which the
            bounces that are left out would have ended.
    """

    law: ImpactLaw = "energetic"
    order: Order = "simultaneous"
    rest_speed: float = 1e-4

    def __post_init__(self) -> None:
        if self.law not in ("newton", "poisson", "energetic", "sticking"):
            raise ValueError(f'law is "newton", "poisson", "energetic" or "sticking", not {self.law!r}')
        if self.order not in ("simultaneous", "sequential"):
            raise ValueError(f'order is "simultaneous" or "sequential", not {self.order!r}')
        if not 0 < self.rest_speed < math.inf:
            raise ValueError(f"rest_speed={self.rest_speed!r} must be positive: bounces would never end")
