"""Conjugate gradients for nodes that move by themselves and nodes that a mechanism carries, in one system (notes 2.88).

The unknowns are the velocities v of a mechanism and of free nodes. Those of all nodes are u = T (v, ẋ), where carried
nodes have the rows J of T and free ones their own. The matrix is Tᵀ A T, with R of the mechanism added to its block.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from knuckle.engine.routines import Reals, Record, Wholes, routine

from .block_matrix import BlockMatrix, multiply
from .incomplete_factor import IncompleteFactor, factorize, substitute

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


@dataclass(frozen=True)
class CoupledRoom(Record):
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
    L: Reals
    """(nv, nv): the lower factor of the mechanism's block"""


@routine
def spread(c: Carriers, nodes: int, z: Reals, u: Reals) -> None:
    """u = T z: the velocities of all nodes."""
    n, node, J = c.nv, c.node, c.J
    own = z[n:]
    for i in range(3 * nodes):
        u[i] = own[i]
    for a in range(c.count):
        at = 3 * node[a]
        for i in range(3):
            row = J[(3 * a + i) * n :]
            total = 0.0
            for k in range(n):
                total += row[k] * z[k]
            u[at + i] = total


@routine
def gather(c: Carriers, nodes: int, w: Reals, y: Reals) -> None:
    """y = Tᵀ w: forces on nodes as the mechanism and the free nodes feel them."""
    n, node, J = c.nv, c.node, c.J
    own = y[n:]
    for i in range(3 * nodes):
        own[i] = w[i]
    for k in range(n):
        y[k] = 0.0
    for a in range(c.count):
        at = 3 * node[a]
        for i in range(3):
            row = J[(3 * a + i) * n :]
            f = w[at + i]
            for k in range(n):
                y[k] += row[k] * f
            own[at + i] = 0.0


@routine
def product(A: BlockMatrix, c: Carriers, m: CoupledRoom, z: Reals, y: Reals) -> None:
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
def factor(A: BlockMatrix, f: IncompleteFactor, c: Carriers, m: CoupledRoom) -> bool:
    """The preconditioner: incomplete factors of free nodes, and the factor of R + Jᵀ A J by the blocks on the diagonal.

    Whether all of it is positive.
    """
    if not factorize(A, f):
        return False
    n, L, J = c.nv, m.L, c.J
    for i in range(n * n):
        L[i] = c.R[i]
    for a in range(c.count):
        b = A.blocks[9 * A.first[c.node[a]] :]
        for i in range(3):
            for j in range(3):
                first = J[(3 * a + i) * n :]
                second = J[(3 * a + j) * n :]
                for k in range(n):
                    part = b[3 * i + j] * first[k]
                    for o in range(k + 1):
                        L[n * k + o] += part * second[o]
    for k in range(n):
        for o in range(k):
            total = L[n * k + o]
            for j in range(o):
                total -= L[n * k + j] * L[n * o + j]
            L[n * k + o] = total / L[n * o + o]
        total = L[n * k + k]
        for j in range(k):
            total -= L[n * k + j] * L[n * k + j]
        if not total > 0.0:
            return False
        L[n * k + k] = sqrt(total)
    return True


@routine
def precondition(A: BlockMatrix, f: IncompleteFactor, c: Carriers, m: CoupledRoom, r: Reals, z: Reals) -> None:
    """z = M⁻¹ r."""
    n, L = c.nv, m.L
    substitute(A, f, r[n:], z[n:])
    for k in range(n):
        total = r[k]
        for j in range(k):
            total -= L[n * k + j] * z[j]
        z[k] = total / L[n * k + k]
    for i in range(n):
        k = n - 1 - i
        total = z[k]
        for j in range(k + 1, n):
            total -= L[n * j + k] * z[j]
        z[k] = total / L[n * k + k]


@routine
def reach(A: BlockMatrix, f: IncompleteFactor, c: Carriers, m: CoupledRoom) -> float:
    """The square of b in the norm of the preconditioner; a number below zero where the matrix is not positive."""
    if not factor(A, f, c, m):
        return -1.0
    clear(c, m)
    precondition(A, f, c, m, m.r, m.z)
    rho = 0.0
    for i in range(m.size):
        rho += m.r[i] * m.z[i]
    return rho


@routine
def clear(c: Carriers, m: CoupledRoom) -> None:
    """r = b, without what carried nodes have."""
    for i in range(m.size):
        m.r[i] = m.b[i]
    for a in range(c.count):
        for i in range(3):
            m.r[c.nv + 3 * c.node[a] + i] = 0.0


@routine
def solve(
    A: BlockMatrix, f: IncompleteFactor, c: Carriers, m: CoupledRoom, tolerance: float, most: int, size: float
) -> int:
    """x of (Tᵀ A T + R) x = b, to a part of b in the norm of the preconditioner.

    With a `size` from zero on, to that part of it, which is a square as `reach` gives it, and beginning with what is in
    x. How many iterations it took, more than `most` where it did not get there; `BENT` where the matrix is not
    positive.
    """
    if not factor(A, f, c, m):
        return BENT
    n, x, r, z, p, y = m.size, m.x, m.r, m.z, m.p, m.y
    clear(c, m)
    if size >= 0.0:
        for a in range(c.count):
            for i in range(3):
                x[c.nv + 3 * c.node[a] + i] = 0.0
        product(A, c, m, x, y)
        for i in range(n):
            r[i] -= y[i]
    else:
        for i in range(n):
            x[i] = 0.0
    precondition(A, f, c, m, r, z)
    rho = 0.0
    for i in range(n):
        p[i] = z[i]
        rho += r[i] * z[i]
    goal = tolerance * tolerance * (size if size >= 0.0 else rho)
    for k in range(most):
        if rho <= goal:
            return k
        product(A, c, m, p, y)
        curved = 0.0
        for i in range(n):
            curved += p[i] * y[i]
        if not curved > 0.0:
            return BENT
        part = rho / curved
        for i in range(n):
            x[i] += part * p[i]
            r[i] -= part * y[i]
        precondition(A, f, c, m, r, z)
        old = rho
        rho = 0.0
        for i in range(n):
            rho += r[i] * z[i]
        part = rho / old
        for i in range(n):
            p[i] = z[i] + part * p[i]
    return most if rho <= goal else most + 1
