"""Many contacts on arrays: the law of Signorini and Coulomb, and what the solver over scalars finds."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle.algorithms.contact.cone_problem import ConeProblem, residual
from knuckle.algorithms.contact.cone_rounds import solved
from knuckle.algorithms.contact.impulse_laws import PUSHES, Bounds, Cone
from knuckle.solvers.cone_newton import solved_on_arrays


def some_contacts(seed: int, contacts: int, freedoms: int) -> tuple[np.ndarray, ConeProblem]:
    """Contacts on a mechanism with fewer freedoms than rows, some of which slide, and friction of a joint."""
    rng = np.random.default_rng(seed)
    laws = [Cone(x) for x in rng.uniform(0.1, 1.0, contacts)] + [Cone(0.5, 0.1, 0.05), PUSHES, Bounds(-0.1, 0.1)]
    n = sum(law.rows for law in laws)
    T = rng.normal(size=(n, freedoms))
    b = T @ rng.normal(size=freedoms)  # a velocity of the mechanism, so that no row can do what others forbid
    A = T @ T.T / freedoms
    return A, ConeProblem.of(A.tolist(), b.tolist(), laws)


@pytest.mark.parametrize("seed", range(12))
def test_the_law_holds_and_no_energy_is_made(seed: int):
    A, problem = some_contacts(seed, 10, 14)
    n = len(problem.b)
    impulses, left = solved_on_arrays(A, problem, [0.0] * n, 60, 1e-10)
    assert left == pytest.approx(float(residual(problem, impulses)), rel=1e-6, abs=1e-14)
    assert left < 1e-7
    x, b = np.array(impulses), np.array(problem.b)
    assert x @ (b + A @ x / 2) <= 1e-9
    assert np.abs(x).max() > 0.1


@pytest.mark.parametrize("seed", range(6))
def test_what_is_found_is_never_worse_than_the_guess(seed: int):
    """Whatever the guess, and however few rounds there are."""
    A, problem = some_contacts(seed, 10, 8)
    for scale in (0.0, 0.1, 10.0):
        guess = problem_guess(problem, seed, scale)
        before = float(residual(problem, guess))
        for rounds in (1, 3, 10):
            _, left = solved_on_arrays(A, problem, guess, rounds, 1e-12)
            assert left <= before * (1 + 1e-12)


def problem_guess(problem: ConeProblem, seed: int, scale: float) -> list[float]:
    """Impulses that the laws allow."""
    trial = (scale * np.random.default_rng(seed).normal(size=len(problem.b))).tolist()
    return [float(x) for block in problem.blocks for x in block.law.projected([trial[i] for i in block.rows])]


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_what_the_solver_over_scalars_finds(seed: int):
    """With more freedoms than rows impulses are unique where friction is slight."""
    A, problem = some_contacts(seed, 2, 40)
    n = len(problem.b)
    found, _ = solved_on_arrays(A, problem, [0.0] * n, 60, 1e-12)
    expected, _ = solved(problem, [0.0] * n, 60, 1e-12)
    np.testing.assert_allclose(found, [float(x) for x in expected], rtol=0, atol=1e-8)
