"""Sweeps of Gauss and Seidel over contacts, and what is left of their laws."""

from __future__ import annotations

from math import sqrt

from knuckle.engine.routines import Reals, routine

from .contact_table import (
    ACROSS,
    BOUNDS,
    COMPLIANCE,
    DISC,
    LAW,
    LOWER,
    NORMAL,
    REAL,
    ROW,
    SIZE,
    UPPER,
    WHOLE,
    Cones,
    projected,
    push,
    rate,
)


@routine
def trial(p: Cones, c: int, x: Reals) -> None:
    """λ − ρ u of a contact."""
    w, s, Y, z, b, impulses, weight = p.whole[WHOLE * c :], p.real[REAL * c :], p.Y, p.z, p.b, p.impulses, p.weight
    n = w[ROW]
    for k in range(w[SIZE]):
        u = b[n + k] + rate(w, Y, z, k)
        if k == 0:
            u += s[COMPLIANCE] * impulses[n]
        a = weight[n + k]
        x[k] = impulses[n + k] - u / a if a > 0.0 else impulses[n + k]


@routine
def residual(p: Cones, count: int) -> float:
    """The largest entry of (λ − Π(λ − ρ u))/ρ."""
    impulses, weight, x = p.impulses, p.weight, p.x
    worst = 0.0
    for c in range(count):
        w = p.whole[WHOLE * c :]
        trial(p, c, x)
        projected(p, c, x, x)
        for k in range(w[SIZE]):
            left = abs(impulses[w[ROW] + k] - x[k]) * weight[w[ROW] + k]
            if left > worst or left != left:
                worst = left
    return worst


@routine
def sweep(p: Cones, count: int) -> None:
    """Contact by contact: the impulse that stops the approach, and friction in its cone."""
    whole, real, disc, Y, b, impulses, z, x = p.whole, p.real, p.disc, p.Y, p.b, p.impulses, p.z, p.x
    for c in range(count):
        w, s = whole[WHOLE * c :], real[REAL * c :]
        n = w[ROW]
        old = impulses[n]
        u = b[n] + rate(w, Y, z, 0) + s[COMPLIANCE] * old
        new = old - s[NORMAL] * u
        new = max(s[LOWER], min(s[UPPER], new)) if w[LAW] == BOUNDS else max(0.0, new)
        if new != old:
            impulses[n] = new
            push(w, Y, z, 0, new - old)
        if w[LAW] == BOUNDS:
            continue
        for d in range(p.discs):
            first, size = disc[DISC * d], disc[DISC * d + 1]
            radius = s[disc[DISC * d + 2]] * new
            squared = 0.0
            for k in range(first, first + size):
                x[k] = impulses[n + k] - s[ACROSS + d] * (b[n + k] + rate(w, Y, z, k))
                squared += x[k] * x[k]
            factor = 1.0
            if squared > radius * radius:
                factor = radius / sqrt(squared)
            for k in range(first, first + size):
                y = factor * x[k]
                if y != impulses[n + k]:
                    push(w, Y, z, k, y - impulses[n + k])
                    impulses[n + k] = y
