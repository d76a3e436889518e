"""Dense equations in loops: A x = b, in every lane, whatever is zero in A."""

from typing import Any

import numpy as np
import pytest

from knuckle.engine.trace import Eliminate, Substitute
from knuckle.spatial import Matrix, Vector
from knuckle.spatial.linear.elimination import eliminated

from .compiled import Vectors, record


def two_systems(n: int) -> Any:
    """The solutions of two systems; the first is solved when the second is eliminated already."""

    def text(x: Any) -> Any:
        first, second = (Matrix([x[(s + i) * n : (s + i + 1) * n] for i in range(n)], n) for s in (0, n))
        b = Vector(x[2 * n * n :])
        parts = [eliminated(A, n) for A in (first, second)]
        return Vector([*parts[0].solve(b), *parts[1].solve(b), *parts[0].solve(2 * b)])

    return text


def systems(n: int, states: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Matrices of which some rows are those of the identity, in all states or in some."""
    rng = np.random.default_rng(n)
    A = rng.normal(size=(states, 2, n, n)) / n + np.eye(n)
    for i in (*range(3, 6), n - 1):
        A[:, :, i] = np.eye(n)[i]
    A[::2, 0, 6:9] = np.eye(n)[6:9]
    return A[:, 0], A[:, 1], rng.normal(size=(states, n))


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("n", [10, 11, 12, 18])
def test_solutions(n: int, width: int):
    first, second, b = systems(n, 9)
    program = record(two_systems(n), x=(2 * n * n + n,))
    assert {type(block) for block in program.blocks} == {Eliminate, Substitute}
    given = np.concatenate([first.reshape(9, -1), second.reshape(9, -1), b], axis=1)
    found = Vectors(program, width=width)(given).reshape(9, 3, n)
    x, y = (np.linalg.solve(A, b[..., None])[..., 0] for A in (first, second))
    np.testing.assert_allclose(found, np.stack([x, y, 2 * x], axis=1), rtol=0, atol=1e-12)
    np.testing.assert_allclose([program.evaluate(row) for row in given], found.reshape(9, -1), rtol=0, atol=1e-12)
