"""What touches and rubs in a step, as rows of a cone problem.

The trees of a mechanism are its parts: H has a block for each, H = Lᵀ L. In z, with velocities L⁻¹ z, inertia is one,
and a force t at the variables of a part has the row y = L⁻ᵀ t, which has entries on the path to the base only.
"""

from __future__ import annotations

from knuckle.contact.pair_loops.near_places import FAR, FIRST, PAIR, PLACE_SIZE, SECOND, Pairs
from knuckle.contact.pair_loops.pair_codes import PLACEMENT
from knuckle.engine.routines import Codes, Reals, Wholes, apply, routine
from knuckle.solvers.cones import contact_table
from knuckle.solvers.cones.contact_table import (
    BOUNDS,
    COMPLIANCE,
    CONE,
    ENTRIES,
    FIRST_SIZE,
    LAW,
    LOWER,
    REAL,
    REBOUND,
    ROLLING,
    ROW,
    SECOND_SIZE,
    SIZE,
    SLIDING,
    TURNING,
    UPPER,
    WHOLE,
    Cones,
    copied,
)

from .step_records import Mechanism, StateTerms
from .tree_factors import act, coloured, factored, map_body, whitened

PART_1, PART_2 = contact_table.FIRST, contact_table.SECOND
SURFACE = 6
FRICTION, TORSIONAL, ROLLS, RESTITUTION, STIFFNESS, DAMPING = 0, 1, 2, 3, 4, 5
"""Of a pair of surfaces; a stiffness below zero is none."""
RECOVERY, OVERLAP = 0.2, 1e-9
"""The part of an overlap that a step takes back, and the overlap, in metres, of which nothing is."""
TOUCHING = 1e-12
"""A gap, in metres, that is rounding: it is not closed, so that what rests is at rest."""


@routine
def tree_terms(m: Mechanism, s: StateTerms, pairs: Pairs, codes: Codes) -> None:
    """The terms of all trees, each by its code."""
    out = s.out
    for p in range(m.parts):
        n, v = m.part_size[p], m.v_at[p]
        apply(codes[m.kind[p]], out, s.t, s.q[m.q_at[p] :], s.v[v:], s.a[v:], s.dt)
        copied(n, out, s.free[v:])
        copied(n, out[n:], s.turns[v:])
        copied(6 * n, out[2 * n :], s.screws[6 * v :])
        copied(n * n, out[8 * n :], s.H[m.block_at[p] :])
        copied(n * m.loop_rows[p], out[8 * n + n * n :], s.K[m.loop_at[p] :])
        at = 8 * n + n * n + n * m.loop_rows[p]
        bodies = m.first_member[p + 1] - m.first_member[p]
        for k in range(bodies):
            b = m.member[m.first_member[p] + k]
            copied(6, out[at + 6 * k :], s.V[6 * b :])
            copied(6, out[at + 6 * (bodies + k) :], s.W[6 * b :])
        at += 12 * bodies
        for k in range(m.first_shape[p + 1] - m.first_shape[p]):
            copied(PLACEMENT, out[at + PLACEMENT * k :], pairs.placed[PLACEMENT * m.shape[m.first_shape[p] + k] :])


@routine
def coast(m: Mechanism, s: StateTerms, codes: Codes, velocity: Reals, back: Reals, q: Reals, v: Reals) -> None:
    """The state after going straight ahead with a velocity, tree by tree."""
    out = s.out
    for p in range(m.parts):
        n, at = m.q_size[p], m.v_at[p]
        apply(codes[m.kind[p]], out, s.t, s.q[m.q_at[p] :], velocity[at:], s.turns[at:], back[at:], s.dt)
        copied(n, out, q[m.q_at[p] :])
        copied(m.part_size[p], out[n:], v[at:])


@routine
def add_changes(m: Mechanism, s: StateTerms, change: Reals, out: Reals) -> None:
    """Velocities of bodies without impulses, W, with those of variables changed: V(i) = V(λ(i)) + S(i) v(i)."""
    D = s.changes
    for k in range(6):
        D[k] = 0.0
    for b in range(1, m.bodies):
        own, before = D[6 * b :], D[6 * m.parent[b] :]
        for k in range(6):
            own[k] = before[k]
        for j in range(m.at[b], m.at[b] + m.size[b]):
            screw = s.screws[6 * j :]
            for k in range(6):
                own[k] += screw[k] * change[j]
        for k in range(6):
            out[6 * b + k] = s.W[6 * b + k] + own[k]


@routine
def velocity_of(m: Mechanism, s: StateTerms, z: Reals, v: Reals) -> None:
    """v = L⁻¹ z, in the order of the model's variables; z stays."""
    work = s.work
    for p in range(m.parts):
        own = work[m.part_at[p] :]
        for i in range(m.part_size[p]):
            own[i] = z[m.part_at[p] + i]
        coloured(m.part_size[p], m.above[m.v_at[p] :], s.H[m.block_at[p] :], own)
    for p in range(m.parts):
        for i in range(m.part_size[p]):
            v[m.v_at[p] + i] = work[m.part_at[p] + i]


@routine
def with_springs(m: Mechanism, s: StateTerms, z: Reals, change: Reals) -> bool:
    """The factors of inertia; `change` of the free velocity by springs and dampers at the end of the step.

    (H + dt D + dt² K) a' = H a − dt K v. Whether there is any.
    """
    dt = s.dt[0]
    is_any = False
    for p in range(m.parts):
        for k in range(m.part_size[p]):
            i = m.v_at[p] + k
            more = dt * (m.dampers[i] + dt * m.springs[i])
            s.H[m.block_at[p] + (m.part_size[p] + 1) * k] += more + m.held[i]
            z[m.part_at[p] + k] = -dt * (more * s.a[i] + dt * m.springs[i] * s.v[i])
            change[i] = 0.0
            if m.dampers[i] != 0.0 or m.springs[i] != 0.0:
                is_any = True
    for p in range(m.parts):
        factored(m.part_size[p], m.above[m.v_at[p] :], s.H[m.block_at[p] :])
    if is_any:
        for p in range(m.parts):
            whitened(m.part_size[p], m.above[m.v_at[p] :], s.H[m.block_at[p] :], z[m.part_at[p] :])
        velocity_of(m, s, z, change)
        for i in range(m.nv):
            s.free[i] += change[i]
    return is_any


@routine
def along(f: Reals, V: Reals, first: int, second: int) -> float:
    """The relative velocity of two bodies along a unit force."""
    u = 0.0
    for k in range(6):
        u += f[k] * (V[6 * first + k] - V[6 * second + k])
    return u


@routine
def part_of(m: Mechanism, w: Wholes, p: int, column: int, size_column: int) -> None:
    """Writes where a tree is into a contact's columns; nothing for the base."""
    w[column] = 0
    w[size_column] = 0
    if p >= 0:
        w[column] = m.part_at[p]
        w[size_column] = m.part_size[p]


@routine
def begin_contact(m: Mechanism, p: Cones, c: int, size: int, first: int, second: int) -> None:
    """A contact of two trees after those before it; its entries are zero."""
    w, x = p.whole[WHOLE * c :], p.real[REAL * c :]
    w[ROW] = 0
    w[ENTRIES] = 0
    if c > 0:
        before = p.whole[WHOLE * (c - 1) :]
        w[ROW] = before[ROW] + before[SIZE]
        w[ENTRIES] = before[ENTRIES] + before[SIZE] * (before[FIRST_SIZE] + before[SECOND_SIZE])
    w[SIZE] = size
    part_of(m, w, first, PART_1, FIRST_SIZE)
    part_of(m, w, -1 if second == first else second, PART_2, SECOND_SIZE)
    for k in range(REAL):
        x[k] = 0.0
    p.apart[c] = 0.0
    for k in range(w[ENTRIES], w[ENTRIES] + size * (w[FIRST_SIZE] + w[SECOND_SIZE])):
        p.Y[k] = 0.0


@routine
def add_row(m: Mechanism, s: StateTerms, p: Cones, c: int, k: int, first: int, second: int, f: Reals) -> None:
    """The k-th row of a contact of two bodies: a unit force on the first, and the opposite one on the second."""
    w = p.whole[WHOLE * c :]
    n1, n2 = w[FIRST_SIZE], w[SECOND_SIZE]
    y = p.Y[w[ENTRIES] + k * (n1 + n2) :]
    one, two = m.part[first], m.part[second]
    if one >= 0:
        act(m, s, first, 1.0, f, y)
    if two >= 0 and two == one:
        act(m, s, second, -1.0, f, y)
    elif two >= 0:
        act(m, s, second, -1.0, f, y[n1:])
    p.b[w[ROW] + k] = along(f, s.W, first, second)
    p.free[w[ROW] + k] = 0.5 * (p.b[w[ROW] + k] + along(f, s.V, first, second))


@routine
def turned_about(f: Reals, x: float, y: float, z: float) -> None:
    """A unit couple."""
    f[0] = x
    f[1] = y
    f[2] = z
    f[3] = 0.0
    f[4] = 0.0
    f[5] = 0.0


@routine
def at_point(f: Reals, r: Reals, x: float, y: float, z: float) -> None:
    """A unit force at a point."""
    f[0] = r[1] * z - r[2] * y
    f[1] = r[2] * x - r[0] * z
    f[2] = r[0] * y - r[1] * x
    f[3] = x
    f[4] = y
    f[5] = z


@routine
def add_place(m: Mechanism, s: StateTerms, pairs: Pairs, p: Cones, c: int, place: int) -> None:
    """A place as contact c: along the normal, two ways across it, and turning about all three."""
    pair = pairs.pair[PAIR * m.pair_of[place] :]
    surface, here = m.surface[SURFACE * m.pair_of[place] :], pairs.places[PLACE_SIZE * place :]
    first, second = pairs.body[pair[FIRST]], pairs.body[pair[SECOND]]
    begin_contact(m, p, c, m.rows, m.part[first], m.part[second])
    if m.part[first] >= 0 and s.is_mapped[first] == 0:
        map_body(m, s, first)
    if m.part[second] >= 0 and s.is_mapped[second] == 0:
        map_body(m, s, second)
    w, x, f, dt = p.whole[WHOLE * c :], p.real[REAL * c :], s.force, s.dt[0]
    w[LAW] = CONE
    x[SLIDING] = surface[FRICTION]
    x[TURNING] = surface[TORSIONAL]
    x[ROLLING] = surface[ROLLS]
    gap, r, n = here[0], here[1:], here[4:]
    side = -1.0 if n[2] < 0.0 else 1.0
    a = -1.0 / (side + n[2])
    mixed = n[0] * n[1] * a
    t0, t1, t2 = 1.0 + side * n[0] * n[0] * a, side * mixed, -side * n[0]
    u0, u1, u2 = mixed, side + n[1] * n[1] * a, -n[1]
    at_point(f, r, n[0], n[1], n[2])
    add_row(m, s, p, c, 0, first, second, f)
    approach = along(f, s.V, first, second)
    k = 1
    if m.slides == 1:
        at_point(f, r, t0, t1, t2)
        add_row(m, s, p, c, k, first, second, f)
        at_point(f, r, u0, u1, u2)
        add_row(m, s, p, c, k + 1, first, second, f)
        k += 2
    if m.turns == 1:
        turned_about(f, n[0], n[1], n[2])
        add_row(m, s, p, c, k, first, second, f)
        k += 1
    if m.rolls == 1:
        turned_about(f, t0, t1, t2)
        add_row(m, s, p, c, k, first, second, f)
        turned_about(f, u0, u1, u2)
        add_row(m, s, p, c, k + 1, first, second, f)
    if surface[STIFFNESS] >= 0.0:
        stiff = surface[STIFFNESS] * dt + surface[DAMPING]
        x[COMPLIANCE] = 1.0 / (dt * stiff)
        slack = gap * surface[STIFFNESS] / stiff
        p.b[w[ROW]] += slack
        p.free[w[ROW]] += slack
    else:
        slack = gap / dt if gap > TOUCHING else 0.0
        p.b[w[ROW]] += slack
        p.apart[c] = RECOVERY * max(0.0, -gap - OVERLAP) / dt
        if approach < 0.0 and gap + dt * approach < 0.0 and surface[RESTITUTION] > 0.0:
            x[REBOUND] = surface[RESTITUTION] * approach - slack


@routine
def add_joint(m: Mechanism, s: StateTerms, p: Cones, c: int, k: int) -> None:
    """Dry friction at a variable as contact c."""
    i, part = m.joint[k], m.joint_part[k]
    begin_contact(m, p, c, 1, part, -1)
    w, x = p.whole[WHOLE * c :], p.real[REAL * c :]
    w[LAW] = BOUNDS
    x[LOWER] = -m.friction[k] * s.dt[0]
    x[UPPER] = m.friction[k] * s.dt[0]
    y = p.Y[w[ENTRIES] :]
    y[i - m.v_at[part]] = 1.0
    whitened(m.part_size[part], m.above[m.v_at[part] :], s.H[m.block_at[part] :], y)
    p.b[w[ROW]] = s.free[i]
    p.free[w[ROW]] = 0.5 * (s.free[i] + s.v[i])


@routine
def add_loop(m: Mechanism, s: StateTerms, p: Cones, c: int, k: int, change: Reals) -> None:
    """A row of a closed loop as contact c: nothing moves along it but what moved without impulses."""
    part = m.loop_part[k]
    begin_contact(m, p, c, 1, part, -1)
    w, x, row = p.whole[WHOLE * c :], p.real[REAL * c :], s.K[m.loop_row[k] :]
    w[LAW] = BOUNDS
    x[LOWER] = -FAR
    x[UPPER] = FAR
    y = p.Y[w[ENTRIES] :]
    u = 0.0
    for i in range(m.part_size[part]):
        y[i] = row[i]
        u += row[i] * change[m.v_at[part] + i]
    whitened(m.part_size[part], m.above[m.v_at[part] :], s.H[m.block_at[part] :], y)
    p.b[w[ROW]] = u
    p.free[w[ROW]] = 0.5 * u
