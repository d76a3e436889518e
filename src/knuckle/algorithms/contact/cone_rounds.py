"""The solution of cone problems by rounds, each of them a sweep of Gauss and Seidel and a step of Newton's method.

Newton's method is on the equations of Alart and Curnier, λ = Π(λ − ρ u); sweeps bring its impulses back into the cones.
The first round trusts the guess, and has no sweep; nor have rounds that begin close to a solution. Where a few rounds
neither solve the problem nor converge, as with many contacts of one body that are about to slide, contacts are
compliant for a while, u = A λ + b + ε λ/ρ: Newton's method finds impulses then, and the compliance is taken back, at
first in haste, later step by step. Where it does not, there is more of it, after sweeps from the best impulses so far.
Late rounds begin once more, without the guess.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knuckle.scalar import ZERO, absolute, less, maximum, minimum, select
from knuckle.spatial import repeated
from knuckle.spatial.linear.sparse_rows import common, inner

from .cone_problem import ConeProblem, ImpulseBlock, residual
from .friction_discs import Scalars, Velocity
from .impulse_newton import newton

RIGID, ANEW = 4, 24
"""Rounds before there is compliance, and before they begin anew."""
CONVERGES = 0.1
"""The part of the residual that a round leaves while Newton's method converges: such rounds do not count."""
ROUNDED = 10.0
"""A residual of so many times what is enough is left to rounding, where rounds do not converge any more."""
MANY_SWEEPS, TRIES = 4, 8
"""Sweeps before there is more compliance; rounds in which the compliant problem is solved, or there is more of it."""
SOFTEST, SOFT = 0.1, 1e-3
"""The largest compliance, and the first one: the part of a contact's own response."""
HASTY, HARDER, SOFTER = 1e-3, 0.1, 3.0
"""The factors of a compliance where the problem is solved, at first and after `LATE` rounds, and where it is not."""
NEARLY_RIGID, SETTLED = 1e-9, 5.0
"""The compliance below which there is none; a problem is solved with a residual of so many times what it leaves."""
LATE, STILL, SAME = 20, 0.01, 1e-6
"""Rounds after which up to `ENOUGH` is enough, and the part of the residual that a round changes where it is, too: with
compliance, and before, where rounds that go in a circle leave nearly the same."""
PATIENCE, ENOUGH = 3, 1e-7
"""How many more times the rounds are tried where more than so much is left, in m/s."""
CLOSE, VERY_CLOSE, COLD = 0.01, 1e-6, 0.01
"""Residuals, in parts of the largest velocity, below which Newton's method needs no sweep, as long as it converges and
at all; the part of the tolerance that holds without a guess: what is found is the guess of many steps."""
UNKNOWN = 1e300
"""The residual of impulses that are a guess."""

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
    n = len(start)

    def zero(asked: Any, _: Any) -> tuple[Any, Any]:
        return 0.0 * asked, residual(problem, [ZERO] * n)

    def round_(_: Any, count: Any, tries: Any, softness: Any, left: Any, *x: Any) -> tuple[Any, ...]:
        is_rigid, softens = less(count, RIGID - 0.5), less(absolute(count - RIGID), 0.5)
        begins_anew = less(absolute(count - ANEW), 0.5)
        impulses = [select(begins_anew, 0.0, y) for y in x[n:]]
        without = repeated(zero, (select(begins_anew, 1.0, 0.0), UNKNOWN), 1)[1]
        forgets = less(without, left)  # a guess that is worse than none
        best, left = [select(forgets, 0.0, y) for y in x[:n]], select(forgets, without, left)
        tries = select(is_rigid, 0.0, select(softens, -1.0, tries))
        softness = select(softens, SOFT, softness)
        is_late = less(min(LATE, rounds) - 1.5, count)
        harder = select(is_late, HARDER, HASTY)
        is_sure = less(left, select(less(count, 0.5), CLOSE, VERY_CLOSE) * problem.largest)
        once = select(is_sure, 0.0, select(less(left, UNKNOWN / 2), 1.0, 0.0))  # the guess is trusted
        many = select(less(tries, -0.5), float(MANY_SWEEPS), 0.0)
        sweeps = select(less(count, RIGID + 0.5), once, many)
        tries, softness, now, *both = _round(problem, sweeps, tries, softness, harder, left, best, impulses)
        converges = less(now, CONVERGES * left)  # as long as it does, nothing else is tried
        ends = select(converges, enough, ROUNDED * enough)
        still = select(is_rigid, SAME, STILL) * left
        is_still = less(absolute(now - left), still)  # two corners with gaps of their own cannot both stand
        now = minimum(now, left)
        goes_on = now - select(is_late, maximum(ends, ENOUGH), select(is_still, maximum(ends, ENOUGH), ends))
        count = count + select(converges, select(is_rigid, 0.0, 1.0), 1.0)
        return goes_on, count, tries, softness, now, *both

    begin = (is_open, 0.0, 0.0, 0.0, UNKNOWN * is_open, *start, *start)
    state = repeated(round_, begin, (1 + PATIENCE) * rounds)
    return list(state[5 : 5 + n]), state[4]


def _round(
    problem: ConeProblem, sweeps: Any, tries: Any, softness: Any, harder: Any, left: Any, best: Scalars, x: Scalars
) -> tuple[Any, ...]:
    """Sweeps and a step of Newton's method. `tries` counts those with this compliance; `harder` makes it less.

    Where there is more of it than before, `tries` is −1, and the best impulses are where it begins.
    """
    impulses = [select(less(tries, -0.5), a, b) for a, b in zip(best, x, strict=True)]
    _, *impulses = repeated(lambda n, *x: (n - 1, *_sweep(problem, list(x))), (sweeps, *impulses), MANY_SWEEPS)
    impulses = newton(problem, impulses, softness)
    is_found = less(sum((absolute(x) for x in impulses), ZERO), UNKNOWN)  # not where equations are singular
    impulses = [select(is_found, a, b) for a, b in zip(impulses, best, strict=True)]
    allowed = problem.projected(impulses)
    now = residual(problem, allowed)
    is_better = less(now, left)
    best = [select(is_better, a, b) for a, b in zip(allowed, best, strict=True)]
    is_settled = less(now, SETTLED * softness * problem.own_velocity(allowed))
    is_stuck = less(TRIES - 1.5, tries)
    less_of_it = select(less(harder * softness, NEARLY_RIGID), 0.0, harder * softness)
    softer = minimum(SOFTER * maximum(softness, NEARLY_RIGID), SOFTEST)
    softness = select(is_settled, less_of_it, select(is_stuck, softer, softness))
    tries = select(is_settled, 0.0, select(is_stuck, -1.0, tries + 1))
    return tries, softness, now, *best, *impulses


def _sweep(problem: ConeProblem, impulses: Scalars) -> Scalars:
    """Block by block: the impulse that stops the approach, and friction in its cone."""
    forces = problem.forces(impulses)
    for group in problem.groups:
        axes = sorted({k for block in group for i in block.rows for k in problem.J[i]})
        motion = {k: problem.motion(forces, k) for k in axes}
        for block in group:
            before = [impulses[i] for i in block.rows]
            start = [problem.b[i] + inner(problem.J[i], motion) for i in block.rows]
            block.law.swept(impulses, block.rows.start, block.steps, _velocity(block, start, before))
            pushed: dict[int, Any] = dict.fromkeys(axes, ZERO)
            for i, x in zip(block.rows, before, strict=True):
                for k, part in problem.J[i].items():
                    pushed[k] = pushed[k] + part * (impulses[i] - x)
            forces = [f + pushed.get(k, ZERO) for k, f in enumerate(forces)]
            motion = {k: x + common(pushed, problem.G[k]) for k, x in motion.items()}
    return impulses


def _velocity(block: ImpulseBlock, start: Scalars, before: Scalars) -> Velocity:
    """The velocity of a row of a block whose impulses have changed since the start."""

    def of(i: int, impulses: Scalars) -> Any:
        changes = (impulses[k] - x if impulses[k] is not x else ZERO for k, x in zip(block.rows, before, strict=True))
        row = i - block.rows.start
        return start[row] + sum((a * d for a, d in zip(block.steps.own[row], changes, strict=True)), ZERO)

    return of
