"""(E + P G) x = b in loops, and products with G: in every lane, whatever is zero in P and b."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knuckle.engine.trace import EliminateResponse, Laid, Multiply, SubstituteResponse
from knuckle.spatial import Vector
from knuckle.spatial.linear.response import BLOCK, LoopedResponse

from .compiled import C, Vectors, record


def two_solutions(n: int) -> Any:
    """x and y with (E + P G) x = b and (E + P G) y = x, and G x."""

    def text(x: Any) -> Any:
        G, E, P, b = (x[part] for part in _parts(n))
        looped = LoopedResponse.of([dict(enumerate(G[i * n : (i + 1) * n])) for i in range(n)])
        assert looped is not None
        solve = looped.eliminated(list(E), list(P), list(b))
        first = solve(list(b))
        return Vector([*first, *solve(first), *looped.times(first)])

    return text


def _parts(n: int) -> list[slice]:
    ends = np.cumsum([0, n * n, BLOCK * n, BLOCK * n, n]).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


def equations(n: int, states: int) -> tuple[np.ndarray, ...]:
    """Blocks that are open in all states, in some, and in none."""
    rng = np.random.default_rng(n)
    Y = rng.normal(size=(states, n, n)) / np.sqrt(n)
    P = rng.uniform(0.2, 1.0, size=(states, n // BLOCK, 1, 1)) * np.eye(BLOCK) + 0.1 * rng.normal(
        size=(states, n // BLOCK, BLOCK, BLOCK)
    )
    b = rng.normal(size=(states, n // BLOCK, BLOCK))
    P[:, 1], b[:, 1] = 0.0, 0.0
    P[::2, 2], b[::2, 2] = 0.0, 0.0
    P[:, 3] = 0.0  # it has just opened
    return Y @ Y.transpose(0, 2, 1), np.eye(BLOCK) - 0.9 * P, P, b


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("n", [12, 18])
def test_solutions(n: int, width: int):
    G, E, P, b = equations(n, 9)
    program = record(two_solutions(n), x=(n * n + 7 * n,))
    assert {type(block) for block in program.blocks} == {Laid, EliminateResponse, SubstituteResponse, Multiply}
    given = np.concatenate([x.reshape(9, -1) for x in (G, E, P, b)], axis=1)
    found = Vectors(program, width=width)(given).reshape(9, 3, n)
    whole_E, whole_P = np.zeros((2, 9, n, n))
    for k in range(n // BLOCK):
        own = slice(BLOCK * k, BLOCK * (k + 1))
        whole_E[:, own, own], whole_P[:, own, own] = E[:, k], P[:, k]
    A = whole_E + whole_P @ G
    x = np.linalg.solve(A, b.reshape(9, n, 1))
    expected = np.concatenate([x, np.linalg.solve(A, x), G @ x], axis=-1).transpose(0, 2, 1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose([program.evaluate(row) for row in given], found.reshape(9, -1), rtol=0, atol=1e-11)


@pytest.mark.slow
def test_the_same_in_c(tmp_path: Path):
    G, E, P, b = equations(12, 4)
    program = record(two_solutions(12), x=(12 * 12 + 7 * 12,))
    given = np.concatenate([x.reshape(4, -1) for x in (G, E, P, b)], axis=1)
    code = C(program, tmp_path)
    found = np.array([code(row) for row in given]).reshape(4, -1)
    np.testing.assert_allclose(found, Vectors(program)(given), rtol=0, atol=1e-12)
