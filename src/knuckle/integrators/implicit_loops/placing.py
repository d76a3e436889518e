"""A mechanism in a state, body by body: placements, velocities, forces, and the right-hand side of a step."""

from __future__ import annotations

from knuckle.engine.routines import Code, Codes, Reals, apply, routine

from .records import BodyTable, TreeState

NUMBERS = 10
"""Numbers of an inertia."""


@routine
def add_cross(a: Reals, b: Reals, scale: float, out: Reals) -> None:
    """out += scale a × b, in three dimensions."""
    out[0] += scale * (a[1] * b[2] - a[2] * b[1])
    out[1] += scale * (a[2] * b[0] - a[0] * b[2])
    out[2] += scale * (a[0] * b[1] - a[1] * b[0])


@routine
def turned(R: Reals, x: Reals, out: Reals) -> None:
    """R x."""
    out[0] = R[0] * x[0] + R[1] * x[1] + R[2] * x[2]
    out[1] = R[3] * x[0] + R[4] * x[1] + R[5] * x[2]
    out[2] = R[6] * x[0] + R[7] * x[1] + R[8] * x[2]


@routine
def motion_at(V: Reals, r: Reals, out: Reals) -> None:
    """The motion of a body, r further on it."""
    out[0] = V[0]
    out[1] = V[1]
    out[2] = V[2]
    out[3] = V[3] + V[1] * r[2] - V[2] * r[1]
    out[4] = V[4] + V[2] * r[0] - V[0] * r[2]
    out[5] = V[5] + V[0] * r[1] - V[1] * r[0]


@routine
def add_force(F: Reals, r: Reals, out: Reals) -> None:
    """Adds a force that acts r further to one at the origin."""
    out[0] += F[0] + r[1] * F[5] - r[2] * F[4]
    out[1] += F[1] + r[2] * F[3] - r[0] * F[5]
    out[2] += F[2] + r[0] * F[4] - r[1] * F[3]
    out[3] += F[3]
    out[4] += F[4]
    out[5] += F[5]


@routine
def momentum(I: Reals, V: Reals, out: Reals) -> None:
    """out += I V for an inertia m, h = m c, and six moments (RBDA 2.63)."""
    h = I[1:]
    out[0] += I[4] * V[0] + I[5] * V[1] + I[6] * V[2] + h[1] * V[5] - h[2] * V[4]
    out[1] += I[5] * V[0] + I[7] * V[1] + I[8] * V[2] + h[2] * V[3] - h[0] * V[5]
    out[2] += I[6] * V[0] + I[8] * V[1] + I[9] * V[2] + h[0] * V[4] - h[1] * V[3]
    out[3] += I[0] * V[3] + V[1] * h[2] - V[2] * h[1]
    out[4] += I[0] * V[4] + V[2] * h[0] - V[0] * h[2]
    out[5] += I[0] * V[5] + V[0] * h[1] - V[1] * h[0]


@routine
def turned_inertia(R: Reals, I: Reals, out: Reals) -> None:
    """An inertia in axes of the base: m, R h, R I Rᵀ."""
    out[0] = I[0]
    turned(R, I[1:], out[1:])
    a00 = R[0] * I[4] + R[1] * I[5] + R[2] * I[6]
    a01 = R[0] * I[5] + R[1] * I[7] + R[2] * I[8]
    a02 = R[0] * I[6] + R[1] * I[8] + R[2] * I[9]
    a10 = R[3] * I[4] + R[4] * I[5] + R[5] * I[6]
    a11 = R[3] * I[5] + R[4] * I[7] + R[5] * I[8]
    a12 = R[3] * I[6] + R[4] * I[8] + R[5] * I[9]
    a20 = R[6] * I[4] + R[7] * I[5] + R[8] * I[6]
    a21 = R[6] * I[5] + R[7] * I[7] + R[8] * I[8]
    a22 = R[6] * I[6] + R[7] * I[8] + R[8] * I[9]
    out[4] = a00 * R[0] + a01 * R[1] + a02 * R[2]
    out[5] = a00 * R[3] + a01 * R[4] + a02 * R[5]
    out[6] = a00 * R[6] + a01 * R[7] + a02 * R[8]
    out[7] = a10 * R[3] + a11 * R[4] + a12 * R[5]
    out[8] = a10 * R[6] + a11 * R[7] + a12 * R[8]
    out[9] = a20 * R[6] + a21 * R[7] + a22 * R[8]


@routine
def place_body(m: BodyTable, s: TreeState, b: int, code: Code) -> None:
    """A body and its joint from those of its parent."""
    a, n, at = m.parent[b], m.v_size[b], m.v_at[b]
    out, v, R, V, dt = s.out, s.v[at:], s.R[9 * b :], s.V[6 * b :], s.dt[0]
    apply(code, out, s.t, s.q[m.q_at[b] :], v, s.R[9 * a :], m.placement[12 * b :], m.springs[at:], m.rest[m.q_at[b] :])
    for k in range(9):
        R[k] = out[k]
    for k in range(3):
        s.r[3 * b + k] = out[9 + k]
        s.p[3 * b + k] = s.p[3 * a + k] + out[9 + k]
    motion_at(s.V[6 * a :], s.r[3 * b :], V)
    vJ, c = out[12:], s.c[6 * b :]
    for k in range(6):
        V[k] += vJ[k]
        c[k] = out[18 + k]
    add_cross(V, vJ, 1.0, c)
    add_cross(V, vJ[3:], 1.0, c[3:])
    add_cross(V[3:], vJ, 1.0, c[3:])
    for k in range(6 * n):
        s.S[6 * at + k] = out[24 + k]
    block = s.joint[m.block_at[b] :]
    for i in range(n):
        s.spring[at + i] = out[24 + 6 * n + i]
        for j in range(n):
            slope = out[24 + 7 * n + n * j + i]
            s.spring[at + i] += dt * slope * v[j]
            block[n * i + j] = dt * dt * slope
        block[(n + 1) * i] += s.rotor[at + i] + dt * m.dampers[at + i]
    turned_inertia(R, m.inertia[NUMBERS * b :], s.I[NUMBERS * b :])


@routine
def place_element(m: BodyTable, s: TreeState, e: int, code: Code) -> None:
    """The forces of an element, as they are a step ahead by its stiffness, and dt D + dt² K."""
    count, members = m.member_size[e], m.member[m.member_at[e] :]
    out, near, moving = s.out, s.near, s.moving
    for k in range(count):
        b = members[k]
        for i in range(9):
            near[12 * k + i] = s.R[9 * b + i]
        for i in range(3):
            near[12 * k + 9 + i] = s.p[3 * b + i]
        for i in range(6):
            moving[6 * k + i] = s.V[6 * b + i]
    apply(code, out, m.numbers[m.number_at[e] :], near, moving, s.dt)
    n = 6 * count
    for k in range(count):
        F = s.F[6 * members[k] :]
        for i in range(6):
            F[i] += out[6 * k + i] - out[n + 6 * k + i]
    slopes, directions = s.slopes[m.slopes_at[e] :], m.directions[e]
    for i in range(directions * (n + directions)):
        slopes[i] = out[2 * n + i]


@routine
def place_bodies(m: BodyTable, s: TreeState, joints: Codes) -> None:
    """All bodies and joints, and accelerations without those of the joints (RBDA table 5.1)."""
    A = s.W
    for k in range(3):
        A[k] = 0.0
        A[3 + k] = -m.gravity[k]
    for b in range(1, m.bodies):
        place_body(m, s, b, joints[m.kind[b]])
        own = A[6 * b :]
        motion_at(A[6 * m.parent[b] :], s.r[3 * b :], own)
        for k in range(6):
            own[k] += s.c[6 * b + k]


@routine
def place(m: BodyTable, s: TreeState, joints: Codes, elements: Codes) -> None:
    """Everything in its state, and dt (τ − C − dt K v) as the right-hand side (RBDA table 5.1, notes 2.73)."""
    dt, A, F = s.dt[0], s.W, s.F
    place_bodies(m, s, joints)
    for b in range(1, m.bodies):
        turned(s.R[9 * b :], s.applied[6 * b :], F[6 * b :])
        turned(s.R[9 * b :], s.applied[6 * b + 3 :], F[6 * b + 3 :])
    for e in range(m.elements):
        place_element(m, s, e, elements[m.make[e]])
    h, pull = s.near, s.moving
    for b in range(1, m.bodies):
        own, V = A[6 * b :], s.V[6 * b :]
        for k in range(6):
            h[k] = 0.0
            pull[k] = 0.0
        momentum(s.I[NUMBERS * b :], V, h)
        momentum(s.I[NUMBERS * b :], own, pull)
        add_cross(V, h, 1.0, pull)
        add_cross(V[3:], h[3:], 1.0, pull)
        add_cross(V, h[3:], 1.0, pull[3:])
        for k in range(6):
            F[6 * b + k] -= pull[k]
    for back in range(1, m.bodies):
        b = m.bodies - back
        at, f = m.v_at[b], F[6 * b :]
        for i in range(at, at + m.v_size[b]):
            x = s.S[6 * i :]
            total = s.tau[i] - s.spring[i] - m.dampers[i] * s.v[i]
            for k in range(6):
                total += x[k] * f[k]
            s.rhs[i] = dt * total
        if m.parent[b] > 0:
            add_force(f, s.r[3 * b :], F[6 * m.parent[b] :])


@routine
def place_elements(m: BodyTable, s: TreeState, joints: Codes, elements: Codes) -> None:
    """All bodies, and what elements do: F has their forces alone."""
    place_bodies(m, s, joints)
    for k in range(6 * m.bodies):
        s.F[k] = 0.0
    for e in range(m.elements):
        place_element(m, s, e, elements[m.make[e]])


@routine
def element_torques(m: BodyTable, s: TreeState, joints: Codes, elements: Codes, tau: Reals) -> None:
    """What elements do at the joints, Jᵀ f (notes 2.106-2.108); a step ahead by their stiffness, but for dt = 0."""
    place_elements(m, s, joints, elements)
    for back in range(1, m.bodies):
        b = m.bodies - back
        f = s.F[6 * b :]
        for i in range(m.v_at[b], m.v_at[b] + m.v_size[b]):
            x = s.S[6 * i :]
            total = 0.0
            for k in range(6):
                total += x[k] * f[k]
            tau[i] = total
        if m.parent[b] > 0:
            add_force(f, s.r[3 * b :], s.F[6 * m.parent[b] :])


@routine
def move(m: BodyTable, s: TreeState, change: Reals, codes: Codes) -> None:
    """The state a step further: v + change, and q moves with that."""
    out = s.out
    for i in range(m.nv):
        s.v[i] += change[i]
    for b in range(1, m.bodies):
        q, v, nq = s.q[m.q_at[b] :], s.v[m.v_at[b] :], m.q_size[b]
        apply(codes[m.kind[b]], out, s.t, q, v, s.dt)
        for k in range(nq):
            q[k] = out[k]
        for k in range(m.v_size[b]):
            v[k] = out[nq + k]
