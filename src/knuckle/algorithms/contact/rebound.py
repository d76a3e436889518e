"""Restitution under friction without energy out of nothing.

Newton's law, a normal velocity −e times that of the approach, can make energy where friction acts (RBDA 11.72 does).
Where it would, the impulses lie between those without restitution, which take energy, and those with it: at the point
where energy is kept. Cones are convex, and so is the rest of the law but for complementarity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from knuckle.scalar import ONE, ZERO, less, maximum, select, sqrt
from knuckle.spatial import repeated

from .cone_problem import ConeProblem
from .cone_rounds import Solver, solved
from .friction_discs import Scalars


def solved_with_rebound(
    problem: ConeProblem,
    rebound: Sequence[Any],
    free: Sequence[Any],
    start: Scalars,
    rounds: int,
    tolerance: float,
    solve: Solver = solved,
) -> tuple[Scalars, Any]:
    """Impulses and residual with b + rebound; `free` has the velocities that impulses work against.

    Where the energy λᵀ(free + A λ/2) would be above zero, the problem is solved without rebound as well.
    """
    n = len(start)

    def attempt(goes_on: Any, left: Any, share: Any, *x: Any) -> tuple[Any, ...]:
        b = [x + share * r if r is not ZERO else x for x, r in zip(problem.b, rebound, strict=True)]
        found, residual = solve(replace(problem, b=b), list(x[:n]), rounds, tolerance)
        gain = energy(problem, free, found)
        again = select(less(0.5, share), select(less(0.0, gain), 1.0, 0.0), 0.0)
        first = [select(less(0.5, share), a, b) for a, b in zip(found, x[n:], strict=True)]
        return again, maximum(left, residual), 0.0 * share, *found, *first

    _, residual, _, *x = repeated(attempt, (1.0, 0.0, 1.0, *start, *start), 2)
    last, first = x[:n], x[n:]
    part = _kept(problem, free, last, first)
    return [a + part * (b - a) for a, b in zip(last, first, strict=True)], residual


def energy(problem: ConeProblem, free: Sequence[Any], impulses: Scalars) -> Any:
    """The kinetic energy that impulses bring: λᵀ(free + A λ/2)."""
    return sum((x * u for x, u in zip(impulses, free, strict=True)), ZERO) + problem.work(impulses) / 2


def without_gain(along: Any, work: Any) -> Any:
    """The largest part s ≤ 1 with which impulses bring no energy: s² work/2 + s along ≤ 0.

    `along` is λᵀfree, and `work` λᵀA λ.
    """
    whole = along + work / 2
    gains = less(0.0, whole)
    return select(gains, maximum(0.0, -along / select(gains, whole - along, 1.0)), 1.0)


def _kept(problem: ConeProblem, free: Sequence[Any], low: Scalars, high: Scalars) -> Any:
    """The largest part s ≤ 1 with no energy at low + s (high − low), for a `low` without: a s² + 2 b s + c = 0."""
    way = [y - x for x, y in zip(low, high, strict=True)]
    c, whole = energy(problem, free, low), energy(problem, free, high)
    a = problem.work(way) / 2
    b = (whole - c - a) / 2
    root = sqrt(maximum(b * b - a * c, 0.0))
    down = b + root
    is_safe = less(1e-300, down)
    s = select(is_safe, -c / select(is_safe, down, 1.0), ONE)
    return select(less(0.0, whole), maximum(0.0, select(less(s, 1.0), s, 1.0)), 1.0)
