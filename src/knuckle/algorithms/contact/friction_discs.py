"""Friction within discs, and the steps that solvers take: one over responses to unit impulses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from knuckle.scalar import ONE, ZERO, less, maximum, minimum, select, sqrt

Scalars = list[Any]
Velocity = Callable[[int, Scalars], Any]
"""The velocity of a row under impulses."""
NO_RESPONSE = 1e-13
"""The part of the largest response to a unit impulse up to which a response is rounding."""


class Disc(NamedTuple):
    """Rows of a contact, counted from its normal, with impulses in a disc: of a coefficient times the normal one."""

    coefficient: Any
    rows: tuple[int, ...]


class ResponseSteps(NamedTuple):
    """What solvers multiply velocities with: one over responses to unit impulses, and zero where there is none.

    `own` are the responses of the rows of a contact to each other, and `least` is one that is rounding. `rho` has for
    each row that of all rows of its unit together, one over `response`. The others are only asked for in sweeps.
    """

    own: Sequence[Sequence[Any]]
    least: Any
    rho: Scalars
    response: Scalars

    @property
    def normal(self) -> Any:
        """For the first row alone."""
        return inverse_response(self.own[0][0], self.least)

    def across(self, disc: Disc) -> Any:
        """For the stiffest way in a disc."""
        i = disc.rows[0]
        return inverse_response(stiffest(self.own, i) if len(disc.rows) == 2 else self.own[i][i], self.least)


def inverse_response(response: Any, least: Any) -> Any:
    """One over a response; zero up to `least`: what does not move is not pushed."""
    moves = less(least, response)
    return select(moves, ONE / select(moves, response, 1.0), 0.0)


def in_disc(x: Scalars, radius: Any) -> Scalars:
    """The nearest point of a disc, or of an interval, about the origin."""
    if len(x) == 1:
        return [maximum(-radius, minimum(radius, x[0]))]
    is_out, shrink = _outside(x, radius)
    factor = select(is_out, radius * shrink, 1.0)
    return [factor * x[0], factor * x[1]]


def _outside(x: Scalars, radius: Any) -> tuple[Any, Any]:
    """Whether a point is out of a disc, and one over its distance from the origin then."""
    squared = sum((a * a for a in x), ZERO)
    is_out = less(radius * radius, squared)
    return is_out, 1 / sqrt(select(is_out, squared, 1.0))


def disc_slope(x: Scalars, coefficient: Any, normal: Any, pushes: Any) -> list[tuple[Any, Scalars]]:
    """Rows of the slopes of `in_disc`: along the normal impulse that sets its radius, and across."""
    radius = coefficient * normal
    slides, shrink = _outside(x, radius)
    way, part = [a * shrink for a in x], radius * shrink
    rows: list[tuple[Any, Scalars]] = []
    for i, c in enumerate(way):
        turned = [(part if i == k else ZERO) - part * c * d if len(x) > 1 else ZERO for k, d in enumerate(way)]
        across = [select(slides, a, 1.0 if i == k else 0.0) for k, a in enumerate(turned)]
        rows.append((select(slides, coefficient * pushes * c, 0.0), across))
    return rows


def stiffest(A: Sequence[Sequence[Any]], i: int) -> Any:
    """The larger eigenvalue of two rows of A, from i on."""
    mean, half = (A[i][i] + A[i + 1][i + 1]) / 2, (A[i][i] - A[i + 1][i + 1]) / 2
    return mean + sqrt(half * half + A[i][i + 1] * A[i + 1][i])
