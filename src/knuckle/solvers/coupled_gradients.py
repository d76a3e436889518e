"""Conjugate gradients for nodes that move by themselves and nodes that a mechanism carries, in one system (notes 2.88).

The unknowns are the velocities v of a mechanism and of free nodes. Those of all nodes are u = T (v, ẋ), where carried
nodes have the rows J of T and free ones their own. The matrix is Tᵀ A T, with R of the mechanism added to its block.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from knuckle.engine.routines import Reals, Record, Wholes, routine

from .block_matrix import BlockMatrix, multiply

BENT = -1
"""What is returned where a direction has no positive curvature: the matrix is not positive."""


@dataclass(frozen=True)
class Carriers(Record):
    """A mechanism and the nodes that it carries."""

    nv: int
    count: int
    node: Wholes
    """(count,): the nodes that are carried"""
    J: Reals
    """(count, 3, nv): their velocities, by those of the mechanism; zero for pins"""
    R: Reals
    """(nv, nv)"""
    is_free: Wholes
    """(nodes,): 1 where a node moves by itself"""


@dataclass(frozen=True)
class GradientRoom(Record):
    """Memory of the solver: vectors have nv numbers of the mechanism, then three for each node."""

    size: int
    b: Reals
    """the right side; where carried nodes are it is not read"""
    x: Reals
    """the solution"""
    r: Reals
    z: Reals
    p: Reals
    y: Reals
    u: Reals
    w: Reals
    inverse: Reals
    """(nodes, 3, 3): of the blocks on the diagonal"""
    L: Reals
    """(nv, nv): the lower factor of the mechanism's block"""


@routine
def spread(c: Carriers, nodes: int, z: Reals, u: Reals) -> None:
    """u = T z: the velocities of all nodes."""
    n = c.nv
    own = z[n:]
    for i in range(3 * nodes):
        u[i] = own[i]
    for a in range(c.count):
        at = 3 * c.node[a]
        for i in range(3):
            row = c.J[(3 * a + i) * n :]
            total = 0.0
            for k in range(n):
                total += row[k] * z[k]
            u[at + i] = total


@routine
def gather(c: Carriers, nodes: int, w: Reals, y: Reals) -> None:
    """y = Tᵀ w: forces on nodes as the mechanism and the free nodes feel them."""
    n = c.nv
    own = y[n:]
    for i in range(3 * nodes):
        own[i] = w[i]
    for k in range(n):
        y[k] = 0.0
    for a in range(c.count):
        at = 3 * c.node[a]
        for i in range(3):
            row = c.J[(3 * a + i) * n :]
            f = w[at + i]
            for k in range(n):
                y[k] += row[k] * f
            own[at + i] = 0.0


@routine
def product(A: BlockMatrix, c: Carriers, m: GradientRoom, z: Reals, y: Reals) -> None:
    """y = (Tᵀ A T + R) z."""
    spread(c, A.size, z, m.u)
    multiply(A, m.u, m.w)
    gather(c, A.size, m.w, y)
    n = c.nv
    for i in range(n):
        row = c.R[n * i :]
        total = 0.0
        for k in range(n):
            total += row[k] * z[k]
        y[i] += total


@routine
def factor(A: BlockMatrix, c: Carriers, m: GradientRoom) -> bool:
    """The inverses of the blocks on the diagonal, and the factor of R + Jᵀ A J by its blocks there: the preconditioner.

    Whether all of them are positive.
    """
    for row in range(A.size):
        b = A.blocks[9 * A.first[row] :]
        to = m.inverse[9 * row :]
        c00 = b[4] * b[8] - b[5] * b[7]
        c01 = b[5] * b[6] - b[3] * b[8]
        c02 = b[3] * b[7] - b[4] * b[6]
        det = b[0] * c00 + b[1] * c01 + b[2] * c02
        if not (b[0] > 0.0 and b[0] * b[4] - b[1] * b[3] > 0.0 and det > 0.0):
            return False
        to[0] = c00 / det
        to[1] = (b[2] * b[7] - b[1] * b[8]) / det
        to[2] = (b[1] * b[5] - b[2] * b[4]) / det
        to[3] = c01 / det
        to[4] = (b[0] * b[8] - b[2] * b[6]) / det
        to[5] = (b[2] * b[3] - b[0] * b[5]) / det
        to[6] = c02 / det
        to[7] = (b[1] * b[6] - b[0] * b[7]) / det
        to[8] = (b[0] * b[4] - b[1] * b[3]) / det
    n = c.nv
    for i in range(n * n):
        m.L[i] = c.R[i]
    for a in range(c.count):
        b = A.blocks[9 * A.first[c.node[a]] :]
        for i in range(3):
            for j in range(3):
                first = c.J[(3 * a + i) * n :]
                second = c.J[(3 * a + j) * n :]
                for k in range(n):
                    part = b[3 * i + j] * first[k]
                    for l in range(k + 1):
                        m.L[n * k + l] += part * second[l]
    for k in range(n):
        for l in range(k):
            total = m.L[n * k + l]
            for j in range(l):
                total -= m.L[n * k + j] * m.L[n * l + j]
            m.L[n * k + l] = total / m.L[n * l + l]
        total = m.L[n * k + k]
        for j in range(k):
            total -= m.L[n * k + j] * m.L[n * k + j]
        if not total > 0.0:
            return False
        m.L[n * k + k] = sqrt(total)
    return True


@routine
def precondition(A: BlockMatrix, c: Carriers, m: GradientRoom, r: Reals, z: Reals) -> None:
    """z = M⁻¹ r."""
    n = c.nv
    for row in range(A.size):
        b = m.inverse[9 * row :]
        u = r[n + 3 * row :]
        to = z[n + 3 * row :]
        r0 = u[0]
        r1 = u[1]
        r2 = u[2]
        to[0] = b[0] * r0 + b[1] * r1 + b[2] * r2
        to[1] = b[3] * r0 + b[4] * r1 + b[5] * r2
        to[2] = b[6] * r0 + b[7] * r1 + b[8] * r2
    for k in range(n):
        total = r[k]
        for j in range(k):
            total -= m.L[n * k + j] * z[j]
        z[k] = total / m.L[n * k + k]
    for i in range(n):
        k = n - 1 - i
        total = z[k]
        for j in range(k + 1, n):
            total -= m.L[n * j + k] * z[j]
        z[k] = total / m.L[n * k + k]


@routine
def solve(A: BlockMatrix, c: Carriers, m: GradientRoom, tolerance: float, most: int) -> int:
    """x of (Tᵀ A T + R) x = b, to a part of b in the norm of the preconditioner.

    How many iterations it took, more than `most` where it did not get there; `BENT` where the matrix is not positive.
    """
    if not factor(A, c, m):
        return BENT
    n = m.size
    for i in range(n):
        m.x[i] = 0.0
        m.r[i] = m.b[i]
    for a in range(c.count):
        for i in range(3):
            m.r[c.nv + 3 * c.node[a] + i] = 0.0
    precondition(A, c, m, m.r, m.z)
    rho = 0.0
    for i in range(n):
        m.p[i] = m.z[i]
        rho += m.r[i] * m.z[i]
    goal = tolerance * tolerance * rho
    for k in range(most):
        if rho <= goal:
            return k
        product(A, c, m, m.p, m.y)
        curved = 0.0
        for i in range(n):
            curved += m.p[i] * m.y[i]
        if not curved > 0.0:
            return BENT
        part = rho / curved
        for i in range(n):
            m.x[i] += part * m.p[i]
            m.r[i] -= part * m.y[i]
        precondition(A, c, m, m.r, m.z)
        old = rho
        rho = 0.0
        for i in range(n):
            rho += m.r[i] * m.z[i]
        part = rho / old
        for i in range(n):
            m.p[i] = m.z[i] + part * m.p[i]
    return most if rho <= goal else most + 1
