"""The solution of cone problems by rounds, each of them a sweep of Gauss and Seidel and a step of Newton's method.

Newton's method is on the equations of Alart and Curnier, λ = Π(λ − ρ u); sweeps bring its impulses back into the cones.
Where several rounds find nothing better than before, many sweeps go on from the best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from knuckle.scalar import ONE, ZERO, absolute, less, maximum, minimum, select
from knuckle.spatial import Matrix, Vector, repeated
from knuckle.spatial.linear.elimination import MANY, eliminated, product_count

from .cone_problem import ConeProblem, residual
from .friction_discs import Scalars

TRIES = 4
"""Rounds without success before many sweeps go on from the best."""
SWEEPS, MANY_SWEEPS = 1, 20
"""Sweeps of Gauss and Seidel before a step of Newton's method, and instead of one."""
ANEW = 8
"""After so many rounds they begin anew, without a guess and what is worse than nothing, with so many more tries."""
PATIENCE, ENOUGH = 3, 1e-7
"""How many times the rounds are tried where the residual stays above so much, in m/s."""
SLIGHT = 1e-7
"""A compliance that chooses among impulses that do the same, in the slopes of Newton's method only; relative."""
COLD = 0.01
"""The part of the tolerance that holds without a guess: what is found is the guess of many steps."""
UNKNOWN = 1e300
"""The residual of impulses that are a guess."""
LOOPED = 5000
"""Products from which on the equations of Newton's method are solved by loops."""


Solver = Callable[[ConeProblem, Scalars, int, float], tuple[Scalars, Any]]
"""From a problem and a guess, with rounds and a tolerance, to impulses and a residual."""


def solved(problem: ConeProblem, start: Scalars, rounds: int, tolerance: float) -> tuple[Scalars, Any]:
    """Impulses and the residual that is left, from a guess, by at most so many rounds: the best that were found.

    `tolerance` is relative to the largest velocity that impulses have to change. Where more than `ENOUGH` is left after
    these rounds, there are `PATIENCE` times as many.
    """
    touched: Any = sum((absolute(x) for x in start), ZERO)  # a guess is improved at least once: its errors would add up
    enough = select(less(0.0, touched), tolerance, COLD * tolerance) * problem.largest
    strikes = problem.largest_push
    is_open = select(less(enough, strikes), 1.0, select(less(0.0, touched), 1.0, 0.0))
    n, without = len(start), residual(problem, [ZERO] * len(start))

    def round_(_: Any, count: Any, tries: Any, left: Any, *x: Any) -> tuple[Any, ...]:
        begins_anew = less(absolute(count - ANEW), 0.5)
        impulses = [select(begins_anew, 0.0, y) for y in x[n:]]
        forgets = less(select(begins_anew, without, UNKNOWN), left)
        best, left = [select(forgets, 0.0, y) for y in x[:n]], select(forgets, without, left)
        tries, left, *both = _round(problem, select(begins_anew, -float(ANEW), tries), left, best, impulses)
        is_late = less(rounds - 1.5, count)
        return left - select(is_late, maximum(enough, ENOUGH), enough), count + 1, tries, left, *both

    state = repeated(round_, (is_open, 0.0, 0.0, UNKNOWN * is_open, *start, *start), (1 + PATIENCE) * rounds)
    found = state[4 : 4 + n]
    return [x for block in problem.blocks for x in block.law.projected([found[i] for i in block.rows])], state[3]


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
    tries = select(is_better, minimum(tries, 0.0), select(is_stuck, 0.0, tries + 1))
    return tries, select(is_better, now, left), *best, *impulses


def _sweep(problem: ConeProblem, impulses: Scalars) -> Scalars:
    """Block by block: the impulse that stops the approach, and friction in its cone."""
    for block in problem.blocks:
        block.law.swept(impulses, block.rows.start, block.steps, problem.velocity)
    return impulses


def _newton(problem: ConeProblem, impulses: Scalars) -> Scalars:
    """λ − F'⁻¹ F with F = λ − Π(λ − ρ u) and F' = 1 − Π' + Π' ρ A.

    What the slight compliance s in F' + s Π' leaves is solved for once more: it chooses among impulses, and no more.
    """
    slopes, still, left = equations(problem, impulses)
    many = MANY if product_count(slopes) > LOOPED else len(left) + 1
    factors = eliminated(slopes, many)
    change = factors.solve(left)
    rest = (SLIGHT * sum((g * change[m] for m, g in line.items()), ZERO) for line in still)
    change = change + factors.solve(Vector(rest))
    return [x - d for x, d in zip(impulses, change, strict=True)]


def equations(problem: ConeProblem, impulses: Scalars) -> tuple[Matrix, list[dict[int, Any]], Vector]:
    """F' + s Π', the rows of Π' and F of Newton's method."""
    n = len(impulses)
    slopes: list[Scalars] = []
    still: list[dict[int, Any]] = []
    left: Scalars = []
    for block in problem.blocks:
        trial = problem.trial(block, impulses)
        for i, line, x in zip(block.rows, block.law.slope(trial), block.law.projected(trial), strict=True):
            left.append(impulses[i] - x)
            row: Scalars = [ZERO] * n
            row[i] = ONE
            still.append({m: g for m, g in zip(block.rows, line, strict=True) if g is not ZERO})
            for m, g in still[-1].items():
                row[m] = row[m] - (1 - SLIGHT) * g
                weight = block.steps.rho[m - block.rows.start] * g
                for k, a in problem.A[m].items():
                    row[k] = row[k] + weight * a
            slopes.append(row)
    return Matrix(slopes, n), still, Vector(left)
