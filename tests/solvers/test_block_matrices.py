"""Matrices of blocks, their incomplete factors, and conjugate gradients of nodes that a mechanism carries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knuckle.solvers.block_matrix import BlockMatrix, multiply
from knuckle.solvers.coupled_gradients import BENT, Carriers, CoupledRoom, Touching, reach, solve
from knuckle.solvers.incomplete_factor import IncompleteFactor, factorize, substitute

NOTHING = Touching.nothing(3)


def matrix(n: int = 12, seed: int = 0, shift: float = 1.0) -> BlockMatrix:
    """A positive matrix of a chain of cells of four nodes."""
    rng = np.random.default_rng(seed)
    cells = np.array([np.sort(rng.permutation(5)[:4]) + k for k in range(n - 4)], np.int64)
    A, (slots,) = BlockMatrix.of(n, [cells])
    blocks = A.blocks.reshape(-1, 3, 3)
    for cell in slots:
        G = rng.standard_normal((12, 12))
        K = (G @ G.T).reshape(4, 3, 4, 3)
        for (a, b), slot in zip(zip(*np.triu_indices(4), strict=True), cell, strict=True):
            blocks[slot] += K[a, :, b, :]
    blocks[A.first[:-1]] += shift * np.eye(3)
    return A


def test_products() -> None:
    A, rng = matrix(), np.random.default_rng(1)
    x, y = rng.standard_normal(36), np.zeros(36)
    multiply(A, x, y)
    dense = A.dense()
    assert np.array_equal(dense, dense.T)
    assert np.allclose(y, dense @ x, rtol=1e-13)


def test_factors_that_fill_nothing_in_are_complete() -> None:
    """Where elimination fills nothing in, incomplete factors are the factors: one substitution solves."""
    A = matrix(5)
    f = IncompleteFactor.of(A, np.ones(5, np.int64))
    r, z = np.random.default_rng(2).standard_normal(15), np.zeros(15)
    assert factorize(A, f)
    substitute(A, f, r, z)
    assert np.allclose(A.dense() @ z, r, atol=1e-10)


def test_substitution_is_positive_and_leaves_held_nodes_out() -> None:
    A, free = matrix(), np.ones(12, np.int64)
    free[[3, 7]] = 0
    f = IncompleteFactor.of(A, free)
    assert factorize(A, f)
    columns = []
    for unit in np.eye(36):
        z = np.zeros(36)
        substitute(A, f, unit, z)
        columns.append(z)
    M = np.array(columns)
    held = np.flatnonzero(np.repeat(free, 3) == 0)
    inner = np.flatnonzero(np.repeat(free, 3))
    assert not M[:, held].any()
    assert np.allclose(M[np.ix_(inner, inner)], M[np.ix_(inner, inner)].T, rtol=1e-10, atol=1e-12)
    assert np.linalg.eigvalsh(M[np.ix_(inner, inner)]).min() > 0


def coupled(shift: float = 1.0) -> tuple[Any, ...]:
    rng = np.random.default_rng(4)
    A, nv, node = matrix(shift=shift), 3, np.array([2, 9, 5], np.int64)
    J = rng.standard_normal((3, 3, nv))
    J[2] = 0.0  # a pin
    G = rng.standard_normal((nv, nv))
    R = G @ G.T + np.eye(nv)
    c = Carriers(nv, 3, node, J.reshape(-1), R.reshape(-1))
    free = np.ones(12, np.int64)
    free[node] = 0
    size = nv + 36
    m = CoupledRoom(size, *(np.zeros(size) for _ in range(6)), np.zeros(36), np.zeros(36), np.zeros(nv * nv))
    T = np.zeros((36, size))
    for k in range(12):
        if free[k]:
            T[3 * k : 3 * k + 3, nv + 3 * k : nv + 3 * k + 3] = np.eye(3)
    for a, k in enumerate(node):
        T[3 * k : 3 * k + 3, :nv] = J[a]
    whole = T.T @ A.dense() @ T
    whole[:nv, :nv] += R
    return A, IncompleteFactor.of(A, free), c, m, whole, free


def test_gradients_solve_the_coupled_system() -> None:
    A, f, c, m, whole, free = coupled()
    rows = np.concatenate([np.arange(3), 3 + np.flatnonzero(np.repeat(free, 3))])
    m.b[:] = np.random.default_rng(5).standard_normal(m.size)
    taken = solve(A, f, c, NOTHING, m, 1e-13, 200, -1.0)
    assert 0 < taken <= 40
    exact = np.linalg.solve(whole[np.ix_(rows, rows)], m.b[rows])
    assert np.allclose(m.x[rows], exact, rtol=1e-9, atol=1e-11)
    others = np.setdiff1d(np.arange(m.size), rows)
    assert not m.x[others].any()


def test_nodes_that_touch_the_mechanism() -> None:
    """Hard springs between nodes and what moves add Wᵀ C W, and few iterations: nodes give way to the mechanism."""
    A, f, c, m, whole, free = coupled()
    rng, node, nv = np.random.default_rng(8), np.array([1, 4, 4, 7], np.int64), 3
    J, normal = rng.standard_normal((4, 3, nv)), rng.standard_normal((4, 3))
    blocks = A.blocks.reshape(-1, 3, 3)
    hard = 1e5 * np.trace(blocks[A.first[node]], axis1=1, axis2=2)
    C = hard[:, None, None] * np.einsum("ci,cj->cij", normal, normal)
    for k, i in enumerate(node):
        W = np.zeros((3, m.size))
        W[:, :nv], W[:, nv + 3 * i : nv + 3 * i + 3] = -J[k], np.eye(3)
        whole = whole + W.T @ C[k] @ W
        blocks[A.first[i]] += C[k]
    rows = np.concatenate([np.arange(3), 3 + np.flatnonzero(np.repeat(free, 3))])
    m.b[:] = rng.standard_normal(m.size)
    taken = solve(A, f, c, Touching.of(node, C, J, blocks[A.first[node]]), m, 1e-10, 200, -1.0)
    assert 0 < taken <= 40
    exact = np.linalg.solve(whole[np.ix_(rows, rows)], m.b[rows])
    assert np.allclose(m.x[rows], exact, rtol=1e-6, atol=1e-7)


def test_gradients_go_on_from_a_solution() -> None:
    """From what they had they need few iterations for a right side that is nearly the same, to the same error."""
    A, f, c, m, whole, free = coupled()
    rows = np.concatenate([np.arange(3), 3 + np.flatnonzero(np.repeat(free, 3))])
    m.b[:] = np.random.default_rng(5).standard_normal(m.size)
    size = reach(A, f, c, NOTHING, m)
    taken = solve(A, f, c, NOTHING, m, 1e-6, 200, -1.0)
    m.b[:] += 1e-4 * np.random.default_rng(6).standard_normal(m.size)
    assert solve(A, f, c, NOTHING, m, 1e-6, 200, size) < taken
    exact = np.linalg.solve(whole[np.ix_(rows, rows)], m.b[rows])
    assert np.allclose(m.x[rows], exact, atol=1e-5)
    A, f, c, m, _, _ = coupled(shift=-40.0)
    assert reach(A, f, c, NOTHING, m) < 0


def test_a_matrix_that_is_not_positive_is_told() -> None:
    A, f, c, m, _, _ = coupled(shift=-40.0)
    m.b[:] = 1.0
    assert solve(A, f, c, NOTHING, m, 1e-12, 500, -1.0) == BENT


def test_too_few_iterations_are_told() -> None:
    A, f, c, m, _, _ = coupled()
    m.b[:] = np.random.default_rng(5).standard_normal(m.size)
    assert solve(A, f, c, NOTHING, m, 1e-13, 1, -1.0) == 2


@pytest.mark.parametrize("kind", ["positive", "indefinite"])
def test_stiffness_is_made_positive(kind: str) -> None:
    from knuckle.elements.deformables.cell_loops import is_positive, make_positive

    rng = np.random.default_rng(7)
    Q, _ = np.linalg.qr(rng.standard_normal((9, 9)))
    values = np.linspace(0.1, 3.0, 9) if kind == "positive" else np.linspace(-2.0, 3.0, 9)
    H = (Q * values) @ Q.T
    flat, work, axes = H.reshape(-1).copy(), np.zeros(81), np.zeros(81)
    assert is_positive(flat, 9, 0.0, work) == (kind == "positive")
    make_positive(flat, 9, 0.5, work, axes)
    assert np.allclose(flat.reshape(9, 9), (Q * np.maximum(values, -0.5)) @ Q.T, atol=1e-10)
