"""Impulses under Coulomb's law, all at once: u = A λ + b with every (λ, u) in its friction cone or between its bounds.

A contact with friction has three rows, the normal and two across it: 0 ≤ λ_n ⊥ u_n ≥ 0, |λ_t| ≤ μ λ_n, and where it
slides λ_t = −μ λ_n u_t/|u_t|. The cone is round, and nothing lifts what slides (the law of Signorini and Coulomb
itself, not its convex relaxation). Everything else is a row between bounds, λ = Π(λ − ρ u): a contact without friction
(0, ∞), dry friction at a joint (−f dt, f dt), a joint at its limit.

A round is a step of Newton's method on the equations of Alart and Curnier, λ = Π(λ − ρ u), projected onto the cones:
impulses that do no work between contacts that seem to stick grow to where one of them slides. Where several steps find
nothing better than before, sweeps of Gauss and Seidel over the contacts go on from the best. The residual,
|λ − Π(λ − ρ u)|/ρ, is a velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ONE, ZERO, absolute, less, maximum, select
from knuckle.spatial import Matrix, Vector, repeated
from knuckle.spatial.linear.elimination import solve

from .impulse_laws import Bounds, Cone, Scalars, stiffest

TRIES, SWEEPS = 6, 20
"""Steps of Newton's method without success before sweeps go on from the best, and how many these are."""
SLIGHT = 1e-6
"""A compliance that chooses among impulses that do the same, in the slopes of Newton's method only; relative."""


@dataclass(frozen=True)
class ImpulseBlock:
    """The rows of one contact or bound, and what solvers multiply with: one over its responses to unit impulses.

    `rho` is for the sum of all its rows, `normal` for the first one, `across` for the stiffest way across.
    """

    rows: range
    law: Cone | Bounds
    rho: Any
    normal: Any
    across: Any


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
            across = 1 / stiffest(A, n + 1) if law.rows == 3 else ZERO
            blocks.append(ImpulseBlock(rows, law, rho, 1 / A[n][n], across))
            n = rows.stop
        return cls(A, b, tuple(blocks))

    def velocity(self, i: int, impulses: Scalars) -> Any:
        """u of a row."""
        return self.b[i] + sum((a * x for a, x in zip(self.A[i], impulses, strict=True)), ZERO)

    def trial(self, block: ImpulseBlock, impulses: Scalars) -> Scalars:
        """λ − ρ u of a contact."""
        return [impulses[i] - block.rho * self.velocity(i, impulses) for i in block.rows]


def solved(problem: ConeProblem, start: Scalars, rounds: int, tolerance: float) -> tuple[Scalars, Any]:
    """Impulses and the residual that is left, from a guess, by at most so many rounds: the best that were found.

    `tolerance` is relative to the largest velocity without impulses.
    """
    largest: Any = ZERO
    for x in problem.b:
        largest = maximum(largest, absolute(x))
    enough = tolerance * largest
    touched: Any = sum((absolute(x) for x in start), ZERO)  # a guess is improved at least once: its errors would add up
    begun = maximum(residual(problem, start) - enough, select(less(0.0, touched), enough, -enough))
    n = len(start)

    def round_(left: Any, tries: Any, *x: Any) -> tuple[Any, ...]:
        return _round(problem, left, tries, x[:n], list(x[n:]), enough)

    state = repeated(round_, (begun, 0.0, *start, *start), rounds)
    return list(state[2 : 2 + n]), state[0] + enough


def _round(
    problem: ConeProblem, left: Any, tries: Any, best: Sequence[Any], impulses: Scalars, enough: Any
) -> tuple[Any, ...]:
    """A step of Newton's method; after `TRIES` of them that found nothing better, sweeps from the best."""
    is_stuck = less(TRIES - 0.5, tries)
    newton = _newton(problem, impulses)
    impulses = [select(is_stuck, a, b) for a, b in zip(best, newton, strict=True)]
    sweeps = select(is_stuck, float(SWEEPS), 0.0)
    _, *impulses = repeated(lambda n, *x: (n - 1, *_sweep(problem, list(x))), (sweeps, *impulses), SWEEPS)
    now = residual(problem, impulses) - enough
    is_better = less(now, left)
    best = [select(is_better, a, b) for a, b in zip(impulses, best, strict=True)]
    tries = select(is_better, 0.0, select(is_stuck, 0.0, tries + 1))
    return select(is_better, now, left), tries, *best, *impulses


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
