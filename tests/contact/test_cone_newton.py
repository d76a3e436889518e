"""Many contacts by loops over numbers: the law of Signorini and Coulomb, and what the solver over scalars finds."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle.algorithms.contact.cone_problem import ConeProblem, residual
from knuckle.algorithms.contact.cone_rounds import solved as solved_over_scalars
from knuckle.algorithms.contact.impulse_laws import PUSHES, Bounds, Cone
from knuckle.engine.routines import routine
from knuckle.solvers.cones.cone_solver import solved
from knuckle.solvers.cones.contact_table import (
    BOUNDS,
    CONE,
    ENTRIES,
    FIRST,
    FIRST_SIZE,
    LAW,
    LOWER,
    REAL,
    ROLLING,
    ROW,
    SIZE,
    SLIDING,
    TURNING,
    UPPER,
    WHOLE,
    Cones,
    steps,
)
from knuckle.solvers.cones.envelope import envelope
from knuckle.solvers.cones.problem import room_for

Law = Cone | Bounds


@routine
def solution(p: Cones, count: int) -> float:
    steps(p, count)
    envelope(p, count)
    return solved(p, count)


def some_contacts(seed: int, contacts: int, freedoms: int) -> tuple[np.ndarray, np.ndarray, list[Law]]:
    """Contacts on a mechanism with fewer freedoms than rows, some of which slide, and friction of a joint."""
    rng = np.random.default_rng(seed)
    laws: list[Law] = [Cone(x, 0.1 * x, 0.05 * x) for x in rng.uniform(0.1, 1.0, contacts)]
    laws += [PUSHES, Bounds(-0.1, 0.1)]
    T = rng.normal(size=(sum(law.rows for law in laws), freedoms))
    return T / np.sqrt(freedoms), T @ rng.normal(size=freedoms), laws  # b is a velocity of the mechanism


def found(Y: np.ndarray, b: np.ndarray, laws: list[Law], guess: np.ndarray, rounds: int) -> tuple[np.ndarray, float]:
    """Impulses and the residual."""
    n = Y.shape[1]
    p = room_for(len(laws), Y.size, n, n * n, (True, True, True), rounds, 1e-12)
    row = 0
    for c, law in enumerate(laws):
        w, s = p.whole[WHOLE * c :], p.real[REAL * c :]
        w[[ROW, SIZE, FIRST, FIRST_SIZE, ENTRIES]] = row, law.rows, 0, n, row * n
        w[LAW] = CONE if isinstance(law, Cone) else BOUNDS
        if isinstance(law, Cone):
            s[[SLIDING, TURNING, ROLLING]] = law.mu, law.torsional, law.rolling
        else:
            s[LOWER] = -np.inf if law.lower is None else law.lower
            s[UPPER] = np.inf if law.upper is None else law.upper
        row += law.rows
    p.Y[:], p.b[:row], p.impulses[:row] = Y.ravel(), b, guess
    left = solution(p, len(laws))
    return p.impulses[:row].copy(), left


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_the_law_holds_and_no_energy_is_made(seed: int):
    Y, b, laws = some_contacts(seed, 6, 14)
    A = Y @ Y.T
    problem = ConeProblem.of(A.tolist(), b.tolist(), laws)
    x, left = found(Y, b, laws, np.zeros(len(b)), 60)
    assert left == pytest.approx(float(residual(problem, x.tolist())), rel=1e-3, abs=1e-13)
    assert left < 1e-7
    assert x @ (b + A @ x / 2) <= 1e-9
    assert np.abs(x).max() > 0.1


@pytest.mark.parametrize("seed", range(6))
def test_what_is_found_is_never_worse_than_the_guess(seed: int):
    """Whatever the guess, and however few rounds there are."""
    Y, b, laws = some_contacts(seed, 6, 8)
    problem = ConeProblem.of((Y @ Y.T).tolist(), b.tolist(), laws)
    for scale in (0.0, 0.1, 10.0):
        guess = allowed(problem, seed, scale)
        before = float(residual(problem, guess))
        for rounds in (1, 3, 10):
            _, left = found(Y, b, laws, np.array(guess), rounds)
            assert left <= before * (1 + 1e-9)


def allowed(problem: ConeProblem, seed: int, scale: float) -> list[float]:
    """Impulses that the laws allow."""
    trial = (scale * np.random.default_rng(seed).normal(size=len(problem.b))).tolist()
    return [float(x) for block in problem.blocks for x in block.law.projected([trial[i] for i in block.rows])]


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_what_the_solver_over_scalars_finds(seed: int):
    """With more freedoms than rows impulses are unique where friction is slight."""
    Y, b, laws = some_contacts(seed, 2, 40)
    problem = ConeProblem.of((Y @ Y.T).tolist(), b.tolist(), laws)
    x, _ = found(Y, b, laws, np.zeros(len(b)), 60)
    expected, _ = solved_over_scalars(problem, [0.0] * len(b), 60, 1e-12)
    np.testing.assert_allclose(x, [float(y) for y in expected], rtol=0, atol=1e-8)
