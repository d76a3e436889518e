"""Contacts in memory: which rows they have, what moves with them, and what their impulses may be.

A problem is of contacts that act on parts of a mechanism. The velocity is z, in variables in which inertia is one; a
row y of a contact has the entries of its first and of its second part, one after the other, u = b + yᵀz, and an impulse
λ along it changes z by y λ. So responses are A = Y Yᵀ, and no matrix of all of them is needed.

`whole` has for each contact `WHOLE` whole numbers, `real` has `REAL` numbers; the columns are named here. The rows of
contacts follow each other. All contacts with a cone have the same discs: `disc` has for each of them its first row, how
many rows it has, and the column of its coefficient.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from knuckle.engine.routines import Reals, Record, Wholes, routine

WHOLE = 8
ROW, SIZE, LAW, FIRST, FIRST_SIZE, SECOND, SECOND_SIZE, ENTRIES = 0, 1, 2, 3, 4, 5, 6, 7
"""Its first row and how many; its law; where its parts are in z and how large; where its entries begin."""
CONE, BOUNDS = 0, 1
"""A normal that pushes with discs across it, or one row between bounds."""
REAL = 12
SLIDING, TURNING, ROLLING, LOWER, UPPER, COMPLIANCE, NORMAL, ACROSS, REBOUND = 0, 1, 2, 3, 4, 5, 6, 7, 10
"""Coefficients of the discs, bounds, what a unit of normal impulse gives way; one over the response of the normal, and
over that of the stiffest way in each disc; what restitution adds to the normal velocity."""
DISC = 3
MOST_ROWS = 6
NO_RESPONSE = 1e-13
"""The part of the largest response to a unit impulse up to which a response is rounding."""


@dataclass(frozen=True)
class Cones(Record):
    """A problem in memory, and room to solve it."""

    whole: Wholes
    real: Reals
    discs: int
    disc: Wholes
    Y: Reals
    """entries of rows, contact by contact"""
    b: Reals
    """velocities of rows without impulses"""
    free: Reals
    """those that impulses work against"""
    apart: Reals
    """for each contact, the velocity that takes back a part of an overlap"""
    weight: Reals
    """for each row the response of its unit, 1/ρ"""
    impulses: Reals
    best: Reals
    calm: Reals
    """where sweeps go on, also those that find nothing better for a while"""
    other: Reals
    pushes: Reals
    n: int
    """how many velocities there are"""
    z: Reals
    change: Reals
    first: Wholes
    last: Wholes
    at: Wholes
    M: Reals
    K: Reals
    x: Reals
    """for one contact"""
    rounds: int
    tolerance: float


@routine
def copied(n: int, x: Reals, y: Reals) -> None:
    """y = x."""
    for i in range(n):
        y[i] = x[i]


@routine
def rate(w: Wholes, Y: Reals, z: Reals, k: int) -> float:
    """yᵀz of the k-th row of a contact."""
    n, m = w[FIRST_SIZE], w[SECOND_SIZE]
    y = Y[w[ENTRIES] + k * (n + m) :]
    x = z[w[FIRST] :]
    u = 0.0
    for i in range(n):
        u += y[i] * x[i]
    y = y[n:]
    x = z[w[SECOND] :]
    for i in range(m):
        u += y[i] * x[i]
    return u


@routine
def push(w: Wholes, Y: Reals, z: Reals, k: int, impulse: float) -> None:
    """z + y λ of the k-th row of a contact."""
    n, m = w[FIRST_SIZE], w[SECOND_SIZE]
    y = Y[w[ENTRIES] + k * (n + m) :]
    x = z[w[FIRST] :]
    for i in range(n):
        x[i] += y[i] * impulse
    y = y[n:]
    x = z[w[SECOND] :]
    for i in range(m):
        x[i] += y[i] * impulse


@routine
def response(w: Wholes, Y: Reals, j: int, k: int) -> float:
    """A of two rows of one contact."""
    n = w[FIRST_SIZE] + w[SECOND_SIZE]
    x, y = Y[w[ENTRIES] + j * n :], Y[w[ENTRIES] + k * n :]
    a = 0.0
    for i in range(n):
        a += x[i] * y[i]
    return a


@routine
def projected(p: Cones, c: int, trial: Reals, x: Reals) -> None:
    """Π of one contact: the nearest impulses that its law allows."""
    w, s, disc = p.whole[WHOLE * c :], p.real[REAL * c :], p.disc
    if w[LAW] == BOUNDS:
        x[0] = max(s[LOWER], min(s[UPPER], trial[0]))
        return
    x[0] = max(0.0, trial[0])
    for d in range(p.discs):
        first, size = disc[DISC * d], disc[DISC * d + 1]
        radius = s[disc[DISC * d + 2]] * x[0]
        squared = 0.0
        for k in range(first, first + size):
            squared += trial[k] * trial[k]
        factor = 1.0
        if squared > radius * radius:
            factor = radius / sqrt(squared)
        for k in range(first, first + size):
            x[k] = factor * trial[k]


@routine
def all_projected(p: Cones, count: int) -> None:
    """Π of the impulses of all contacts."""
    for c in range(count):
        x = p.impulses[p.whole[WHOLE * c + ROW] :]
        projected(p, c, x, x)


@routine
def together(p: Cones, count: int, impulses: Reals) -> None:
    """z = Yᵀ λ."""
    Y, z = p.Y, p.z
    for i in range(p.n):
        z[i] = 0.0
    for c in range(count):
        w = p.whole[WHOLE * c :]
        for k in range(w[SIZE]):
            push(w, Y, z, k, impulses[w[ROW] + k])


@routine
def inverse_response(a: float, least: float) -> float:
    """One over a response; zero where it is rounding: what does not move is not pushed."""
    return 1.0 / a if a > least else 0.0


@routine
def steps(p: Cones, count: int) -> None:
    """One over the responses of contacts; `weight` has for each row that of all rows of its unit together."""
    whole, real, disc, Y, weight = p.whole, p.real, p.disc, p.Y, p.weight
    most = 0.0
    for c in range(count):
        w, s = whole[WHOLE * c :], real[REAL * c :]
        for k in range(w[SIZE]):
            own = response(w, Y, k, k)
            if k == 0:
                own += s[COMPLIANCE]
            weight[w[ROW] + k] = own
            most = max(most, own)
    least = NO_RESPONSE * most
    for c in range(count):
        w, s = whole[WHOLE * c :], real[REAL * c :]
        a = weight[w[ROW] :]
        s[NORMAL] = inverse_response(a[0], least)
        if w[LAW] == CONE:
            for d in range(p.discs):
                first, size = disc[DISC * d], disc[DISC * d + 1]
                if size == 1:
                    s[ACROSS + d] = inverse_response(a[first], least)
                else:
                    mean, half = (a[first] + a[first + 1]) / 2.0, (a[first] - a[first + 1]) / 2.0
                    mixed = response(w, Y, first, first + 1)
                    s[ACROSS + d] = inverse_response(mean + sqrt(half * half + mixed * mixed), least)
            for d in range(p.discs):
                first, size = disc[DISC * d], disc[DISC * d + 1]
                total = a[first]
                if size == 2:
                    total += a[first + 1]
                if disc[DISC * d + 2] == SLIDING:
                    total += a[0]
                    a[0] = total
                for k in range(first, first + size):
                    a[k] = total
