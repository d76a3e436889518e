"""Overlaps taken back: a motion apart that leaves no velocity behind, and so no energy of motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knuckle.scalar import ZERO, maximum
from knuckle.spatial import repeated
from knuckle.spatial.linear.sparse_rows import common, inner, transposed_times

from .cone_problem import ConeProblem

SWEEPS = 50
"""Sweeps of Gauss and Seidel at most."""
NEAR = 0.05
"""The part of the velocity apart that need not be there: each step takes back a part of an overlap anyway."""


def largest(apart: Mapping[int, Any]) -> Any:
    """The largest of the velocities apart."""
    most: Any = ZERO
    for d in apart.values():
        most = maximum(most, d)
    return most


def recovered(problem: ConeProblem, apart: Mapping[int, Any]) -> tuple[list[int], list[Any]]:
    """Rows, and for each of them z ≥ 0, with A z at least `apart`, and z only where it is just that.

    `apart` has a velocity for some rows, which are normals: there is no friction in it.
    """
    most, rows = largest(apart), list(apart)
    inverse = {block.rows.start: block.steps.normal for block in problem.blocks}
    axes = sorted({k for i in rows for k in problem.J[i]})

    def sweep(left: Any, *z: Any) -> tuple[Any, ...]:
        forces = transposed_times([problem.J[i] for i in rows], z, len(problem.G))
        motion, found = {k: problem.motion(forces, k) for k in axes}, list[Any]()
        for (i, d), x in zip(apart.items(), z, strict=True):
            found.append(maximum(x + (d - inner(problem.J[i], motion)) * inverse[i], 0.0))
            pushed = {k: part * (found[-1] - x) for k, part in problem.J[i].items()}
            motion = {k: u + common(pushed, problem.G[k]) for k, u in motion.items()}
        worst: Any = ZERO
        for i, d in apart.items():
            worst = maximum(worst, d - inner(problem.J[i], motion))
        return worst - NEAR * most, *found

    return rows, list(repeated(sweep, (most, *[0.0] * len(rows)), SWEEPS)[1:])
