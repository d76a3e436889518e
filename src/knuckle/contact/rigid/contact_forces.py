"""Forces of contacts by what each of them does: it pushes or not, sticks or slides in a direction.

Rates are w = A f + b with three rows for each contact, along its normal and two directions across it. What stands may
stick or begin to slide: 0 ≤ f_n ⊥ w_n ≥ 0, and Coulomb's law on w_t with its round cone. What slides has the friction
−μ f_n û, whatever the rates are. At the level of accelerations this is the dynamics of contacts with friction, and
within an impact that of its impulses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.contact.cone_problem import ConeProblem
from knuckle.algorithms.contact.cone_rounds import solved
from knuckle.algorithms.contact.impulse_laws import PUSHES, Cone

Array: TypeAlias = NDArray[Any]
Mask: TypeAlias = NDArray[np.bool_]

ROUNDS, TOLERANCE = 60, 1e-12
"""Rounds of the cone problem, and what is enough, as a part of the largest rate."""
SOLVED = 1e-8
"""The residual, as a part of the largest rate, beyond which a problem is not solved."""
RANK = 1e-10
"""Singular values below this part of the largest are zero where contacts say the same."""


@dataclass(frozen=True)
class Grip:
    """What each contact does: whether it pushes, and the direction (m, 2) in which it slides, zero where it stands."""

    pushes: Mask
    way: Array

    @cached_property
    def slides(self) -> Mask:
        """Whether each contact slides."""
        return np.any(self.way != 0, axis=1)

    def rows(self, mu: Array) -> list[int]:
        """The rows that are held: normals of what pushes, and those across where it sticks."""
        held: list[int] = []
        for k in map(int, np.flatnonzero(self.pushes)):
            held += [3 * k] if self.slides[k] or mu[k] == 0 else [3 * k, 3 * k + 1, 3 * k + 2]
        return held

    def columns(self, mu: Array) -> Array:
        """(3 m, r): the force of a unit of each entry of what is found, one for each of `rows`."""
        columns: list[Array] = []
        for row in self.rows(mu):
            unit = np.zeros(3 * len(mu))
            unit[row] = 1.0
            if row % 3 == 0:
                unit[row + 1 : row + 3] = -mu[row // 3] * self.way[row // 3]
            columns.append(unit)
        return np.array(columns).reshape(len(columns), 3 * len(mu)).T

    def forces(self, A: Array, b: Array, mu: Array, start: Array | None = None) -> Array:
        """f (3 m,) with which the held rows have no rate: the least, or those nearest to a start."""
        rows = self.rows(mu)
        if not rows:
            return np.zeros(len(b))
        C = self.columns(mu)
        f = np.zeros(len(b)) if start is None else C @ start[rows]
        return f - C @ _least((A @ C)[rows], (A @ f + b)[rows])

    def is_determined(self, A: Array, mu: Array) -> bool:
        """Whether the forces are unique."""
        rows = self.rows(mu)
        if not rows:
            return True
        size = np.linalg.svd((A @ self.columns(mu))[rows], compute_uv=False)
        return bool(size[-1] > RANK * size[0])

    def excess(self, forces: Array, mu: Array) -> Array:
        """(m, 2): −f_n, and |f_t| − μ f_n where it sticks: what must not be positive."""
        f = forces.reshape(-1, 3)
        across = np.linalg.norm(f[:, 1:], axis=1) - mu * f[:, 0]
        return np.stack([-f[:, 0], np.where(self.pushes & ~self.slides & (mu > 0), across, -np.inf)], axis=1)


@dataclass(frozen=True)
class GripForces:
    """The forces (m, 3) of contacts, their rates (m, 3), what each contact does, and whether a law is left unkept."""

    forces: Array
    rates: Array
    grip: Grip
    problem: str = ""


def forces_of(A: Array, b: Array, mu: Array, way: Array, start: Array | None = None) -> GripForces:
    """The forces of contacts that stand, or slide in the directions `way` (m, 2), for the rates A f + b.

    `problem` says in words what has no solution: friction that wedges (Painlevé), or pushes that contradict each other.
    """
    m, own = len(mu), np.diag(A).reshape(-1, 3)
    least = RANK * np.abs(A).max(initial=0.0)
    mu = np.where(own[:, 1:].sum(axis=1) > least, mu, 0.0)  # what cannot slide has no friction
    slides = np.any(way != 0, axis=1) & (mu > 0)
    C, rows, laws = _reduced(mu, slides, way, own[:, 0] > least)
    if np.any(b[::3][own[:, 0] <= least] < -SOLVED * np.abs(b).max(initial=0.0)):
        return _without(b, way, "a contact closes whose bodies no force can move apart")
    if not rows:
        return GripForces(np.zeros((m, 3)), b.reshape(m, 3), Grip(np.zeros(m, bool), way))
    reduced = (A @ C)[rows]
    wedged = [row // 3 for row, x in zip(rows, np.diag(reduced), strict=True) if row % 3 == 0 and x <= least]
    if wedged:
        return _without(
            b, way, f"contact {wedged} wedges: its friction pushes it closer than its normal force lifts it"
        )
    simple = _all_together(A, b, mu, np.where(slides[:, None], way, 0.0), own[:, 0] > least)
    if simple is not None:
        return simple
    problem = ConeProblem.of(reduced.tolist(), b[rows].tolist(), laws)
    guess = [0.0] * len(rows) if start is None else _in_columns(C, start)
    found, residual = solved(problem, guess, ROUNDS, TOLERANCE)
    f = C @ np.array(found)
    if float(residual) > SOLVED * np.abs(b).max(initial=0.0):
        return _without(b, way, f"the forces of {m} contacts contradict each other: {float(residual):.3g} is left")
    return _polished(A, b, mu, way, f)


def _all_together(A: Array, b: Array, mu: Array, way: Array, yields: Mask) -> GripForces | None:
    """The forces if no contact does anything, or if all push and what stands sticks, where that is a solution."""
    nothing = np.zeros(len(b))
    if np.all(b[::3] >= 0):
        return GripForces(nothing.reshape(-1, 3), b.reshape(-1, 3), Grip(np.zeros(len(mu), bool), way))
    grip = Grip(yields, way)
    f = grip.forces(A, b, mu)
    rates = A @ f + b
    is_held = np.abs(rates[grip.rows(mu)]).max() <= 1e-13 * (np.abs(b).max() + (np.abs(A) @ np.abs(f)).max())
    if not is_held or np.max(grip.excess(f, mu)) > 0:
        return None
    return GripForces(f.reshape(-1, 3), rates.reshape(-1, 3), grip)


def _reduced(mu: Array, slides: Mask, way: Array, yields: Mask) -> tuple[Array, list[int], list[Any]]:
    """The unknowns as columns of forces, the rows of their rates, and their laws, for contacts that yield at all."""
    columns: list[Array] = []
    rows, laws = list[int](), list[Any]()
    for k, (m, s, is_soft) in enumerate(zip(mu, slides, yields, strict=True)):
        if not is_soft:
            continue
        unit = np.zeros((3, 3 * len(mu)))
        unit[range(3), range(3 * k, 3 * k + 3)] = 1.0
        if s:
            unit[0, 3 * k + 1 : 3 * k + 3] = -m * way[k]
        stands = m > 0 and not s
        columns += list(unit) if stands else [unit[0]]
        rows += range(3 * k, 3 * k + 3) if stands else [3 * k]
        laws.append(Cone(float(m)) if stands else PUSHES)
    return np.array(columns).reshape(len(columns), 3 * len(mu)).T, rows, laws


def _polished(A: Array, b: Array, mu: Array, way: Array, f: Array) -> GripForces:
    """Forces to rounding: which contacts push and stick is known, and the rest of their rates goes."""
    forces, rates = f.reshape(-1, 3), (A @ f + b).reshape(-1, 3)
    small = 1e-9 * (np.abs(b).max() + (np.abs(A) @ np.abs(f)).max())
    pushes = forces[:, 0] > 1e-11 * forces[:, 0].max(initial=0.0)
    begins = np.where((np.linalg.norm(rates[:, 1:], axis=1) > small) & pushes & (mu > 0))[0]
    ways = np.where((mu > 0)[:, None], way, 0.0)
    for k in begins:
        if not ways[k].any():
            ways[k] = rates[k, 1:] / np.linalg.norm(rates[k, 1:])
    grip = Grip(pushes, ways)
    better = f
    for _ in range(2):
        better = grip.forces(A, b, mu, better)
    if np.max(grip.excess(better, mu), initial=0.0) > small / max(np.abs(A).max(), 1e-300):
        better = f
    return GripForces(better.reshape(-1, 3), (A @ better + b).reshape(-1, 3), grip)


def _without(b: Array, way: Array, problem: str) -> GripForces:
    m = len(way)
    return GripForces(np.zeros((m, 3)), b.reshape(m, 3), Grip(np.zeros(m, bool), way), problem)


def _in_columns(C: Array, forces: Array) -> list[float]:
    """Forces as what the columns are multiplied by; the friction of what slides follows from its normal force."""
    return [float(forces[int(np.argmax(np.abs(column) == 1.0))]) for column in C.T]


def _least(G: Array, r: Array) -> Array:
    """The least x with G x = r; what contradicts is left by the least squares."""
    return np.linalg.lstsq(G, r, rcond=RANK)[0]
