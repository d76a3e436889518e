"""Impulses under Coulomb's law, all at once: u = A λ + b with every (λ, u) in its friction cone or between its bounds.

A contact with friction has three rows, the normal and two across it: 0 ≤ λ_n ⊥ u_n ≥ 0, |λ_t| ≤ μ λ_n, and where it
slides λ_t = −μ λ_n u_t/|u_t|. The cone is round, and nothing lifts what slides (the law of Signorini and Coulomb
itself, not its convex relaxation). Everything else is a row between bounds, λ = Π(λ − ρ u): a contact without friction
(0, ∞), dry friction at a joint (−f dt, f dt), a joint at its limit.

A round is a sweep of Gauss and Seidel over the contacts and a step of Newton's method on the equations of Alart and
Curnier, λ = Π(λ − ρ u), projected onto the cones: impulses that do no work between contacts that seem to stick grow to
where one of them slides. Where several rounds find nothing better than before, many sweeps go on from the best. The
residual, |λ − Π(λ − ρ u)|/ρ, is a velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ONE, ZERO, absolute, less, maximum, select
from knuckle.spatial import Matrix, Vector, repeated
from knuckle.spatial.linear.elimination import MANY, product_count, solve

from .impulse_laws import NO_RESPONSE, Bounds, Cone, Scalars, Steps

TRIES = 4
"""Rounds without success before many sweeps go on from the best."""
SWEEPS, MANY_SWEEPS = 1, 20
"""Sweeps of Gauss and Seidel before a step of Newton's method, and instead of one."""
PATIENCE, ENOUGH = 10, 1e-7
"""How many times the rounds are tried where the residual stays above so much, in m/s."""
SLIGHT = 1e-9
"""A compliance that chooses among impulses that do the same, in the slopes of Newton's method only; relative."""
COLD = 0.01
"""The part of the tolerance that holds without a guess: what is found is the guess of many steps."""
UNKNOWN = 1e300
"""The residual of impulses that are a guess."""
LOOPED = 8000
"""Products from which on the equations of Newton's method are solved by loops."""


@dataclass(frozen=True)
class ImpulseBlock:
    """The rows of one contact or bound, and what solvers multiply with."""

    rows: range
    law: Cone | Bounds
    steps: Steps


@dataclass(frozen=True)
class ConeProblem:
    """A (n, n), by the entries of each row that are not always zero, b (n) and the blocks of its contacts."""

    A: Sequence[dict[int, Any]]
    b: Sequence[Any]
    blocks: tuple[ImpulseBlock, ...]

    @classmethod
    def of(cls, A: Sequence[Sequence[Any]], b: Sequence[Any], laws: Sequence[Cone | Bounds]) -> ConeProblem:
        """The problem, for the law of each contact in order."""
        blocks, n, most = list[ImpulseBlock](), 0, ZERO
        for i, row in enumerate(A):
            most = maximum(most, row[i])
        for law in laws:
            blocks.append(ImpulseBlock(range(n, n + law.rows), law, law.steps(A, n, NO_RESPONSE * most)))
            n += law.rows
        return cls([{k: a for k, a in enumerate(row) if a is not ZERO} for row in A], b, tuple(blocks))

    def velocity(self, i: int, impulses: Scalars) -> Any:
        """u of a row. What a sweep has changed last is added last: code need not wait for it."""
        later, earlier = ([k for k in self.A[i] if is_later == (k > i)] for is_later in (True, False))
        return self.b[i] + sum((self.A[i][k] * impulses[k] for k in (*later, *earlier)), ZERO)

    @property
    def largest_push(self) -> Any:
        """The largest velocity without impulses in first rows, which others follow; pairs that part do not count."""
        worst: Any = ZERO
        for block in self.blocks:
            first = self.b[block.rows.start]
            worst = maximum(worst, -first if block.law.only_pushes else absolute(first))
        return worst

    @property
    def largest(self) -> Any:
        """The largest velocity without impulses; that of pairs that part does not count."""
        worst = self.largest_push
        for block in self.blocks:
            for i in block.rows[1:]:
                worst = maximum(worst, absolute(self.b[i]))
        return worst

    def trial(self, block: ImpulseBlock, impulses: Scalars) -> Scalars:
        """λ − ρ u of a contact."""
        pairs = zip(block.rows, block.steps.rho, strict=True)
        return [impulses[i] - rho * self.velocity(i, impulses) for i, rho in pairs]


def solved(problem: ConeProblem, start: Scalars, rounds: int, tolerance: float) -> tuple[Scalars, Any]:
    """Impulses and the residual that is left, from a guess, by at most so many rounds: the best that were found.

    `tolerance` is relative to the largest velocity that impulses have to change. Where more than `ENOUGH` is left after
    these rounds, there are `PATIENCE` times as many.
    """
    touched: Any = sum((absolute(x) for x in start), ZERO)  # a guess is improved at least once: its errors would add up
    enough = select(less(0.0, touched), tolerance, COLD * tolerance) * problem.largest
    strikes = problem.largest_push
    is_open = select(less(enough, strikes), 1.0, select(less(0.0, touched), 1.0, 0.0))
    n = len(start)

    def round_(_: Any, count: Any, tries: Any, left: Any, *x: Any) -> tuple[Any, ...]:
        tries, left, *both = _round(problem, tries, left, x[:n], list(x[n:]))
        is_late = less(rounds - 1.5, count)
        return left - select(is_late, maximum(enough, ENOUGH), enough), count + 1, tries, left, *both

    state = repeated(round_, (is_open, 0.0, 0.0, UNKNOWN * is_open, *start, *start), (1 + PATIENCE) * rounds)
    return list(state[4 : 4 + n]), state[3]


def _round(problem: ConeProblem, tries: Any, left: Any, best: Sequence[Any], impulses: Scalars) -> tuple[Any, ...]:
    """Sweeps and a step of Newton's method; after `TRIES` that found nothing better, many sweeps from the best."""
    is_stuck = less(TRIES - 0.5, tries)
    impulses = [select(is_stuck, a, b) for a, b in zip(best, impulses, strict=True)]
    sweeps = select(is_stuck, float(MANY_SWEEPS), float(SWEEPS))
    _, *impulses = repeated(lambda n, *x: (n - 1, *_sweep(problem, list(x))), (sweeps, *impulses), MANY_SWEEPS)
    newton = _newton(problem, impulses)
    impulses = [select(is_stuck, a, b) for a, b in zip(impulses, newton, strict=True)]
    now = residual(problem, impulses)
    is_better = less(now, left)
    best = [select(is_better, a, b) for a, b in zip(impulses, best, strict=True)]
    tries = select(is_better, 0.0, select(is_stuck, 0.0, tries + 1))
    return tries, select(is_better, now, left), *best, *impulses


def _sweep(problem: ConeProblem, impulses: Scalars) -> Scalars:
    """Block by block: the impulse that stops the approach, and friction in its cone."""
    for block in problem.blocks:
        block.law.swept(impulses, block.rows.start, block.steps, problem.velocity)
    return impulses


def residual(problem: ConeProblem, impulses: Scalars) -> Any:
    """The largest entry of (λ − Π(λ − ρ u))/ρ."""
    worst: Any = ZERO
    for block in problem.blocks:
        near = block.law.projected(problem.trial(block, impulses))
        for i, x, response in zip(block.rows, near, block.steps.response, strict=True):
            worst = maximum(worst, absolute(impulses[i] - x) * response)
    return worst


def _newton(problem: ConeProblem, impulses: Scalars) -> Scalars:
    """Π(λ − F'⁻¹ F) with F = λ − Π(λ − ρ u) and F' = 1 − Π' + Π' ρ A."""
    slopes, left = equations(problem, impulses)
    many = MANY if product_count(slopes) > LOOPED else len(left) + 1
    change = solve(slopes, left, many)
    new = [x - d for x, d in zip(impulses, change, strict=True)]
    return [x for block in problem.blocks for x in block.law.projected([new[i] for i in block.rows])]


def equations(problem: ConeProblem, impulses: Scalars) -> tuple[Matrix, Vector]:
    """F' and F of Newton's method."""
    n = len(impulses)
    slopes: list[Scalars] = []
    left: Scalars = []
    for block in problem.blocks:
        trial = problem.trial(block, impulses)
        for i, line, x in zip(block.rows, block.law.slope(trial), block.law.projected(trial), strict=True):
            left.append(impulses[i] - x)
            row: Scalars = [ZERO] * n
            row[i] = ONE
            for m, g, rho in zip(block.rows, line, block.steps.rho, strict=True):
                if g is not ZERO:
                    row[m] = row[m] - (1 - SLIGHT) * g
                    weight = rho * g
                    for k, a in problem.A[m].items():
                        row[k] = row[k] + weight * a
            slopes.append(row)
    return Matrix(slopes, n), Vector(left)
