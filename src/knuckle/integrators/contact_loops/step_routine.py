"""A contact step in one call: from the terms of a state to velocities, impulses and what is left of their laws."""

from __future__ import annotations

from dataclasses import dataclass

from knuckle.algorithms.contact.cone_problem import WARNED
from knuckle.contact.pair_loops.near_places import FAR, FIRST, PAIR, PLACE_SIZE, SECOND, Pairs, near_places, speeds
from knuckle.engine.routines import Code, Codes, Reals, Record, Wholes, apply, routine
from knuckle.solvers.cones.cone_solver import recovered, solved, solved_with_rebound, take_gain
from knuckle.solvers.cones.contact_table import REAL, REBOUND, ROW, WHOLE, Cones, copied, steps
from knuckle.solvers.cones.envelope import envelope

from .step_records import Mechanism, StateTerms
from .touching import (
    add_changes,
    add_joint,
    add_loop,
    add_place,
    along,
    at_point,
    coast,
    tree_terms,
    velocity_of,
    with_springs,
)

AGAIN = 4
"""How often places are added that impulses on others bring to touch."""
EPSILON = 1e-9
"""A distance, in metres, by which a place may overlap without being solved for."""
DONE, MORE_CONTACTS, MORE_ENTRIES, MORE_ENVELOPE = 0, 1, 2, 3
"""What a step says: it is done, or there is too little room."""


@dataclass(frozen=True)
class Outcome(Record):
    """What a step begins and ends with besides the state."""

    q: Reals
    v: Reals
    """the state after it"""
    impulses: Reals
    """of all places, of joints and of loops: those of the last step before, and those of this one"""
    velocity: Reals
    back: Reals
    """the velocity that takes overlaps back"""
    change: Reals
    """what springs and dampers change of the velocity without impulses"""
    difference: Reals
    residual: Reals
    near: Wholes
    """the places that are solved for"""
    is_near: Wholes
    contacts: int
    entries: int
    envelope: int
    """how much room there is"""


@routine
def begin_step(m: Mechanism, s: StateTerms, pairs: Pairs, o: Outcome, terms: Codes) -> int:
    """StateTerms of the state, factors of inertia, and places that may touch; how many near pairs have no code."""
    for b in range(m.bodies):
        s.is_mapped[b] = 0
    tree_terms(m, s, pairs, terms)
    if with_springs(m, s, o.velocity, o.change):
        add_changes(m, s, o.change, s.W)
    speeds(pairs, s.V, s.W)
    return near_places(pairs, s.dt[0])


@routine
def end_step(m: Mechanism, s: StateTerms, pairs: Pairs, p: Cones, o: Outcome, ahead: Codes) -> int:
    """The state and impulses with all laws of contact; what it says is named above."""
    dt, f = s.dt[0], s.force
    near = 0
    for i in range(m.places):
        here = pairs.places[PLACE_SIZE * i :]
        o.is_near[i] = 0
        if here[0] < FAR:
            pair = pairs.pair[PAIR * m.pair_of[i] :]
            first, second = pairs.body[pair[FIRST]], pairs.body[pair[SECOND]]
            at_point(f, here[1:], here[4], here[5], here[6])
            u = min(0.0, min(along(f, s.V, first, second), along(f, s.W, first, second)))
            if here[0] + 2.0 * dt * u < EPSILON:
                o.is_near[i] = 1
                near += 1
    status = solve_near(m, s, pairs, p, o, near)
    for _ in range(AGAIN):
        if status != DONE:
            return status
        for i in range(m.nv):
            o.difference[i] = o.velocity[i] - s.free[i]
        add_changes(m, s, o.difference, s.U)
        missed = 0
        for i in range(m.places):
            here = pairs.places[PLACE_SIZE * i :]
            if here[0] < FAR and o.is_near[i] == 0:
                pair = pairs.pair[PAIR * m.pair_of[i] :]
                first, second = pairs.body[pair[FIRST]], pairs.body[pair[SECOND]]
                at_point(f, here[1:], here[4], here[5], here[6])
                if here[0] + dt * along(f, s.U, first, second) < min(here[0], 0.0) - EPSILON:
                    o.is_near[i] = 1
                    missed += 1
        if missed == 0:
            break
        near += missed
        status = solve_near(m, s, pairs, p, o, near)
    if status == DONE:
        store(m, p, o)
        coast(m, s, ahead, o.velocity, o.back, o.q, o.v)
    return status


@routine
def solve_near(m: Mechanism, s: StateTerms, pairs: Pairs, p: Cones, o: Outcome, near: int) -> int:
    """The velocity with impulses at near places, at joints and loops."""
    count = near + m.joints + m.loops
    if count + 1 > o.contacts:
        return MORE_CONTACTS
    c = 0
    entries = 0
    for i in range(m.places):
        if o.is_near[i] == 1:
            if entries + m.rows * 2 * m.nv > o.entries:
                return MORE_ENTRIES
            add_place(m, s, pairs, p, c, i)
            w = p.whole[WHOLE * c :]
            entries = w[7] + m.rows * (w[4] + w[6])
            for k in range(m.rows):
                p.impulses[w[ROW] + k] = o.impulses[m.rows * i + k]
            o.near[c] = i
            c += 1
    rest = m.rows * m.places
    for k in range(m.joints + m.loops):
        if entries + (k + 1) * m.nv > o.entries:
            return MORE_ENTRIES
        if k < m.joints:
            add_joint(m, s, p, c, k)
        else:
            add_loop(m, s, p, c, k - m.joints, o.change)
        p.impulses[p.whole[WHOLE * c + ROW]] = o.impulses[rest + k]
        c += 1
    if envelope(p, count) > o.envelope:
        return MORE_ENVELOPE
    steps(p, count)
    rebounds = False
    for k in range(count):
        if p.real[REAL * k + REBOUND] != 0.0:
            rebounds = True
    o.residual[0] = 0.0
    if count == 0:
        for i in range(p.n):
            p.z[i] = 0.0
    elif rebounds:
        o.residual[0] = solved_with_rebound(p, count)
    else:
        o.residual[0] = solved(p, count)
    if o.residual[0] > WARNED:
        take_gain(p, count)
    velocity_of(m, s, p.z, o.velocity)
    for i in range(m.nv):
        o.velocity[i] += s.free[i]
        o.back[i] = 0.0
    if recovered(p, count):
        velocity_of(m, s, p.z, o.back)
    return DONE


@routine
def store(m: Mechanism, p: Cones, o: Outcome) -> None:
    """Impulses where the next step looks for them."""
    rest = m.rows * m.places
    for k in range(rest):
        o.impulses[k] = 0.0
    c = 0
    for i in range(m.places):
        if o.is_near[i] == 1:
            row = p.whole[WHOLE * c + ROW]
            for k in range(m.rows):
                o.impulses[m.rows * i + k] = p.impulses[row + k]
            c += 1
    for k in range(m.joints + m.loops):
        o.impulses[rest + k] = p.impulses[p.whole[WHOLE * (c + k) + ROW]]


@routine
def whole_step(m: Mechanism, s: StateTerms, pairs: Pairs, p: Cones, o: Outcome, terms: Codes, ahead: Codes) -> int:
    """All of a step, where all pairs have code: from q, v and a to the state after it."""
    begin_step(m, s, pairs, o, terms)
    return end_step(m, s, pairs, p, o, ahead)


@dataclass(frozen=True)
class StepRows(Record):
    """States after steps, one after the other."""

    q: Reals
    v: Reals
    impulses: Reals
    worst: Reals
    unsolved: Reals


@routine
def next_state(
    m: Mechanism, s: StateTerms, pairs: Pairs, p: Cones, o: Outcome, acceleration: Code, terms: Codes, ahead: Codes,
    parameters: Reals, nq: int, left: Reals, much: float,
) -> int:  # fmt: skip
    """A step from the state to the next, in place; what it says is named above.

    `left` has the largest residual, the number of steps in which it was above `much`, and what the last step says.
    """
    apply(acceleration, s.a, s.t, s.q, s.v, parameters)
    status = whole_step(m, s, pairs, p, o, terms, ahead)
    left[2] = float(status)
    if status != DONE:
        return status
    residual = o.residual[0]
    if not (residual <= left[0]):
        left[0] = residual
    if not (residual <= much):
        left[1] += 1.0
    copied(nq, o.q, s.q)
    copied(m.nv, o.v, s.v)
    return DONE


@routine
def many_steps(
    m: Mechanism, s: StateTerms, pairs: Pairs, p: Cones, o: Outcome, acceleration: Code, terms: Codes, ahead: Codes,
    parameters: Reals, nq: int, impulses: int, times: Reals, begin: int, count: int, every: int,
    rows: StepRows, left: Reals, much: float,
) -> int:  # fmt: skip
    """Steps from `begin` on, and rows after every so many and after the last; how many are done.

    Fewer than `count` where there is too little room for the next one; `left` is that of `next_state`.
    """
    for k in range(begin, count):
        s.t[0] = times[k]
        if next_state(m, s, pairs, p, o, acceleration, terms, ahead, parameters, nq, left, much) != DONE:
            return k
        if (k + 1) % every == 0 or k + 1 == count:
            row = k // every
            copied(nq, s.q, rows.q[nq * row :])
            copied(m.nv, s.v, rows.v[m.nv * row :])
            copied(impulses, o.impulses, rows.impulses[impulses * row :])
            rows.worst[row] = left[0]
            rows.unsolved[row] = left[1]
    return count


@routine
def row_steps(
    m: Mechanism, s: StateTerms, pairs: Pairs, p: Cones, o: Outcome, acceleration: Code, terms: Codes, ahead: Codes,
    given: Reals, width: int, nq: int, impulses: int, rows: Reals, states: Wholes, steps: int, clock: Reals,
    left: Reals, much: float,
) -> None:  # fmt: skip
    """So many steps of states in rows (q, v, impulses, worst, unsolved, steps done), each under its own parameters.

    `given` has `width` parameters of each state; `states` the first one and the one after the last, and afterwards that
    for which there was too little room, whose row is what it was; `clock` has the time of step 0 and dt.
    """
    n, v, w = nq + m.nv + impulses + 3, nq + m.nv, nq + m.nv + impulses
    while states[0] < states[1]:
        row, own = rows[n * states[0] :], given[width * states[0] :]
        copied(nq, row, s.q)
        copied(m.nv, row[nq:], s.v)
        copied(impulses, row[v:], o.impulses)
        left[0] = row[w]
        left[1] = row[w + 1]
        s.dt[0] = clock[1]
        for k in range(steps):
            s.t[0] = clock[0] + (row[w + 2] + float(k)) * clock[1]
            if next_state(m, s, pairs, p, o, acceleration, terms, ahead, own, nq, left, much) != DONE:
                return
        copied(nq, s.q, row)
        copied(m.nv, s.v, row[nq:])
        copied(impulses, o.impulses, row[v:])
        row[w] = left[0]
        row[w + 1] = left[1]
        row[w + 2] += float(steps)
        states[0] += 1
