"""Conjugate gradients for A x = b, by products in O(n) and a preconditioner in O(n) (notes 2.13)."""

from __future__ import annotations

from math import sqrt

from knuckle.engine.routines import Reals, routine

from .records import Descent, Factors, Tree, TreeState
from .tree_products import product, solve


@routine
def inner(n: int, a: Reals, b: Reals) -> float:
    """a · b."""
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@routine
def descend(m: Tree, s: TreeState, g: Factors, d: Descent, tolerance: float, most: int) -> int:
    """x with A x = rhs from the guess that is in x; how many iterations, or −1 − that where they were not enough.

    A residual r counts by the energy of what it moves, rᵀP⁻¹r, in parts of that of the right-hand side: no unit of a
    joint outweighs another. A direction along which A is not positive ends it.
    """
    n, x, r, z, p, y = m.nv, d.x, d.r, d.z, d.p, d.y
    solve(m, s, g, s.rhs, z)
    whole = inner(n, s.rhs, z)
    d.left[1] = whole
    product(m, s, x, y)
    for i in range(n):
        r[i] = s.rhs[i] - y[i]
    solve(m, s, g, r, z)
    left = inner(n, r, z)
    if left >= whole:
        for i in range(n):
            x[i] = 0.0
            r[i] = s.rhs[i]
        solve(m, s, g, r, z)
        left = whole
    for i in range(n):
        p[i] = z[i]
    enough = tolerance * tolerance * whole
    count = 0
    while left > enough and count < most:
        product(m, s, p, y)
        curved = inner(n, p, y)
        if not curved > 0.0:
            break
        step = left / curved
        for i in range(n):
            x[i] += step * p[i]
            r[i] -= step * y[i]
        solve(m, s, g, r, z)
        last = left
        left = inner(n, r, z)
        gain = left / last
        for i in range(n):
            p[i] = z[i] + gain * p[i]
        count += 1
    d.left[0] = sqrt(max(left, 0.0) / whole) if whole > 0.0 else 0.0
    return count if left <= enough else -1 - count
