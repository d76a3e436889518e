"""Contact and friction in turn, each a convex problem of its own: staggered projections (Kaufman et al. 2008).

The velocity is v + W (Nᵀα + Tᵀβ), W being the inverse inertia with all equality constraints kept (notes 2.11 has the
other sign of N and T). Given the friction β, the normal impulses are the least that keep N v ≥ c (2.109); given these,
the friction is what slows slipping most within its bounds (2.110). Where both stay what they are, the law of Signorini
and Coulomb holds, as nothing in the second problem moves the first one's bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.contact.cone_problem import ConeProblem
from knuckle.algorithms.contact.cone_rounds import solved
from knuckle.algorithms.contact.friction_discs import Disc, ResponseSteps, Velocity, in_disc, inverse_response
from knuckle.algorithms.contact.impulse_laws import Bounds
from knuckle.scalar import ONE, less, select, sqrt

from .complementarity import boxed

Array: TypeAlias = NDArray[Any]
Reach: TypeAlias = Callable[[Array, Array, Array], Array]
"""(v, α, β) → the largest friction impulse of each place."""
ROUNDS, EXACT = 60, 1e-13
"""Rounds of the solver for round bounds, and the part of the slip that it may leave."""
NOTHING = 1e-14
"""Impulses that are this part of others are none."""


@dataclass(frozen=True)
class Places:
    """Rows N (n, nv) with N v ≥ c, and rows T (m, nv) across, of which each place has one or two."""

    N: Array
    least: Array
    T: Array
    sizes: tuple[int, ...]
    """How many rows of T each place with friction has"""


@dataclass(frozen=True)
class Staggered:
    """The velocity, the impulses along and across, how many rounds it took, and what the last one still changed."""

    v: Array
    alpha: Array
    beta: Array
    rounds: int
    change: float
    """Of the velocity, relative: ‖Δ(Nᵀα + Tᵀβ)‖ over ‖Nᵀα + Tᵀβ‖, in the norm of W"""
    is_converged: bool


def staggered(
    W: Array,
    v: Array,
    places: Places,
    reach: Reach,
    start: Array,
    cone: Literal["round", "box"],
    rounds: int,
    tolerance: float,
) -> Staggered:
    """Contact and friction in turn, from a friction to begin with (notes, algorithm 7, corrected).

    The check comes after both, so that friction is never older than the contact that it belongs to.
    """
    N, T = places.N, places.T
    A, B, C = N @ W @ N.T, T @ W @ T.T, N @ W @ T.T
    alpha, beta, change, n = np.zeros(len(N)), start, np.inf, 0
    while n < rounds and not change <= tolerance:
        new = boxed(A, N @ v + C @ beta - places.least, np.zeros(len(N)), np.full(len(N), np.inf))
        at = v + W @ (N.T @ new + T.T @ beta)
        most = reach(at, new, beta)
        friction = within(B, T @ v + C.T @ new, places.sizes, most, beta, cone)
        moved = [N.T @ (new - alpha), T.T @ (friction - beta)]
        size = sum(_norm(W, x) for x in (N.T @ new, T.T @ friction))
        change = sum(_norm(W, x) for x in moved) / size if size > NOTHING * _norm(np.linalg.pinv(W), v) else 0.0
        alpha, beta, n = new, friction, n + 1
    return Staggered(v + W @ (N.T @ alpha + T.T @ beta), alpha, beta, n, float(change), bool(change <= tolerance))


def _norm(W: Array, x: Array) -> float:
    return float(np.sqrt(max(x @ W @ x, 0.0)))


def within(B: Array, b: Array, sizes: Sequence[int], most: Array, start: Array, cone: Literal["round", "box"]) -> Array:
    """The friction that leaves the least slip: min ½ βᵀBβ + βᵀb, in discs or boxes of these radii (notes 2.110)."""
    rows = np.repeat(most, sizes)
    if cone == "box" or all(size == 1 for size in sizes):
        return boxed(B, b, -rows, rows)
    laws: list[Any] = []
    for size, radius in zip(sizes, most.tolist(), strict=True):
        laws.append(KnownDisc(radius) if size == 2 else Bounds(-radius, radius))
    found, _ = solved(ConeProblem.of(B.tolist(), b.tolist(), laws), start.tolist(), ROUNDS, EXACT)
    return np.array([float(x) for x in found])


@dataclass(frozen=True)
class KnownDisc:
    """Friction of a known normal impulse: within a disc."""

    radius: float

    rows = 2
    only_pushes = False

    def steps(self, own: Sequence[Sequence[Any]], least: Any) -> ResponseSteps:
        """One over the responses of its two rows."""
        response = own[0][0] + own[1][1]
        rho = inverse_response(response, least)
        return ResponseSteps(own, least, [rho, rho], [response, response])

    def swept(self, impulses: list[Any], n: int, steps: ResponseSteps, velocity: Velocity) -> None:
        """Its impulses, from row n on, where the others stay."""
        step = steps.across(Disc(ONE, (0, 1)))
        trial = [impulses[k] - step * velocity(k, impulses) for k in (n, n + 1)]
        impulses[n : n + 2] = self.projected(trial)

    def projected(self, trial: list[Any]) -> list[Any]:
        """Π: the nearest point of the disc."""
        return in_disc(trial, self.radius)

    def slope(self, trial: list[Any]) -> list[list[Any]]:
        """Π': the identity within, along the rim beyond it."""
        x, y = trial
        squared = x * x + y * y
        is_out = less(self.radius * self.radius, squared)
        length = sqrt(select(is_out, squared, 1.0))
        c, s, part = x / length, y / length, self.radius / length

        def entry(beyond: Any, inside: Any) -> Any:
            return select(is_out, beyond, inside)

        return [
            [entry(part * s * s, 1.0), entry(-part * c * s, 0.0)],
            [entry(-part * c * s, 0.0), entry(part * c * c, 1.0)],
        ]

    def state(self, impulses: list[Any]) -> list[Any]:
        """Whether it is on the rim: 1 or 0."""
        x, y = impulses
        return [select(less(self.radius * self.radius, x * x + y * y), 1.0, 0.0)]
