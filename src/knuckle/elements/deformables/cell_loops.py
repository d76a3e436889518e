"""Loops over the cells of deformable bodies: forces, energies and the blocks of their stiffness, in one pass.

Whatever a cell is, at each of its points F = Σ x_a ⊗ g_a of its nodes, with the gradients g of its shape functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from knuckle.engine.routines import Code, Reals, Record, Wholes, apply, routine

ROUNDS = 12
"""Sweeps of Jacobi's rotations after which the axes of a stiffness are found."""


@dataclass(frozen=True)
class Cells(Record):
    """Cells of one kind and material. Gradients and weights are of every point of every cell."""

    count: int
    nodes: int
    """of a cell"""
    points: int
    """of a cell, at which its energy is summed"""
    dimension: int
    node: Wholes
    """(count, nodes), in order"""
    slot: Wholes
    """(count, pairs): which block of the matrix belongs to two nodes a ≤ b"""
    gradient: Reals
    """(count, points, nodes, dimension)"""
    weight: Reals
    """(count, points): the volume that a point stands for"""
    constants: Reals
    viscosity: Reals
    F: Reals
    rate: Reals
    out: Reals
    part: Reals
    product: Reals
    block: Reals
    work: Reals
    axes: Reals


@routine
def add_cells(c: Cells, stress: Code, x: Reals, v: Reals, force: Reals) -> float:
    """Adds the forces of cells at nodes that are at x and move with v. The energy that they store."""
    m = c.points
    energy = 0.0
    for e in range(c.count):
        for p in range(m):
            at = e * m + p
            evaluate(c, stress, e, at, x, v)
            energy += c.weight[at] * c.out[0]
            add_forces(c, e, at, force)
    return energy


@routine
def add_blocks(
    c: Cells, stress: Code, products: Code, block: Code, x: Reals, v: Reals, force: Reals, blocks: Reals, scale: float,
    shift: float,
) -> int:  # fmt: skip
    """Adds the forces of cells, and to the blocks of a matrix `scale` times their stiffness.

    With a shift from 0 on, what is below −shift of the eigenvalues of H = ∂²ψ/∂F² goes: the stiffness is positive but
    for that. How many points had such.
    """
    n, m, d = c.nodes, c.points, c.dimension
    pairs = n * (n + 1) // 2
    size = 3 * d
    changed = 0
    for e in range(c.count):
        for p in range(m):
            at = e * m + p
            evaluate(c, stress, e, at, x, v)
            H = c.out[1 + size :]
            if shift >= 0.0 and not is_positive(H, size, shift, c.work):
                make_positive(H, size, shift, c.work, c.axes)
                changed += 1
            add_forces(c, e, at, force)
            c.part[0] = scale * c.weight[at]
            for b in range(n):
                apply(products, c.product, H, c.gradient[(at * n + b) * d :], c.part)
                for a in range(b + 1):
                    apply(block, c.block, c.product, c.gradient[(at * n + a) * d :])
                    to = blocks[9 * c.slot[e * pairs + a * n - a * (a - 1) // 2 + b - a] :]
                    for i in range(9):
                        to[i] += c.block[i]
    return changed


@routine
def add_forces(c: Cells, e: int, at: int, force: Reals) -> None:
    """Adds −w P g of each node."""
    n, d, w = c.nodes, c.dimension, c.weight[at]
    for a in range(n):
        to = force[3 * c.node[e * n + a] :]
        g = c.gradient[(at * n + a) * d :]
        for i in range(3):
            total = 0.0
            for j in range(d):
                total += c.out[1 + d * i + j] * g[j]
            to[i] -= w * total


@routine
def evaluate(c: Cells, stress: Code, e: int, at: int, x: Reals, v: Reals) -> None:
    """F, its rate, and the stress there with its slopes."""
    n, d = c.nodes, c.dimension
    for i in range(3 * d):
        c.F[i] = 0.0
        c.rate[i] = 0.0
    for a in range(n):
        node = 3 * c.node[e * n + a]
        g = c.gradient[(at * n + a) * d :]
        for i in range(3):
            for j in range(d):
                c.F[d * i + j] += x[node + i] * g[j]
                c.rate[d * i + j] += v[node + i] * g[j]
    apply(stress, c.out, c.F, c.rate, c.constants, c.viscosity)


@routine
def is_positive(H: Reals, n: int, shift: float, work: Reals) -> bool:
    """Whether a symmetric matrix and a shift have no negative direction, but for rounding: whether L D Lᵀ has none."""
    most = 0.0
    for i in range(n):
        most = max(most, abs(H[n * i + i]))
    for i in range(n):
        for k in range(i + 1):
            work[n * i + k] = H[n * i + k]
        work[n * i + i] += shift
    for k in range(n):
        pivot = work[n * k + k]
        if pivot <= 1e-14 * most:
            if pivot < -1e-12 * most:
                return False
            for i in range(k + 1, n):
                if abs(work[n * i + k]) > 1e-12 * most:
                    return False
        else:
            for i in range(k + 1, n):
                part = work[n * i + k] / pivot
                for j in range(k + 1, i + 1):
                    work[n * i + j] -= part * work[n * j + k]
    return True


@routine
def make_positive(H: Reals, n: int, shift: float, work: Reals, axes: Reals) -> None:
    """The nearest symmetric matrix whose eigenvalues are not below −shift (by Jacobi's rotations)."""
    for i in range(n * n):
        work[i] = H[i]
        axes[i] = 0.0
    for i in range(n):
        axes[n * i + i] = 1.0
    for _ in range(ROUNDS):
        off = 0.0
        size = 0.0
        for i in range(n):
            size += work[n * i + i] * work[n * i + i]
            for k in range(i):
                off += work[n * i + k] * work[n * i + k]
        if off <= 1e-22 * size:
            break
        for p in range(n):
            for q in range(p + 1, n):
                apq = work[n * p + q]
                if apq * apq > 1e-26 * size:
                    theta = (work[n * q + q] - work[n * p + p]) / (2.0 * apq)
                    t = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0))
                    if theta < 0.0:
                        t = -t
                    cosine = 1.0 / sqrt(t * t + 1.0)
                    sine = t * cosine
                    for i in range(n):
                        a = work[n * i + p]
                        b = work[n * i + q]
                        work[n * i + p] = cosine * a - sine * b
                        work[n * i + q] = sine * a + cosine * b
                    for i in range(n):
                        a = work[n * p + i]
                        b = work[n * q + i]
                        work[n * p + i] = cosine * a - sine * b
                        work[n * q + i] = sine * a + cosine * b
                    for i in range(n):
                        a = axes[n * i + p]
                        b = axes[n * i + q]
                        axes[n * i + p] = cosine * a - sine * b
                        axes[n * i + q] = sine * a + cosine * b
    for i in range(n):
        for k in range(n):
            total = 0.0
            for j in range(n):
                total += axes[n * i + j] * axes[n * k + j] * max(work[n * j + j], -shift)
            H[n * i + k] = total
