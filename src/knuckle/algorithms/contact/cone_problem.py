"""Impulses under Coulomb's law, all at once: u = A λ + b with every (λ, u) in its friction cone or between its bounds.

A contact with friction has three rows, the normal and two across it: 0 ≤ λ_n ⊥ u_n ≥ 0, |λ_t| ≤ μ λ_n, and where it
slides λ_t = −μ λ_n u_t/|u_t|. The cone is round, and nothing lifts what slides (the law of Signorini and Coulomb
itself, not its convex relaxation). Moments against turning and rolling are further rows of the same kind. Everything
else is a row between bounds, λ = Π(λ − ρ u): a contact without friction (0, ∞), dry friction at a joint (−f dt, f dt),
a joint at its limit. The residual, |λ − Π(λ − ρ u)|/ρ, is a velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.scalar import ZERO, absolute, maximum

from .friction_discs import NO_RESPONSE, ResponseSteps, Scalars
from .impulse_laws import Bounds, Cone

WARNED = 1e-6
"""The residual, in m/s or rad/s, beyond which contacts count as not solved."""


@dataclass(frozen=True)
class ImpulseBlock:
    """The rows of one contact or bound, and what solvers multiply with."""

    rows: range
    law: Cone | Bounds
    steps: ResponseSteps


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

    def projected(self, impulses: Sequence[Any]) -> Scalars:
        """The nearest impulses in the cones and between the bounds."""
        return [x for block in self.blocks for x in block.law.projected([impulses[i] for i in block.rows])]

    def own_velocity(self, impulses: Scalars) -> Any:
        """The largest velocity that impulses give to their own rows."""
        worst: Any = ZERO
        for block in self.blocks:
            for i, response in zip(block.rows, block.steps.response, strict=True):
                worst = maximum(worst, response * absolute(impulses[i]))
        return worst

    def trial(self, block: ImpulseBlock, impulses: Scalars) -> Scalars:
        """λ − ρ u of a contact."""
        pairs = zip(block.rows, block.steps.rho, strict=True)
        return [impulses[i] - rho * self.velocity(i, impulses) for i, rho in pairs]


def residual(problem: ConeProblem, impulses: Scalars) -> Any:
    """The largest entry of (λ − Π(λ − ρ u))/ρ."""
    worst: Any = ZERO
    for block in problem.blocks:
        near = block.law.projected(problem.trial(block, impulses))
        for i, x, response in zip(block.rows, near, block.steps.response, strict=True):
            worst = maximum(worst, absolute(impulses[i] - x) * response)
    return worst
