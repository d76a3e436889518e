"""Products with A = Jᵀ(M + dt D + dt² K)J + joints in O(n), and with the inverse of what is a tree of it.

The first are algorithms 5 and 6 of the notes, the second is algorithm 10 with its P: joint terms, and where it is
wanted what elements do to each body by itself.
"""

from __future__ import annotations

from knuckle.engine.routines import Reals, routine

from .placing import NUMBERS, add_force, momentum, motion_at
from .records import BodyTable, TreeFactors, TreeState


@routine
def element_product(m: BodyTable, s: TreeState, e: int) -> None:
    """What an element adds to the forces on its bodies: Gᵀ C G w for their motions w."""
    count, members, d, G = m.member_size[e], m.member[m.member_at[e] :], m.directions[e], s.slopes[m.slopes_at[e] :]
    n, u = 6 * count, s.along
    C, y = G[n * d :], u[d:]
    for i in range(d):
        u[i] = 0.0
        for k in range(count):
            w, row = s.W[6 * members[k] :], G[n * i + 6 * k :]
            u[i] += row[0] * w[0] + row[1] * w[1] + row[2] * w[2] + row[3] * w[3] + row[4] * w[4] + row[5] * w[5]
    for i in range(d):
        y[i] = 0.0
        for j in range(d):
            y[i] += C[d * i + j] * u[j]
    for i in range(d):
        for k in range(count):
            f, row = s.F[6 * members[k] :], G[n * i + 6 * k :]
            for j in range(6):
                f[j] += row[j] * y[i]


@routine
def product(m: BodyTable, s: TreeState, x: Reals, y: Reals) -> None:
    """y = A x (notes 2.104-2.108)."""
    W, F = s.W, s.F
    for k in range(6):
        W[k] = 0.0
        F[k] = 0.0
    for b in range(1, m.bodies):
        own, f, at = W[6 * b :], F[6 * b :], m.v_at[b]
        motion_at(W[6 * m.parent[b] :], s.r[3 * b :], own)
        for i in range(at, at + m.v_size[b]):
            column = s.S[6 * i :]
            for k in range(6):
                own[k] += column[k] * x[i]
        for k in range(6):
            f[k] = 0.0
        momentum(s.I[NUMBERS * b :], own, f)
    for e in range(m.elements):
        element_product(m, s, e)
    for back in range(1, m.bodies):
        b = m.bodies - back
        f, at, n, block = F[6 * b :], m.v_at[b], m.v_size[b], s.joint[m.block_at[b] :]
        for i in range(n):
            column = s.S[6 * (at + i) :]
            total = (
                column[0] * f[0] + column[1] * f[1] + column[2] * f[2]
                + column[3] * f[3] + column[4] * f[4] + column[5] * f[5]
            )  # fmt: skip
            for j in range(n):
                total += block[n * i + j] * x[at + j]
            y[at + i] = total
        add_force(f, s.r[3 * b :], F[6 * m.parent[b] :])


@routine
def joint_forces(m: BodyTable, s: TreeState, F: Reals, y: Reals) -> None:
    """y = Jᵀ F for forces on bodies, which are used up (notes 2.106-2.108)."""
    for back in range(1, m.bodies):
        b = m.bodies - back
        f = F[6 * b :]
        for i in range(m.v_at[b], m.v_at[b] + m.v_size[b]):
            column = s.S[6 * i :]
            total = 0.0
            for k in range(6):
                total += column[k] * f[k]
            y[i] = total
        add_force(f, s.r[3 * b :], F[6 * m.parent[b] :])


@routine
def begin_inertia(I: Reals, M: Reals) -> None:
    """An inertia as a matrix (RBDA 2.63)."""
    for k in range(36):
        M[k] = 0.0
    M[0] = I[4]
    M[1] = I[5]
    M[2] = I[6]
    M[6] = I[5]
    M[7] = I[7]
    M[8] = I[8]
    M[12] = I[6]
    M[13] = I[8]
    M[14] = I[9]
    M[4] = -I[3]
    M[5] = I[2]
    M[9] = I[3]
    M[11] = -I[1]
    M[15] = -I[2]
    M[16] = I[1]
    M[19] = I[3]
    M[20] = -I[2]
    M[24] = -I[3]
    M[26] = I[1]
    M[30] = I[2]
    M[31] = -I[1]
    M[21] = I[0]
    M[28] = I[0]
    M[35] = I[0]


@routine
def invert(n: int, D: Reals) -> None:
    """The inverse of a small positive definite matrix, in place."""
    for k in range(n):
        pivot = 1.0 / D[(n + 1) * k]
        D[(n + 1) * k] = 1.0
        for j in range(n):
            D[n * k + j] *= pivot
        for i in range(n):
            if i != k:
                f = D[n * i + k]
                D[n * i + k] = 0.0
                for j in range(n):
                    D[n * i + j] -= f * D[n * k + j]


@routine
def add_shifted(M: Reals, r: Reals, P: Reals) -> None:
    """P += Xᵀ M X for the shift X by r: only the upper half of M and P is read and written, by blocks J, H, m."""
    x, y, z = r[0], r[1], r[2]
    a, b, c, d, e, f = M[21], M[22], M[23], M[28], M[29], M[35]
    h0, h1, h2 = M[3] + y * c - z * b, M[4] + y * e - z * d, M[5] + y * f - z * e
    h3, h4, h5 = M[9] + z * a - x * c, M[10] + z * b - x * e, M[11] + z * c - x * f
    h6, h7, h8 = M[15] + x * b - y * a, M[16] + x * d - y * b, M[17] + x * e - y * c
    P[0] += M[0] - (h1 * z - h2 * y) + y * M[5] - z * M[4]
    P[1] += M[1] - (h2 * x - h0 * z) + y * M[11] - z * M[10]
    P[2] += M[2] - (h0 * y - h1 * x) + y * M[17] - z * M[16]
    P[7] += M[7] - (h5 * x - h3 * z) + z * M[9] - x * M[11]
    P[8] += M[8] - (h3 * y - h4 * x) + z * M[15] - x * M[17]
    P[14] += M[14] - (h6 * y - h7 * x) + x * M[16] - y * M[15]
    P[3] += h0
    P[4] += h1
    P[5] += h2
    P[9] += h3
    P[10] += h4
    P[11] += h5
    P[15] += h6
    P[16] += h7
    P[17] += h8
    P[21] += a
    P[22] += b
    P[23] += c
    P[28] += d
    P[29] += e
    P[35] += f


@routine
def factor(m: BodyTable, s: TreeState, g: TreeFactors, with_elements: int) -> None:
    """Articulated inertias, with what elements do to single bodies if it is wanted (algorithm 10, lines 1-12)."""
    for b in range(1, m.bodies):
        begin_inertia(s.I[NUMBERS * b :], g.M[36 * b :])
    if with_elements == 1:
        for e in range(m.elements):
            n, d, G = 6 * m.member_size[e], m.directions[e], s.slopes[m.slopes_at[e] :]
            C = G[n * d :]
            for member in range(m.member_size[e]):
                M, own = g.M[36 * m.member[m.member_at[e] + member] :], G[6 * member :]
                for i in range(d):
                    for j in range(d):
                        for k in range(6):
                            w = C[d * i + j] * own[n * i + k]
                            for l in range(6):
                                M[6 * k + l] += w * own[n * j + l]
    for back in range(1, m.bodies):
        b = m.bodies - back
        M, at, n = g.M[36 * b :], m.v_at[b], m.v_size[b]
        for k in range(6):
            for j in range(k):
                M[6 * k + j] = M[6 * j + k]
        U, Psi = g.U[6 * at :], g.Psi[m.block_at[b] :]
        for i in range(n):
            column = s.S[6 * (at + i) :]
            for k in range(6):
                row = M[6 * k :]
                U[6 * i + k] = (
                    row[0] * column[0] + row[1] * column[1] + row[2] * column[2]
                    + row[3] * column[3] + row[4] * column[4] + row[5] * column[5]
                )  # fmt: skip
        for i in range(n):
            for j in range(n):
                total = s.joint[m.block_at[b] + n * i + j]
                for k in range(6):
                    total += s.S[6 * (at + i) + k] * U[6 * j + k]
                Psi[n * i + j] = total
        invert(n, Psi)
        if m.parent[b] > 0:
            for i in range(n):
                for j in range(n):
                    w = Psi[n * i + j]
                    for k in range(6):
                        a = w * U[6 * i + k]
                        for c in range(6):
                            M[6 * k + c] -= a * U[6 * j + c]
            add_shifted(M, s.r[3 * b :], g.M[36 * m.parent[b] :])


@routine
def solve(m: BodyTable, s: TreeState, g: TreeFactors, x: Reals, y: Reals) -> None:
    """y = P⁻¹ x (algorithm 10, lines 14-22)."""
    B, A, u = g.B, g.A, g.u
    for k in range(6 * m.bodies):
        B[k] = 0.0
    for back in range(1, m.bodies):
        b = m.bodies - back
        f, at, n, Psi = B[6 * b :], m.v_at[b], m.v_size[b], g.Psi[m.block_at[b] :]
        for i in range(n):
            column = s.S[6 * (at + i) :]
            y[at + i] = x[at + i] - (
                column[0] * f[0] + column[1] * f[1] + column[2] * f[2]
                + column[3] * f[3] + column[4] * f[4] + column[5] * f[5]
            )  # fmt: skip
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += Psi[n * i + j] * y[at + j]
            u[at + i] = total
        for i in range(n):
            U = g.U[6 * (at + i) :]
            for k in range(6):
                f[k] += U[k] * u[at + i]
        add_force(f, s.r[3 * b :], B[6 * m.parent[b] :])
    for k in range(6):
        A[k] = 0.0
    for b in range(1, m.bodies):
        own, at, n, Psi = A[6 * b :], m.v_at[b], m.v_size[b], g.Psi[m.block_at[b] :]
        motion_at(A[6 * m.parent[b] :], s.r[3 * b :], own)
        for i in range(n):
            y[at + i] = u[at + i]
        for j in range(n):
            U = g.U[6 * (at + j) :]
            felt = U[0] * own[0] + U[1] * own[1] + U[2] * own[2] + U[3] * own[3] + U[4] * own[4] + U[5] * own[5]
            for i in range(n):
                y[at + i] -= Psi[n * i + j] * felt
        for i in range(n):
            column = s.S[6 * (at + i) :]
            for k in range(6):
                own[k] += column[k] * y[at + i]
