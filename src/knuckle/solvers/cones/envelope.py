"""Equations of a matrix with an envelope: rows that begin where their first entry is, eliminated in place."""

from __future__ import annotations

from knuckle.engine.routines import Reals, Wholes, routine

from .contact_table import FIRST, FIRST_SIZE, SECOND, SECOND_SIZE, WHOLE, Cones


@routine
def envelope(p: Cones, count: int) -> int:
    """The first and last column of each row of Yᵀ K Y, and where its entry of column 0 would be; how many there are."""
    whole, n, first, last, at = p.whole, p.n, p.first, p.last, p.at
    for i in range(n):
        first[i] = i
        last[i] = i
    for c in range(count):
        w = whole[WHOLE * c :]
        low = w[FIRST]
        if w[SECOND_SIZE] > 0:
            low = min(low, w[SECOND])
        for i in range(w[FIRST], w[FIRST] + w[FIRST_SIZE]):
            first[i] = min(first[i], low)
        for i in range(w[SECOND], w[SECOND] + w[SECOND_SIZE]):
            first[i] = min(first[i], low)
    for i in range(n):
        for k in range(first[i], i):
            last[k] = i
    size = 0
    for i in range(n):
        at[i] = size - first[i]
        size += last[i] - first[i] + 1
    return size


@routine
def eliminate(n: int, first: Wholes, last: Wholes, at: Wholes, M: Reals) -> None:
    """M = L U in place, without pivots."""
    for i in range(n):
        row = M[at[i] :]
        for k in range(first[i], i):
            if row[k] != 0.0:
                other = M[at[k] :]
                f = row[k] / other[k]
                row[k] = f
                for j in range(k + 1, last[k] + 1):
                    row[j] -= f * other[j]


@routine
def substitute(n: int, first: Wholes, last: Wholes, at: Wholes, M: Reals, x: Reals) -> None:
    """x = (L U)⁻¹ x."""
    for i in range(n):
        row = M[at[i] :]
        total = x[i]
        for k in range(first[i], i):
            total -= row[k] * x[k]
        x[i] = total
    for back in range(n):
        i = n - 1 - back
        row = M[at[i] :]
        total = x[i]
        for k in range(i + 1, last[i] + 1):
            total -= row[k] * x[k]
        x[i] = total / row[i]
