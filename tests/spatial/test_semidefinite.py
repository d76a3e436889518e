"""Inverses of symmetric matrices that may be singular, with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle.spatial.linear.semidefinite import semidefinite_inverse


def inverse(A: np.ndarray) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in semidefinite_inverse(A.tolist()).rows])


@pytest.mark.parametrize("seed", range(3))
def test_of_a_regular_matrix_it_is_the_inverse(seed: int):
    X = np.random.default_rng(seed).normal(size=(7, 9))
    A = X @ X.T
    np.testing.assert_allclose(inverse(A) @ A, np.eye(7), atol=1e-12 * np.linalg.cond(A))


@pytest.mark.parametrize("seed", range(5))
def test_of_a_singular_one_it_is_an_inverse_where_there_is_one(seed: int):
    """Of twelve axes two say what others say, at other scales: A X A is A, and X is not lost in rounding."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(12, 10)) * 10 ** rng.uniform(-1, 1, (12, 1))
    Y[rng.permutation(12)[:2]] = rng.normal(size=(2, 12)) @ Y
    A = Y @ Y.T
    X, scale = inverse(A), np.sqrt(np.outer(np.diag(A), np.diag(A)))
    assert np.abs((A @ X @ A - A) / scale).max() < 1e-5
    x = Y @ rng.normal(size=10)  # a motion that there is
    np.testing.assert_allclose(A @ (X @ x), x, atol=1e-5 * np.abs(x).max())


def test_what_does_not_respond_at_all_is_rigid():
    A = np.diag([2.0, 0.0, 3.0])
    np.testing.assert_allclose(np.diag(inverse(A))[[0, 2]], [0.5, 1 / 3])
    assert inverse(A)[1, 1] > 1e12
