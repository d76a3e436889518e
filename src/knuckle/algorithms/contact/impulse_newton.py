"""A step of Newton's method on the equations of Alart and Curnier: λ − F'⁻¹ F with F = λ − Π(λ − ρ u).

F' = 1 − Π' + Π' ρ A. Rows that are axes are the unknowns. Where there are fewer axes than rows, the motion along these
is: with C = 1 − (1 − s) Π' of each contact, K = C⁻¹ Π' ρ and A = J G Jᵀ, F' x = F is x = C⁻¹ F − K J w with
(G⁻¹ + JᵀK J) w = JᵀC⁻¹ F. s is a slight compliance that chooses among impulses that do the same; what it leaves is
solved for again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Vector
from knuckle.spatial.linear.elimination import MANY, eliminated, product_count
from knuckle.spatial.linear.response import LoopedResponse

from .cone_problem import ConeProblem, ImpulseBlock
from .friction_discs import Scalars

LOOPED = 1000
"""Products from which on the equations are solved by loops."""


class Slight(NamedTuple):
    """The compliance s, and how often what it leaves is solved for again."""

    part: float
    again: int


ROWS, AXES = Slight(1e-7, 1), Slight(1e-6, 1)
"""Where rows are the unknowns, and where axes are: there a smaller one would be lost in rounding."""


class Linearized(NamedTuple):
    """A contact at a trial: the slope Π' and F."""

    block: ImpulseBlock
    slope: Matrix
    left: Vector


Solve = Callable[[Sequence[Vector]], list[Vector]]
"""From F of every contact to F'⁻¹ F."""


def newton(
    problem: ConeProblem, impulses: Scalars, softness: Any = ZERO, slopes_of: ConeProblem | None = None
) -> Scalars:
    """Impulses after a step. With compliance ε, ρ u is ρ (A λ + b) + ε λ.

    F' may be that of another problem with the same numbers, which stays where this one changes.
    """
    at, own = slopes_of or problem, _all_linearized(problem, impulses, softness)
    contacts = own if slopes_of is None else _all_linearized(at, impulses, softness)
    slight, solver = (ROWS, by_rows) if problem.inertia is None else (AXES, by_axes)
    solve = solver(at, contacts, 1 - slight.part - softness)
    change = last = solve([contact.left for contact in own])
    for _ in range(slight.again):
        last = solve([slight.part * (contact.slope @ x) for contact, x in zip(contacts, last, strict=True)])
        change = [x + y for x, y in zip(change, last, strict=True)]
    return [x - d for x, d in zip(impulses, (d for own in change for d in own), strict=True)]


def _all_linearized(problem: ConeProblem, impulses: Scalars, softness: Any) -> list[Linearized]:
    velocities = problem.velocities(impulses)
    return [_linearized(problem, block, impulses, velocities, softness) for block in problem.blocks]


def _linearized(
    problem: ConeProblem, block: ImpulseBlock, impulses: Scalars, velocities: Scalars, softness: Any
) -> Linearized:
    own = [impulses[i] for i in block.rows]
    trial = [x - softness * y for x, y in zip(problem.trial(block, impulses, velocities), own, strict=True)]
    return Linearized(block, Matrix(block.law.slope(trial)), Vector(own) - Vector(block.law.projected(trial)))


def by_rows(problem: ConeProblem, contacts: Sequence[Linearized], rigid: Any) -> Solve:
    """F' with the rows as unknowns, which are axes."""
    n, looped = len(problem.b), problem.looped
    if looped is not None:
        return _by_loops(looped, contacts, rigid)
    lines: list[Scalars] = []
    for block, slope, _ in contacts:
        for i, line in zip(block.rows, slope.rows, strict=True):
            row: Scalars = [ZERO] * n
            row[i] = ONE
            for m, g, rho in zip(block.rows, line, block.steps.rho, strict=True):
                if g is not ZERO:
                    row[m] = row[m] - rigid * g
                    for k, a in problem.G[m].items():
                        row[k] = row[k] + rho * g * a
            lines.append(row)
    factors = _factors(Matrix(lines, n))

    def solve(left: Sequence[Vector]) -> list[Vector]:
        x = factors.solve(Vector(x for own in left for x in own))
        return [x[block.rows.start : block.rows.stop] for block, _, _ in contacts]

    return solve


def _by_loops(looped: LoopedResponse, contacts: Sequence[Linearized], rigid: Any) -> Solve:
    """The same, with loops over the contacts that are not open."""
    E = [Matrix.identity(len(block.rows)) - rigid * slope for block, slope, _ in contacts]
    P = [slope @ Matrix.diagonal(block.steps.rho) for block, slope, _ in contacts]
    diagonal, responding = ([x for block in blocks for row in block.rows for x in row] for blocks in (E, P))
    found = looped.eliminated(diagonal, responding, [x for contact in contacts for x in contact.left])

    def solve(left: Sequence[Vector]) -> list[Vector]:
        x = Vector(found([x for own in left for x in own]))
        return [x[block.rows.start : block.rows.stop] for block, _, _ in contacts]

    return solve


def by_axes(problem: ConeProblem, contacts: Sequence[Linearized], rigid: Any) -> Solve:
    """F' with the motion along axes as unknowns."""
    assert problem.inertia is not None
    M = [list(row) for row in problem.inertia.rows]
    own, K = list[Any](), list[Matrix]()
    for block, slope, _ in contacts:
        own.append(eliminated(Matrix.identity(len(block.rows)) - rigid * slope, len(block.rows) + 1))
        pushed = slope @ Matrix.diagonal(block.steps.rho)
        K.append(Matrix.columns((own[-1].solve(pushed.column(k)) for k in range(pushed.ncols)), pushed.nrows))
        parts = [problem.J[i] for i in block.rows]
        for i, row in zip(parts, K[-1].rows, strict=True):
            along: dict[int, Any] = {}
            for k, line in zip(parts, row, strict=True):
                for m, part in k.items():
                    along[m] = along.get(m, ZERO) + line * part
            for k, part in i.items():
                for m, x in along.items():
                    M[k][m] = M[k][m] + part * x
    factors = _factors(Matrix(M))

    def solve(left: Sequence[Vector]) -> list[Vector]:
        start = [f.solve(x) for f, x in zip(own, left, strict=True)]
        w = factors.solve(Vector(problem.forces([x for r in start for x in r])))
        rates = [Vector(sum((p * w[k] for k, p in problem.J[i].items()), ZERO) for i in c.block.rows) for c in contacts]
        return [r - k @ u for r, k, u in zip(start, K, rates, strict=True)]

    return solve


def _factors(A: Matrix) -> Any:
    return eliminated(A, MANY if product_count(A) > LOOPED else A.nrows + 1)
