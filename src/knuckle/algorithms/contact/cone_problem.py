"""Impulses under Coulomb's law, all at once: u = A λ + b with every (λ, u) in its friction cone or between its bounds.

A contact with friction has three rows, the normal and two across it: 0 ≤ λ_n ⊥ u_n ≥ 0, |λ_t| ≤ μ λ_n, and where it
slides λ_t = −μ λ_n u_t/|u_t|. The cone is round, and nothing lifts what slides (the law of Signorini and Coulomb
itself, not its convex relaxation). Everything else is a row between bounds, λ = Π(λ − ρ u): a contact without friction
(0, ∞), dry friction at a joint (−f dt, f dt), a joint at its limit.

A round is one step of Newton's method on the equations of Alart and Curnier, λ = Π(λ − ρ u), and where that does not
help at once a few sweeps of Gauss and Seidel over the contacts. Newton's step is projected onto the cones: impulses
that do no work between contacts that seem to stick grow to where one of them slides. The residual |λ − Π(λ − ρ u)|/ρ is
a velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ONE, ZERO, absolute, less, maximum, select, sqrt
from knuckle.spatial import Matrix, Vector, repeated
from knuckle.spatial.linear.elimination import solve

from .impulse_laws import Bounds, Cone, Scalars

SWEEPS = 4
"""Sweeps in a round."""
TRIES, MORE_SWEEPS = 3, 20
"""Rounds without success before sweeps go on from the best, and how many these are."""
HELPS = 0.3
"""The part of a residual that a step of Newton's method leaves at most where no sweeps follow it."""
SLIGHT = 1e-6
"""A compliance that chooses among impulses that do the same, in the slopes of Newton's method only; relative."""


@dataclass(frozen=True)
class ImpulseBlock:
    """The rows of one contact or bound, and what solvers divide by."""

    rows: range
    law: Cone | Bounds
    rho: Any
    """ρ: one over the sum of its responses to unit impulses on it"""
    normal: Any
    """One over the response of the normal velocity to the normal impulse"""
    across: Any
    """One over the largest response across the normal"""


@dataclass(frozen=True)
class ConeProblem:
    """A (n, n), b (n) and the blocks of its contacts."""

    A: Sequence[Sequence[Any]]
    b: Sequence[Any]
    blocks: tuple[ImpulseBlock, ...]

    @classmethod
    def of(cls, A: Sequence[Sequence[Any]], b: Sequence[Any], laws: Sequence[Cone | Bounds]) -> ConeProblem:
        """The problem, for the law of each contact in order: three rows for a cone, one for bounds."""
        blocks, n = list[ImpulseBlock](), 0
        for law in laws:
            rows = range(n, n + law.rows)
            rho = 1 / sum((A[i][i] for i in rows), ZERO)
            across = 1 / _stiffest(A, n + 1) if law.rows == 3 else ZERO
            blocks.append(ImpulseBlock(rows, law, rho, 1 / A[n][n], across))
            n = rows.stop
        return cls(A, b, tuple(blocks))

    def velocity(self, i: int, impulses: Scalars) -> Any:
        """u of a row."""
        return self.b[i] + sum((a * x for a, x in zip(self.A[i], impulses, strict=True)), ZERO)

    def trial(self, block: ImpulseBlock, impulses: Scalars) -> Scalars:
        """λ − ρ u of a contact."""
        return [impulses[i] - block.rho * self.velocity(i, impulses) for i in block.rows]


def _stiffest(A: Sequence[Sequence[Any]], i: int) -> Any:
    """The larger eigenvalue of two rows."""
    mean, half = (A[i][i] + A[i + 1][i + 1]) / 2, (A[i][i] - A[i + 1][i + 1]) / 2
    return mean + sqrt(half * half + A[i][i + 1] * A[i + 1][i])


def solved(problem: ConeProblem, start: Scalars, rounds: int, tolerance: float) -> tuple[Scalars, Any]:
    """Impulses and the residual that is left, from a guess, by at most so many rounds: the best that were found.

    `tolerance` is relative to the largest velocity without impulses.
    """
    if not start:
        return [], ZERO
    largest: Any = ZERO
    for x in problem.b:
        largest = maximum(largest, absolute(x))
    enough = tolerance * largest
    begun, n = residual(problem, start), len(start)
    state = repeated(
        lambda left, now, tries, *x: _round(problem, (left, now, tries), x[:n], list(x[n:]), enough),
        (begun - enough, begun, 0.0, *start, *start),
        rounds,
    )
    return list(state[3 : 3 + n]), state[0] + enough


def _round(
    problem: ConeProblem, numbers: tuple[Any, Any, Any], best: Sequence[Any], impulses: Scalars, enough: Any
) -> tuple[Any, ...]:
    """A step of Newton's method, and sweeps where that leaves much: other contacts slide then, or open.

    After `TRIES` rounds that found nothing better, a round of sweeps goes on from the best.
    """
    left, now, tries = numbers
    is_new = less(tries, TRIES - 0.5)
    newton = _newton(problem, impulses)
    impulses = [select(is_new, a, b) for a, b in zip(newton, best, strict=True)]
    helps = select(less(residual(problem, impulses), HELPS * now), 1.0, 0.0)
    sweeps = select(less(0.5, helps), 0.0, select(is_new, float(SWEEPS), float(MORE_SWEEPS)))
    _, *impulses = repeated(lambda n, *x: (n - 1, *_sweep(problem, list(x))), (sweeps, *impulses), MORE_SWEEPS)
    now = residual(problem, impulses)
    is_better = less(now - enough, left)
    best = [select(is_better, a, b) for a, b in zip(impulses, best, strict=True)]
    tries = select(is_better, 0.0, select(is_new, tries + 1, 0.0))
    return select(is_better, now - enough, left), now, tries, *best, *impulses


def _sweep(problem: ConeProblem, impulses: Scalars) -> Scalars:
    """ImpulseBlock by block: the impulse that stops the approach, and friction in its cone."""
    for block in problem.blocks:
        block.law.swept(impulses, block.rows.start, block.normal, block.across, problem.velocity)
    return impulses


def residual(problem: ConeProblem, impulses: Scalars) -> Any:
    """The largest entry of (λ − Π(λ − ρ u))/ρ."""
    worst: Any = ZERO
    for block in problem.blocks:
        near = block.law.projected(problem.trial(block, impulses))
        off: Any = ZERO
        for i, x in zip(block.rows, near, strict=True):
            off = maximum(off, absolute(impulses[i] - x))
        worst = maximum(worst, off / block.rho)
    return worst


def _newton(problem: ConeProblem, impulses: Scalars) -> Scalars:
    """Π(λ − F'⁻¹ F) with F = λ − Π(λ − ρ u) and F' = 1 − Π' + Π' ρ A."""
    n = len(impulses)
    slopes: list[Scalars] = []
    left: Scalars = []
    for block in problem.blocks:
        trial = problem.trial(block, impulses)
        for i, line, x in zip(block.rows, block.law.slope(trial), block.law.projected(trial), strict=True):
            left.append(impulses[i] - x)
            weights = [block.rho * g for g in line]
            through = [
                sum((w * problem.A[m][k] for w, m in zip(weights, block.rows, strict=True)), ZERO) for k in range(n)
            ]
            own = dict(zip(block.rows, line, strict=True))
            slopes.append(
                [(ONE if i == k else ZERO) - (1 - SLIGHT) * own.get(k, ZERO) + x for k, x in enumerate(through)]
            )
    change = solve(Matrix(slopes, n), Vector(left))
    new = [x - d for x, d in zip(impulses, change, strict=True)]
    return [x for block in problem.blocks for x in block.law.projected([new[i] for i in block.rows])]
