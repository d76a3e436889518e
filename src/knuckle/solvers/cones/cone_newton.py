"""A step of Newton's method on the equations of Alart and Curnier, in the velocities of the mechanism.

F = λ − Π(λ − ρ u) with u = b + Y z, z = Yᵀ λ. Of each contact, C Δλ + Π' ρ Y Δz = −F with C = 1 − (1 − s) Π' + Π' ρ c
for a compliance c: it is small, and so Δλ = −(r + K Y Δz), K = C⁻¹ Π' ρ, r = C⁻¹ F. What is left to solve is
(1 + Yᵀ K Y) Δz = −Yᵀ r, which has entries only where contacts join parts of the mechanism. s is a slight compliance
that chooses among impulses that do the same.
"""

from __future__ import annotations

from math import sqrt

from knuckle.engine.routines import Reals, Wholes, routine

from .cone_sweeps import trial
from .contact_table import (
    BOUNDS,
    COMPLIANCE,
    DISC,
    ENTRIES,
    FIRST,
    FIRST_SIZE,
    LAW,
    LOWER,
    MOST_ROWS,
    REAL,
    ROW,
    SECOND,
    SECOND_SIZE,
    SIZE,
    UPPER,
    WHOLE,
    Cones,
    projected,
    push,
    rate,
)
from .envelope import eliminate, substitute

ROOM = MOST_ROWS * MOST_ROWS + MOST_ROWS
"""K and r of a contact."""


@routine
def slope(p: Cones, c: int, x: Reals, G: Reals) -> None:
    """Π' of one contact, at a trial: where it pushes and sticks one, where it slides along the rim of the disc."""
    w, s, disc = p.whole[WHOLE * c :], p.real[REAL * c :], p.disc
    m = w[SIZE]
    for k in range(m * m):
        G[k] = 0.0
    if w[LAW] == BOUNDS:
        if s[LOWER] < x[0] and x[0] < s[UPPER]:
            G[0] = 1.0
        return
    pushes = 1.0 if x[0] > 0.0 else 0.0
    normal = max(0.0, x[0])
    G[0] = pushes
    for d in range(p.discs):
        first, size = disc[DISC * d], disc[DISC * d + 1]
        mu = s[disc[DISC * d + 2]]
        radius = mu * normal
        squared = 0.0
        for k in range(first, first + size):
            squared += x[k] * x[k]
        if squared > radius * radius:
            shrink = 1.0 / sqrt(squared)
            for i in range(first, first + size):
                way = x[i] * shrink
                G[m * i] = mu * pushes * way
                if size > 1:
                    for k in range(first, first + size):
                        G[m * i + k] = -radius * shrink * way * x[k] * shrink
                    G[m * i + i] += radius * shrink
        else:
            for i in range(first, first + size):
                G[m * i + i] = 1.0


@routine
def linearized(p: Cones, c: int, slight: float, x: Reals, left: Reals, G: Reals, C: Reals, K: Reals) -> None:
    """K and r of one contact at a trial x; `left` is F, and G and C are room."""
    w, s, weight = p.whole[WHOLE * c :], p.real[REAL * c :], p.weight
    m, n = w[SIZE], w[ROW]
    slope(p, c, x, G)
    for i in range(m):
        for k in range(m):
            C[m * i + k] = (slight - 1.0) * G[m * i + k]
            a = weight[n + k]
            K[m * i + k] = G[m * i + k] / a if a > 0.0 else 0.0
        C[m * i + i] += 1.0
        C[m * i] += K[m * i] * s[COMPLIANCE]
        K[m * m + i] = left[i]
    for i in range(m):
        for j in range(i + 1, m):
            f = C[m * j + i] / C[m * i + i]
            if f != 0.0:
                for k in range(i + 1, m):
                    C[m * j + k] -= f * C[m * i + k]
                for k in range(m):
                    K[m * j + k] -= f * K[m * i + k]
                K[m * m + j] -= f * K[m * m + i]
    for back in range(m):
        i = m - 1 - back
        for j in range(i + 1, m):
            f = C[m * i + j]
            if f != 0.0:
                for k in range(m):
                    K[m * i + k] -= f * K[m * j + k]
                K[m * m + i] -= f * K[m * m + j]
        for k in range(m):
            K[m * i + k] = K[m * i + k] / C[m * i + i]
        K[m * m + i] = K[m * m + i] / C[m * i + i]


@routine
def add_product(w: Wholes, Y: Reals, K: Reals, at: Wholes, M: Reals, P: Reals) -> None:
    """M + Yᵀ K Y of one contact; P is room for K Y."""
    m, n1, n2 = w[SIZE], w[FIRST_SIZE], w[SECOND_SIZE]
    n = n1 + n2
    y = Y[w[ENTRIES] :]
    for i in range(m):
        row = P[n * i :]
        for k in range(n):
            row[k] = 0.0
        for j in range(m):
            f = K[m * i + j]
            if f != 0.0:
                other = y[n * j :]
                for k in range(n):
                    row[k] += f * other[k]
    for i in range(n):
        start = at[w[FIRST] + i if i < n1 else w[SECOND] + i - n1]
        one, two = M[start + w[FIRST] :], M[start + w[SECOND] :]
        if m == 3:
            f0, f1, f2 = y[i], y[n + i], y[2 * n + i]
            x0, x1, x2 = P[0:], P[n:], P[2 * n :]
            for k in range(n1):
                one[k] += f0 * x0[k] + f1 * x1[k] + f2 * x2[k]
            x0, x1, x2 = P[n1:], P[n + n1 :], P[2 * n + n1 :]
            for k in range(n2):
                two[k] += f0 * x0[k] + f1 * x1[k] + f2 * x2[k]
        else:
            for r in range(m):
                f = y[n * r + i]
                row = P[n * r :]
                for k in range(n1):
                    one[k] += f * row[k]
                row = row[n1:]
                for k in range(n2):
                    two[k] += f * row[k]


@routine
def newton(p: Cones, count: int, slight: float) -> None:
    """Impulses after a step of Newton's method, within their laws; z is left as it was. `slight` is s."""
    whole, Y, impulses, n, change, x = p.whole, p.Y, p.impulses, p.n, p.change, p.x
    first, last, at, M = p.first, p.last, p.at, p.M
    for i in range(n):
        change[i] = 0.0
        row = M[at[i] :]
        for k in range(first[i], last[i] + 1):
            row[k] = 0.0
        row[i] = 1.0
    left, G, C, P = x[MOST_ROWS:], x[2 * MOST_ROWS :], x[8 * MOST_ROWS :], x[14 * MOST_ROWS :]
    for c in range(count):
        w, own = whole[WHOLE * c :], p.K[ROOM * c :]
        m = w[SIZE]
        trial(p, c, x)
        projected(p, c, x, left)
        for k in range(m):
            left[k] = impulses[w[ROW] + k] - left[k]
        linearized(p, c, slight, x, left, G, C, own)
        add_product(w, Y, own, at, M, P)
        for k in range(m):
            push(w, Y, change, k, -own[m * m + k])
    eliminate(n, first, last, at, M)
    substitute(n, first, last, at, M, change)
    for c in range(count):
        w, own = whole[WHOLE * c :], p.K[ROOM * c :]
        m = w[SIZE]
        mine = impulses[w[ROW] :]
        for k in range(m):
            left[k] = rate(w, Y, change, k)
        for k in range(m):
            total = own[m * m + k]
            for j in range(m):
                total += own[m * k + j] * left[j]
            mine[k] -= total
        projected(p, c, mine, mine)
