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

from knuckle.scalar import ONE, ZERO, absolute, maximum
from knuckle.spatial import Matrix
from knuckle.spatial.linear.response import BLOCK, LoopedResponse
from knuckle.spatial.linear.semidefinite import semidefinite_inverse
from knuckle.spatial.linear.sparse_rows import SparseRow, between, inner, transposed_times

from .friction_discs import NO_RESPONSE, ResponseSteps, Scalars
from .impulse_laws import Bounds, Cone

WARNED = 1e-6
"""The residual, in m/s or rad/s, beyond which contacts count as not solved."""


LOOPED = 12
"""Rows from which on code has loops for them."""


@dataclass(frozen=True)
class ImpulseBlock:
    """The rows of one contact or bound, and what solvers multiply with."""

    rows: range
    law: Cone | Bounds
    steps: ResponseSteps


@dataclass(frozen=True)
class ConeProblem:
    """A = J G Jᵀ (n, n), b (n) and the blocks of its contacts.

    G is the response along axes, and J the parts of rows along them. Where each row is an axis of its own, G is A.
    `groups` are blocks that act along the same axes. `inertia` is G⁻¹, where there are fewer axes than rows. `looped`
    is G in loops, where all rows are axes of contacts with friction, and many.
    """

    G: Sequence[SparseRow]
    J: Sequence[SparseRow]
    b: Sequence[Any]
    blocks: tuple[ImpulseBlock, ...]
    groups: tuple[tuple[ImpulseBlock, ...], ...]
    inertia: Matrix | None = None
    looped: LoopedResponse | None = None

    @classmethod
    def of(cls, A: Sequence[Sequence[Any]], b: Sequence[Any], laws: Sequence[Cone | Bounds]) -> ConeProblem:
        """The problem, for the law of each contact in order."""
        return cls.along(A, [{i: ONE} for i in range(len(A))], b, laws)

    @classmethod
    def along(
        cls, G: Sequence[Sequence[Any]], J: Sequence[SparseRow], b: Sequence[Any], laws: Sequence[Cone | Bounds]
    ) -> ConeProblem:
        """The problem by the response along axes, and the parts of rows along them."""
        response, most, n = [{k: g for k, g in enumerate(row) if g is not ZERO} for row in G], ZERO, 0
        parts, groups = list[tuple[range, Cone | Bounds, list[list[Any]]]](), dict[int, list[ImpulseBlock]]()
        for law in laws:
            rows = range(n, n := n + law.rows)
            parts.append((rows, law, [[between(J[i], response, J[k]) for k in rows] for i in rows]))
            for k in range(law.rows):
                most = maximum(most, parts[-1][2][k][k])
        blocks = [ImpulseBlock(rows, law, law.steps(own, NO_RESPONSE * most)) for rows, law, own in parts]
        for block in blocks:
            groups.setdefault(min(J[block.rows.start]), []).append(block)
        inertia = semidefinite_inverse(G) if len(G) < len(J) else None
        is_square = inertia is None and all(law.rows == BLOCK for law in laws)
        looped = LoopedResponse.of(response) if is_square and len(G) >= LOOPED else None
        response = response if looped is None else looped.rows
        return cls(response, J, b, tuple(blocks), tuple(map(tuple, groups.values())), inertia, looped)

    def forces(self, impulses: Scalars) -> Scalars:
        """Jᵀλ: what impulses are along axes."""
        return transposed_times(self.J, impulses, len(self.G))

    def motion(self, forces: Scalars, k: int) -> Any:
        """G f of an axis. What a sweep has changed last is added last: code need not wait for it."""
        later, earlier = ([m for m in self.G[k] if is_later == (m > k)] for is_later in (True, False))
        return sum((self.G[k][m] * forces[m] for m in (*later, *earlier)), ZERO)

    def velocities(self, impulses: Scalars) -> Scalars:
        """u of all rows."""
        forces = self.forces(impulses)
        looped = self.looped if any(f is not ZERO for f in forces) else None
        motion = looped.times(forces) if looped else [self.motion(forces, k) for k in range(len(forces))]
        return [b + inner(row, motion) for b, row in zip(self.b, self.J, strict=True)]

    def work(self, impulses: Scalars) -> Any:
        """λᵀ A λ."""
        forces = self.forces(impulses)
        return sum((f * self.motion(forces, k) for k, f in enumerate(forces)), ZERO)

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

    def trial(self, block: ImpulseBlock, impulses: Scalars, velocities: Scalars) -> Scalars:
        """λ − ρ u of a contact."""
        return [impulses[i] - rho * velocities[i] for i, rho in zip(block.rows, block.steps.rho, strict=True)]


def residual(problem: ConeProblem, impulses: Scalars) -> Any:
    """The largest entry of (λ − Π(λ − ρ u))/ρ."""
    worst, velocities = ZERO, problem.velocities(impulses)
    for block in problem.blocks:
        near = block.law.projected(problem.trial(block, impulses, velocities))
        for i, x, response in zip(block.rows, near, block.steps.response, strict=True):
            worst = maximum(worst, absolute(impulses[i] - x) * response)
    return worst
