"""Conjugate gradients for nodes that move by themselves and nodes that a mechanism carries, in one system (notes 2.88).

The unknowns are the velocities v of a mechanism and of free nodes. Those of all nodes are u = T (v, ẋ), where carried
nodes have the rows J of T and free ones their own. The matrix is Tᵀ A T, with R of the mechanism added to its block,
and with Wᵀ C W of free nodes that are pushed by how they move beside the mechanism, W (v, ẋ) = ẋ − J v.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.routines import Reals, Record, Wholes, routine

from .block_matrix import BlockMatrix, multiply
from .incomplete_factor import IncompleteFactor, factorize, substitute

Array: TypeAlias = NDArray[Any]

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
class Touching(Record):
    """Free nodes that touch a mechanism. What C adds to the blocks of nodes is in A already."""

    count: int
    node: Wholes
    """(count,); a node may be there more than once"""
    G: Reals
    """(count, 3, nv): −C J"""
    K: Reals
    """(nv, nv): Σ Jᵀ C J"""
    S: Reals
    """(nv, nv): what is left of it where nodes give way, Σ Jᵀ (C − C B⁻¹ C) J with the blocks B of the nodes"""

    @classmethod
    def nothing(cls, nv: int) -> Touching:
        """No node touches."""
        none = np.zeros(max(1, nv * nv))
        return cls(0, np.zeros(1, np.int64), np.zeros(1), none, none)

    @classmethod
    def of(cls, node: NDArray[np.int64], C: Array, J: Array, B: Array) -> Touching:
        """Of nodes with C (count, 3, 3), J (count, 3, nv) and blocks B (count, 3, 3), C among them."""
        left = C - C @ np.linalg.solve(B, C)
        K, S = (np.einsum("cik,cij,cjl->kl", J, X, J, optimize=True).reshape(-1) for X in (C, left))
        return cls(len(node), node.astype(np.int64), (-C @ J).reshape(-1), K, S)


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
def product(A: BlockMatrix, c: Carriers, t: Touching, m: CoupledRoom, z: Reals, y: Reals) -> None:
    """y = (Tᵀ A T + R + Wᵀ C W) z."""
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
    if t.count == 0:
        return
    for i in range(n):
        row = t.K[n * i :]
        total = 0.0
        for k in range(n):
            total += row[k] * z[k]
        y[i] += total
    for a in range(t.count):
        at = n + 3 * t.node[a]
        for i in range(3):
            row = t.G[(3 * a + i) * n :]
            total = 0.0
            own = z[at + i]
            for k in range(n):
                total += row[k] * z[k]
                y[k] += row[k] * own
            y[at + i] += total


@routine
def factor(A: BlockMatrix, f: IncompleteFactor, c: Carriers, t: Touching, m: CoupledRoom) -> bool:
    """The preconditioner: incomplete factors of free nodes, and the factor of R + Jᵀ A J by the blocks on the diagonal.

    Whether all of it is positive.
    """
    if not factorize(A, f):
        return False
    n, L, J = c.nv, m.L, c.J
    for i in range(n * n):
        L[i] = c.R[i]
    if t.count > 0:
        for i in range(n * n):
            L[i] += t.S[i]
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
def precondition(
    A: BlockMatrix, f: IncompleteFactor, c: Carriers, t: Touching, m: CoupledRoom, r: Reals, z: Reals
) -> None:
    """z = M⁻¹ r. Nodes that touch give way to the mechanism: N⁻¹ r, then the mechanism, then N⁻¹ (r − G v)."""
    n, L = c.nv, m.L
    substitute(A, f, r[n:], z[n:])
    for k in range(n):
        z[k] = r[k]
    for a in range(t.count):
        at = n + 3 * t.node[a]
        for i in range(3):
            row = t.G[(3 * a + i) * n :]
            own = z[at + i]
            for k in range(n):
                z[k] -= row[k] * own
    for k in range(n):
        total = z[k]
        for j in range(k):
            total -= L[n * k + j] * z[j]
        z[k] = total / L[n * k + k]
    for i in range(n):
        k = n - 1 - i
        total = z[k]
        for j in range(k + 1, n):
            total -= L[n * j + k] * z[j]
        z[k] = total / L[n * k + k]
    if t.count == 0:
        return
    w = m.w
    for i in range(m.size - n):
        w[i] = r[n + i]
    for a in range(t.count):
        at = 3 * t.node[a]
        for i in range(3):
            row = t.G[(3 * a + i) * n :]
            total = 0.0
            for k in range(n):
                total += row[k] * z[k]
            w[at + i] -= total
    substitute(A, f, w, z[n:])


@routine
def reach(A: BlockMatrix, f: IncompleteFactor, c: Carriers, t: Touching, m: CoupledRoom) -> float:
    """The square of b in the norm of the preconditioner; a number below zero where the matrix is not positive."""
    if not factor(A, f, c, t, m):
        return -1.0
    clear(c, m)
    precondition(A, f, c, t, m, m.r, m.z)
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
    A: BlockMatrix, f: IncompleteFactor, c: Carriers, t: Touching, m: CoupledRoom,
    tolerance: float, most: int, size: float,
) -> int:  # fmt: skip
    """x of (Tᵀ A T + R + Wᵀ C W) x = b, to a part of b in the norm of the preconditioner.

    With a `size` from zero on, to that part of it, which is a square as `reach` gives it, and beginning with what is in
    x. How many iterations it took, more than `most` where it did not get there; `BENT` where the matrix is not
    positive.
    """
    if not factor(A, f, c, t, m):
        return BENT
    n, x, r, z, p, y = m.size, m.x, m.r, m.z, m.p, m.y
    clear(c, m)
    if size >= 0.0:
        for a in range(c.count):
            for i in range(3):
                x[c.nv + 3 * c.node[a] + i] = 0.0
        product(A, c, t, m, x, y)
        for i in range(n):
            r[i] -= y[i]
    else:
        for i in range(n):
            x[i] = 0.0
    precondition(A, f, c, t, m, r, z)
    rho = 0.0
    for i in range(n):
        p[i] = z[i]
        rho += r[i] * z[i]
    goal = tolerance * tolerance * (size if size >= 0.0 else rho)
    for k in range(most):
        if rho <= goal:
            return k
        product(A, c, t, m, p, y)
        curved = 0.0
        for i in range(n):
            curved += p[i] * y[i]
        if not curved > 0.0:
            return BENT
        part = rho / curved
        for i in range(n):
            x[i] += part * p[i]
            r[i] -= part * y[i]
        precondition(A, f, c, t, m, r, z)
        old = rho
        rho = 0.0
        for i in range(n):
            rho += r[i] * z[i]
        part = rho / old
        for i in range(n):
            p[i] = z[i] + part * p[i]
    return most if rho <= goal else most + 1
