"""The solution of cone problems by rounds, each of them a sweep of Gauss and Seidel and a step of Newton's method.

The rounds are those of `algorithms.contact.cone_rounds`: after several that find nothing better, many sweeps go on from
the best, and contacts are compliant for a while. What is found is never worse than the guess.
"""

from __future__ import annotations

from math import sqrt

from knuckle.engine.routines import routine

from .cone_newton import newton
from .cone_sweeps import residual, sweep
from .contact_table import (
    COMPLIANCE,
    CONE,
    LAW,
    NORMAL,
    REAL,
    REBOUND,
    ROW,
    SIZE,
    WHOLE,
    Cones,
    all_projected,
    copied,
    push,
    rate,
    together,
)

TRIES, FEW_SWEEPS, MANY_SWEEPS = 4, 20, 80
"""Rounds without success before many sweeps go on from the best; how many these are at first, and then twice as many
each time, up to a limit."""
ANEW = 8
"""After so many rounds they begin anew, without a guess, and are given so many more tries."""
PATIENCE, ENOUGH = 3, 1e-7
"""How many times the rounds are tried where the residual stays above so much, in m/s; below, they end with sweeps."""
SLIGHT, MORE, MOST = 1e-9, 100.0, 1e-2
"""The compliance that chooses among impulses that do the same, relative to responses; by how much it grows where a step
of Newton's method finds nothing better, and up to what. It draws impulses to those before."""
SOFT, HARDER, SOFTENED = 1e-2, 0.6, 20
"""Where sweeps go on they are followed by so many steps with a larger compliance, which is taken back step by step."""
LEAST = 1e-16
"""A residual, in m/s, that is always enough."""
SWEPT = 0.03
"""The part of what is enough that a guess may leave after a sweep alone. A pile as a whole moves faster than its
contacts show, and what sweeps leave of that would add up from step to step."""
CONVERGES, ROUNDED = 0.1, 30.0
"""Where a round leaves more than such a part of the residual, so many times what is enough is left to rounding."""


@routine
def largest(p: Cones, count: int) -> float:
    """The largest velocity without impulses; that of pairs that part does not count."""
    b = p.b
    worst = 0.0
    for c in range(count):
        w = p.whole[WHOLE * c :]
        n = w[ROW]
        own = -b[n] if w[LAW] == CONE else abs(float(b[n]))
        worst = max(worst, float(own))
        for k in range(1, w[SIZE]):
            worst = max(worst, abs(float(b[n + k])))
    return worst


@routine
def row_count(p: Cones, count: int) -> int:
    """How many rows so many contacts have."""
    if count == 0:
        return 0
    w = p.whole[WHOLE * (count - 1) :]
    return w[ROW] + w[SIZE]


@routine
def solved(p: Cones, count: int) -> float:
    """The residual that is left; `impulses` are a guess before and what was found afterwards, and z is Yᵀ λ."""
    rows, impulses, best, calm, rounds = row_count(p, count), p.impulses, p.best, p.calm, p.rounds
    all_projected(p, count)
    together(p, count, impulses)
    copied(rows, impulses, best)
    enough = max(p.tolerance * largest(p, count), LEAST)
    sweep(p, count)
    left = residual(p, count)
    if left <= SWEPT * enough:
        return left
    newton(p, count, SLIGHT)
    together(p, count, impulses)
    left = residual(p, count)
    if left <= enough:
        return left
    copied(rows, best, impulses)
    copied(rows, best, calm)
    together(p, count, impulses)
    left = residual(p, count)
    tries = 0
    number = 0
    slight = SLIGHT
    sweeps = FEW_SWEEPS
    while number < rounds or (number < (1 + PATIENCE) * rounds and left > max(enough, ENOUGH)):
        if number == ANEW:
            tries = -ANEW
            for i in range(rows):
                impulses[i] = 0.0
            all_projected(p, count)
            together(p, count, impulses)
            now = residual(p, count)
            if now < left:
                copied(rows, impulses, best)
                copied(rows, impulses, calm)
                left = now
        number += 1
        is_stuck = tries >= TRIES
        if is_stuck:
            copied(rows, calm, impulses)
            together(p, count, impulses)
        for _ in range(sweeps if is_stuck else 1):
            sweep(p, count)
        if is_stuck:
            sweeps = min(2 * sweeps, MANY_SWEEPS)
            copied(rows, impulses, calm)
            soft = SOFT
            for _ in range(SOFTENED):
                newton(p, count, soft)
                together(p, count, impulses)
                now = residual(p, count)
                if now < left:
                    copied(rows, impulses, best)
                    copied(rows, impulses, calm)
                    left = now
                soft *= HARDER
        now = residual(p, count)
        if now > SWEPT * enough and not is_stuck:
            newton(p, count, slight)
            together(p, count, impulses)
            now = residual(p, count)
        ends = enough if now < CONVERGES * left else ROUNDED * enough
        if now != now:  # equations that are singular
            copied(rows, best, impulses)
            together(p, count, impulses)
        if now < left:
            copied(rows, impulses, best)
            copied(rows, impulses, calm)
            slight = max(SLIGHT, slight / MORE)
            left = now
            tries = min(tries, 0)
        elif is_stuck:
            tries = 0
        else:
            slight = slight * MORE if slight < MOST else SLIGHT
            tries += 1
        if left <= ends or (is_stuck and left <= ENOUGH):
            break
    copied(rows, best, impulses)
    together(p, count, impulses)
    return left


@routine
def energy(p: Cones, count: int) -> float:
    """The kinetic energy that impulses bring: λᵀ(free + A λ/2), for z = Yᵀ λ."""
    impulses, free, z = p.impulses, p.free, p.z
    total = 0.0
    for c in range(count):
        w = p.whole[WHOLE * c :]
        for k in range(w[SIZE]):
            total += impulses[w[ROW] + k] * free[w[ROW] + k]
        total += 0.5 * p.real[REAL * c + COMPLIANCE] * impulses[w[ROW]] * impulses[w[ROW]]
    for i in range(p.n):
        total += 0.5 * z[i] * z[i]
    return total


@routine
def take_gain(p: Cones, count: int) -> None:
    """Impulses that are not solved are made smaller, so that they bring no energy (`rebound.without_gain`)."""
    whole = energy(p, count)
    if whole <= 0.0:
        return
    rows, impulses, free, work = row_count(p, count), p.impulses, p.free, 0.0
    for i in range(rows):
        work += impulses[i] * free[i]
    part = max(0.0, -work / (whole - work)) if whole > work else 0.0
    for i in range(rows):
        impulses[i] *= part
    together(p, count, impulses)


@routine
def solved_with_rebound(p: Cones, count: int) -> float:
    """The same with restitution, and without energy out of nothing (`algorithms.contact.rebound`)."""
    b, impulses, other, best, rows = p.b, p.impulses, p.other, p.best, row_count(p, count)
    for c in range(count):
        b[p.whole[WHOLE * c + ROW]] += p.real[REAL * c + REBOUND]
    left = solved(p, count)
    high = energy(p, count)
    if high <= 0.0:
        return left
    copied(rows, impulses, other)
    for c in range(count):
        b[p.whole[WHOLE * c + ROW]] -= p.real[REAL * c + REBOUND]
    left = max(left, solved(p, count))
    low = energy(p, count)
    for i in range(rows):
        best[i] = other[i] - impulses[i]
    together(p, count, best)
    a = 0.0
    for i in range(p.n):
        a += 0.5 * p.z[i] * p.z[i]
    for c in range(count):
        way = best[p.whole[WHOLE * c + ROW]]
        a += 0.5 * p.real[REAL * c + COMPLIANCE] * way * way
    half = (high - low - a) / 2.0
    down = half + sqrt(max(0.0, half * half - a * low))
    part = 1.0
    if down > 1e-300:
        part = max(0.0, min(1.0, -low / down))
    for i in range(rows):
        impulses[i] += part * best[i]
    together(p, count, impulses)
    return left


RECOVERIES, NEAR = 50, 0.05
"""Sweeps that take overlaps back at most, and the part of the way apart that need not be there."""


@routine
def recovered(p: Cones, count: int) -> bool:
    """Pushes along normals, and z of them, that part overlaps with `apart`; whether there are any.

    As `algorithms.contact.overlap_recovery`: without friction, and no velocity is left of it.
    """
    whole, real, Y, apart, pushes, z = p.whole, p.real, p.Y, p.apart, p.pushes, p.z
    most = 0.0
    for c in range(count):
        pushes[c] = 0.0
        most = max(most, apart[c])
    if most <= 0.0:
        return False
    for i in range(p.n):
        z[i] = 0.0
    for _ in range(RECOVERIES):
        for c in range(count):
            w = whole[WHOLE * c :]
            if w[LAW] == CONE and real[REAL * c + COMPLIANCE] == 0.0:
                old = pushes[c]
                new = max(0.0, old + (apart[c] - rate(w, Y, z, 0)) * real[REAL * c + NORMAL])
                if new != old:
                    pushes[c] = new
                    push(w, Y, z, 0, new - old)
        worst = 0.0
        for c in range(count):
            w = whole[WHOLE * c :]
            if w[LAW] == CONE and real[REAL * c + COMPLIANCE] == 0.0:
                worst = max(worst, apart[c] - rate(w, Y, z, 0))
        if worst <= NEAR * most:
            break
    return True
