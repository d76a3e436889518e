"""How far impulses and velocities of steps are from the laws of Signorini and Coulomb, in the measures of ContactBench.

For a contact with the impulse λ, the relative velocity u after the step and what is left of its gap, w = u_n + gap/dt:

- primal: how far λ is out of its cone, |λ_t| − μ λ_n, in parts of m g dt;
- dual: how fast bodies go into each other beyond their gap, −w;
- complementarity: |λ_n w| + |λ_t·u_t + μ λ_n |u_t||, divided by m g dt: a velocity.

Means over all contacts that push, of four balls that are thrown together: three on the ground, one from above.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from contact_cases import Case, G, ball, ball_inertia, world

Array = np.ndarray[Any, Any]


class Push(NamedTuple):
    """A contact in a step: numbers of the bodies (−1 is the ground), point, normal towards the first, impulse on it."""

    first: int
    second: int
    point: Array
    normal: Array
    impulse: Array
    gap: float


class Pushes(NamedTuple):
    """The contacts of a step, where bodies were at its beginning, and their velocities at its end."""

    contacts: list[Push]
    x: Array
    v: Array
    w: Array


def heap() -> Case:
    """Three balls that slide to the middle, and one that falls on them."""
    mu, z = 0.4, 0.1
    ways = [(math.cos(a), math.sin(a)) for a in np.arange(3) * 2 * math.pi / 3 + 0.2]
    text = "".join(ball(f"{0.25 * c} {0.25 * s} {z}", mu, name=f"b{k}") for k, (c, s) in enumerate(ways))
    text += ball("0.01 0.02 0.45", mu, name="b3")
    speeds = [(0.0, 0.0, 1.0 + k, -c, -s, 0.0) for k, (c, s) in enumerate(ways)]
    return Case(world(text, mu), [1.0] * 4, [ball_inertia()] * 4, mu, 0.5, [*speeds, (3.0, 0, 0, 0, 0, -1.0)])


def residuals(case: Case, steps: Iterable[Pushes]) -> dict[str, float]:
    """The three means."""
    unit, mu = case.masses[0] * G * case.dt, case.friction
    rows: list[tuple[float, float, float]] = []
    for step in steps:
        for c in step.contacts:
            u = _speed(step, c.first, c.point) - _speed(step, c.second, c.point)
            n = float(c.impulse @ c.normal)
            if abs(n) <= 1e-12 * unit:
                continue
            across, slide = c.impulse - n * c.normal, u - (u @ c.normal) * c.normal
            w = float(u @ c.normal) + max(c.gap, 0.0) / case.dt
            fits = abs(float(across @ slide) + mu * n * float(np.linalg.norm(slide)))
            rows.append(
                (max(0.0, float(np.linalg.norm(across)) - mu * n, -n) / unit, max(0.0, -w), (abs(n * w) + fits) / unit)
            )
    primal, dual, both = np.array(rows).mean(0)
    return {"primal": float(primal), "dual": float(dual), "complementarity": float(both)}


def _speed(step: Pushes, body: int, point: Array) -> Array:
    if body < 0:
        return np.zeros(3)
    return step.v[body] + np.cross(step.w[body], point - step.x[body])
