"""Conjugate gradients for A x = b + Kᵀλ, K x = k, by products in O(n) and a preconditioner in O(n) (notes 2.13).

Rows K of closed loops are part of the preconditioner, so that every iteration keeps them (Gould, Hribar and Nocedal,
2001).
"""

from __future__ import annotations

from math import sqrt

from knuckle.engine.routines import Reals, routine

from .records import BodyTable, Closing, GradientRoom, TreeFactors, TreeState
from .tree_products import product, solve


@routine
def inner(n: int, a: Reals, b: Reals) -> float:
    """a · b."""
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@routine
def close(n: int, c: Closing, sign: float, x: Reals) -> None:
    """x += sign Z (K P⁻¹ Kᵀ)⁺ y, for y in the first half of `work`."""
    for i in range(c.rows):
        total = 0.0
        for j in range(c.rows):
            total += c.inverse[c.rows * i + j] * c.work[j]
        Z = c.Z[n * i :]
        for k in range(n):
            x[k] += sign * total * Z[k]


@routine
def respond(m: BodyTable, s: TreeState, g: TreeFactors, c: Closing, r: Reals, z: Reals) -> None:
    """z with P z = r + Kᵀλ and K z = 0; and r + Kᵀλ instead of r, so that no large forces of loops stay in it."""
    solve(m, s, g, r, z)
    for i in range(c.rows):
        c.work[i] = inner(m.nv, c.K[m.nv * i :], z)
    close(m.nv, c, -1.0, z)
    for i in range(c.rows):
        total = 0.0
        for j in range(c.rows):
            total += c.inverse[c.rows * i + j] * c.work[j]
        K = c.K[m.nv * i :]
        for k in range(m.nv):
            r[k] -= total * K[k]


@routine
def descend(
    m: BodyTable, s: TreeState, g: TreeFactors, c: Closing, d: GradientRoom, tolerance: float, most: int
) -> int:
    """x from the guess that is in it; how many iterations, or −1 − that where they were not enough.

    A residual r counts by the energy of what it moves, rᵀP⁻¹r, in parts of that of the right-hand side: no unit of a
    joint outweighs another. A direction along which A is not positive ends it.
    """
    n, x, r, z, p, y = m.nv, d.x, d.r, d.z, d.p, d.y
    for i in range(n):
        p[i] = 0.0
    for i in range(c.rows):
        c.work[i] = c.k[i]
    close(n, c, 1.0, p)
    product(m, s, p, y)
    for i in range(n):
        y[i] = s.rhs[i] - y[i]
    respond(m, s, g, c, y, z)
    whole = inner(n, y, z)
    for i in range(c.rows):
        c.work[i] = c.k[i] - inner(n, c.K[n * i :], x)
    close(n, c, 1.0, x)
    product(m, s, x, y)
    for i in range(n):
        r[i] = s.rhs[i] - y[i]
    respond(m, s, g, c, r, z)
    left = inner(n, r, z)
    if not left < whole:
        for i in range(n):
            x[i] = p[i]
        product(m, s, x, y)
        for i in range(n):
            r[i] = s.rhs[i] - y[i]
        respond(m, s, g, c, r, z)
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
        respond(m, s, g, c, r, z)
        last = left
        left = inner(n, r, z)
        gain = left / last
        for i in range(n):
            p[i] = z[i] + gain * p[i]
        count += 1
    d.left[0] = sqrt(max(left, 0.0) / whole) if whole > 0.0 else 0.0
    return count if left <= enough else -1 - count
