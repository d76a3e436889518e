"""Impulses under Coulomb's law, all at once: u = A λ + b with every (λ, u) in its friction cone or between its bounds.

A contact with friction has three rows, the normal and two across it: 0 ≤ λ_n ⊥ u_n ≥ 0, |λ_t| ≤ μ λ_n, and where it
slides λ_t = −μ λ_n u_t/|u_t|. The cone is round, and nothing lifts what slides (the law of Signorini and Coulomb
itself, not its convex relaxation). Everything else is a row between bounds, λ = Π(λ − ρ u): a contact without friction
(0, ∞), dry friction at a joint (−f dt, f dt), a joint at its limit.

A round is one step of Newton's method on the equations of Alart and Curnier, λ = Π(λ − ρ u), which is kept where it
leaves less, and where that is not enough a few sweeps of Gauss and Seidel over the contacts. The
residual |λ − Π(λ − ρ u)|/ρ is a velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ONE, ZERO, absolute, less, maximum, select, sqrt
from knuckle.spatial import Matrix, Vector, repeated
from knuckle.spatial.linear.elimination import solve

from .impulse_laws import Bounds, Cone, Scalars, in_disc

SWEEPS = 4
"""Sweeps in a round."""


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
            rows = range(n, n + (3 if isinstance(law, Cone) else 1))
            rho = 1 / sum((A[i][i] for i in rows), ZERO)
            across = 1 / _stiffest(A, n + 1) if isinstance(law, Cone) else ZERO
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
    """Impulses and the residual that is left, from a guess, by at most so many rounds."""
    if not start:
        return [], ZERO
    begun = residual(problem, start) - tolerance, *start
    state = repeated(lambda *x: _round(problem, x, tolerance), begun, rounds)
    return list(state[1:]), state[0] + tolerance


def _round(problem: ConeProblem, state: Sequence[Any], tolerance: float) -> tuple[Any, ...]:
    """A step of Newton's method, which is enough where no contact changes between open, sticking and sliding."""
    left, *impulses = state
    newton = _newton(problem, impulses)
    ahead = residual(problem, newton) - tolerance
    is_better = less(ahead, left)
    impulses = [select(is_better, a, b) for a, b in zip(newton, impulses, strict=True)]
    sweeps = select(less(0.0, select(is_better, ahead, left)), float(SWEEPS), 0.0)
    _, *impulses = repeated(lambda n, *x: (n - 1, *_sweep(problem, list(x))), (sweeps, *impulses), SWEEPS)
    return (residual(problem, impulses) - tolerance, *impulses)


def _sweep(problem: ConeProblem, impulses: Scalars) -> Scalars:
    """ImpulseBlock by block: the impulse that stops the approach, and friction in its cone."""
    for block in problem.blocks:
        n, law = block.rows.start, block.law
        trial = impulses[n] - block.normal * problem.velocity(n, impulses)
        if isinstance(law, Bounds):
            (impulses[n],) = law.projected([trial])
            continue
        impulses[n] = maximum(trial, 0.0)
        across = [impulses[k] - block.across * problem.velocity(k, impulses) for k in (n + 1, n + 2)]
        impulses[n + 1 : n + 3] = in_disc(across, law.mu * impulses[n])
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
    """λ − F'⁻¹ F with F = λ − Π(λ − ρ u) and F' = 1 − Π' + Π' ρ A."""
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
            slopes.append([(ONE if i == k else ZERO) - own.get(k, ZERO) + x for k, x in enumerate(through)])
    change = solve(Matrix(slopes, n), Vector(left))
    return [x - d for x, d in zip(impulses, change, strict=True)]
