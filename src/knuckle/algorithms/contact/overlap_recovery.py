"""Overlaps taken back: a motion apart that leaves no velocity behind, and so no energy of motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from knuckle.scalar import ZERO, maximum
from knuckle.spatial import repeated

from .friction_discs import NO_RESPONSE, inverse_response

SWEEPS = 50
"""Sweeps of Gauss and Seidel at most."""
NEAR = 0.05
"""The part of the velocity apart that need not be there: each step takes back a part of an overlap anyway."""


def recovered(A: Sequence[Sequence[Any]], apart: Sequence[Any]) -> list[Any]:
    """z ≥ 0 with A z at least `apart`, and z only where it is just that: pushes along the normals, without friction."""
    n = len(apart)
    most: Any = ZERO
    for d in apart:
        most = maximum(most, d)
    stiffest: Any = ZERO
    for i in range(n):
        stiffest = maximum(stiffest, A[i][i])
    inverse = [inverse_response(A[i][i], NO_RESPONSE * stiffest) for i in range(n)]

    def sweep(left: Any, *z: Any) -> tuple[Any, ...]:
        found = list(z)
        for i in range(n):
            found[i] = maximum(found[i] + (apart[i] - _row(A[i], found)) * inverse[i], 0.0)
        worst: Any = ZERO
        for i in range(n):
            worst = maximum(worst, apart[i] - _row(A[i], found))
        return worst - NEAR * most, *found

    return list(repeated(sweep, (most, *[0.0] * n), SWEEPS)[1:])


def _row(row: Sequence[Any], z: Sequence[Any]) -> Any:
    return sum((a * x for a, x in zip(row, z, strict=True) if a is not ZERO), ZERO)
