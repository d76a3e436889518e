"""The cone problem of many contacts on arrays of numbers: Newton's method on the equations of Alart and Curnier.

What `algorithms.contact.cone_rounds` does over scalars of any kind, for sizes at which code of it would be too long:
the same equations, residual and projections, for all contacts of one kind at once. What is found is never worse than
the guess.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.contact.cone_problem import ConeProblem
from knuckle.algorithms.contact.impulse_laws import Cone

Array = NDArray[Any]

SLIGHT = 1e-9
"""A compliance that chooses among impulses that do the same, in the slopes of Newton's method only; relative."""
LEAST = 1e-11
"""A residual, in m/s, that is always enough."""
TRIES, SWEEPS = 4, 10
"""Steps of Newton's method without success before sweeps go on, and how many these are."""


@dataclass(frozen=True)
class _Discs:
    """Rows whose impulses stay within a coefficient times a normal impulse, for discs of one dimension."""

    rows: Array
    """(discs, 1 or 2)"""
    normals: Array
    coefficients: Array


@dataclass(frozen=True)
class _Laws:
    """Which rows are normals, which are in discs, and the bounds of the others."""

    normals: Array
    discs: tuple[_Discs, ...]
    others: Array
    lower: Array
    upper: Array

    @classmethod
    def of(cls, problem: ConeProblem) -> _Laws:
        normals, others, lower, upper = list[int](), list[int](), list[float](), list[float]()
        discs: dict[int, list[tuple[list[int], int, float]]] = {1: [], 2: []}
        for block in problem.blocks:
            n = block.rows.start
            if isinstance(block.law, Cone):
                normals.append(n)
                for disc in block.law.discs:
                    discs[len(disc.rows)].append(([n + k for k in disc.rows], n, float(disc.coefficient)))
            else:
                others.append(n)
                lower.append(-np.inf if block.law.lower is None else float(block.law.lower))
                upper.append(np.inf if block.law.upper is None else float(block.law.upper))
        groups = tuple(
            _Discs(*(np.array([x[k] for x in group]) for k in range(3))) for group in discs.values() if group
        )
        return cls(np.array(normals, int), groups, np.array(others, int), np.array(lower), np.array(upper))

    def projected(self, trial: Array) -> Array:
        """Π."""
        x = trial.copy()
        x[self.normals] = np.maximum(trial[self.normals], 0.0)
        x[self.others] = np.clip(trial[self.others], self.lower, self.upper)
        for discs in self.discs:
            radius = discs.coefficients * x[discs.normals]
            length = np.linalg.norm(trial[discs.rows], axis=1)
            out = length > radius
            factor = np.where(out, radius / np.where(out, length, 1.0), 1.0)
            x[discs.rows] = factor[:, None] * trial[discs.rows]
        return x

    def slope(self, trial: Array) -> Array:
        """Π'."""
        n = len(trial)
        G = np.zeros((n, n))
        pushes = (trial > 0).astype(float)
        G[self.normals, self.normals] = pushes[self.normals]
        x = trial[self.others]
        G[self.others, self.others] = (self.lower < x) & (x < self.upper)
        for discs in self.discs:
            rows, d = discs.rows, discs.rows.shape[1]
            radius = discs.coefficients * np.maximum(trial[discs.normals], 0.0)
            length = np.linalg.norm(trial[rows], axis=1)
            out = length > radius
            safe = np.where(out, length, 1.0)
            way = trial[rows] / safe[:, None]
            along = (discs.coefficients * pushes[discs.normals])[:, None] * way
            across = (radius / safe)[:, None, None] * (np.eye(d) - way[:, :, None] * way[:, None, :])
            for i in range(d):
                G[rows[:, i], discs.normals] = np.where(out, along[:, i], 0.0)
                for k in range(d):
                    G[rows[:, i], rows[:, k]] = np.where(out, across[:, i, k], 1.0 if i == k else 0.0)
        return G


def solved_on_arrays(
    A: Array, problem: ConeProblem, start: Sequence[Any], rounds: int, tolerance: float
) -> tuple[list[Any], float]:
    """Impulses and the residual that is left, from a guess, as `cone_rounds.solved` has them; A is the problem's."""
    laws, b = _Laws.of(problem), np.array(problem.b, float)
    rho = np.array([x for block in problem.blocks for x in block.steps.rho], float)
    response = np.array([x for block in problem.blocks for x in block.steps.response], float)
    enough, one = max(tolerance * float(problem.largest), LEAST), np.eye(len(b))

    def trial(x: Array) -> Array:
        return x - rho * (A @ x + b)

    def rest(x: Array) -> float:
        return float(np.abs((x - laws.projected(trial(x))) * response).max(initial=0.0))

    best = impulses = calm = laws.projected(np.array(start, float))
    left, tries = rest(best), 0
    for _ in range(rounds):
        if tries < TRIES:
            ahead = trial(impulses)
            J = one + laws.slope(ahead) @ (rho[:, None] * A - (1 - SLIGHT) * one)
            impulses = laws.projected(impulses - _solved(J, impulses - laws.projected(ahead)))
            tries += 1
        else:
            impulses, tries = _swept(A, b, problem, calm), 0
            calm = impulses  # where sweeps go on, also those that find nothing better for a while
        now = rest(impulses)
        if now < left:
            best, calm, left, tries = impulses, impulses, now, 0
        if left <= enough:
            break
    return best.tolist(), left


def _solved(J: Array, x: Array) -> Array:
    """J⁻¹ x; nothing where J is singular, so that sweeps go on."""
    try:
        return np.linalg.solve(J, x)
    except np.linalg.LinAlgError:
        return np.zeros_like(x)


def _swept(A: Array, b: Array, problem: ConeProblem, impulses: Array) -> Array:
    """Sweeps of Gauss and Seidel over the contacts: `swept` of their laws, on arrays."""
    x = impulses.copy()
    for _ in range(SWEEPS):
        for block in problem.blocks:
            n = block.rows.start
            if isinstance(block.law, Cone):
                x[n] = max(x[n] - block.steps.normal * (A[n] @ x + b[n]), 0.0)
                for disc, step in zip(block.law.discs, block.steps.across, strict=True):
                    own = slice(n + disc.rows[0], n + disc.rows[-1] + 1)
                    x[own] = trial = x[own] - step * (A[own] @ x + b[own])
                    length, radius = math.sqrt(trial @ trial), disc.coefficient * x[n]
                    if length > radius:
                        x[own] *= radius / length
            else:
                (x[n],) = block.law.projected([x[n] - block.steps.normal * (A[n] @ x + b[n])])
    return x
