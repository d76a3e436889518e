"""The inertia of a tree, H = Lᵀ L: factors that are zero where H is, and what they make of forces (Tables 6.3 and 6.5).

A row of L has entries on the path from its variable to the base only; `above` is λ of variables.
"""

from __future__ import annotations

from math import sqrt

from knuckle.engine.routines import Reals, Wholes, routine

from .step_records import Mechanism, StateTerms


@routine
def factored(n: int, above: Wholes, H: Reals) -> None:
    """H = Lᵀ L in place, the lower half (Table 6.3)."""
    for back in range(n):
        k = n - 1 - back
        row = H[n * k :]
        row[k] = sqrt(row[k])
        inverse = 1.0 / row[k]
        i = above[k]
        while i >= 0:
            row[i] *= inverse
            i = above[i]
        i = above[k]
        while i >= 0:
            f, other = row[i], H[n * i :]
            if f != 0.0:
                j = i
                while j >= 0:
                    other[j] -= f * row[j]
                    j = above[j]
            i = above[i]


@routine
def whitened(n: int, above: Wholes, L: Reals, x: Reals) -> None:
    """L⁻ᵀ x in place (Table 6.5)."""
    for back in range(n):
        i = n - 1 - back
        row = L[n * i :]
        x[i] = x[i] / row[i]
        f = x[i]
        if f != 0.0:
            j = above[i]
            while j >= 0:
                x[j] -= row[j] * f
                j = above[j]


@routine
def coloured(n: int, above: Wholes, L: Reals, x: Reals) -> None:
    """L⁻¹ x in place (Table 6.5)."""
    for i in range(n):
        row = L[n * i :]
        total = x[i]
        j = above[i]
        while j >= 0:
            total -= row[j] * x[j]
            j = above[j]
        x[i] = total / row[i]


@routine
def map_body(m: Mechanism, s: StateTerms, body: int) -> None:
    """What each entry of a force on a body does in its tree, L⁻ᵀ Sᵀ: six numbers for each variable on its path."""
    p = m.part[body]
    n, above, L, B = m.part_size[p], m.above[m.v_at[p] :], s.H[m.block_at[p] :], s.maps[m.map_at[body] :]
    screws = s.screws[6 * m.v_at[p] :]
    i = m.last[body]
    while i >= 0:
        own, screw = B[6 * i :], screws[6 * i :]
        for k in range(6):
            own[k] = screw[k]
        i = above[i]
    i = m.last[body]
    while i >= 0:
        own, row = B[6 * i :], L[n * i :]
        inverse = 1.0 / row[i]
        x0, x1, x2 = inverse * own[0], inverse * own[1], inverse * own[2]
        x3, x4, x5 = inverse * own[3], inverse * own[4], inverse * own[5]
        own[0] = x0
        own[1] = x1
        own[2] = x2
        own[3] = x3
        own[4] = x4
        own[5] = x5
        j = above[i]
        while j >= 0:
            f, other = row[j], B[6 * j :]
            other[0] -= f * x0
            other[1] -= f * x1
            other[2] -= f * x2
            other[3] -= f * x3
            other[4] -= f * x4
            other[5] -= f * x5
            j = above[j]
        i = above[i]
    s.is_mapped[body] = 1


@routine
def act(m: Mechanism, s: StateTerms, body: int, sign: float, f: Reals, y: Reals) -> None:
    """Adds what a force on a body does in its tree."""
    above, B = m.above[m.v_at[m.part[body]] :], s.maps[m.map_at[body] :]
    f0, f1, f2, f3, f4, f5 = sign * f[0], sign * f[1], sign * f[2], sign * f[3], sign * f[4], sign * f[5]
    i = m.last[body]
    while i >= 0:
        x = B[6 * i :]
        y[i] += x[0] * f0 + x[1] * f1 + x[2] * f2 + x[3] * f3 + x[4] * f4 + x[5] * f5
        i = above[i]
