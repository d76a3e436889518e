"""Many contacts by loops over numbers: the law of Signorini and Coulomb, and what the solver over scalars finds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from knuckle.algorithms.contact.cone_problem import ConeProblem, residual
from knuckle.algorithms.contact.cone_rounds import solved as solved_over_scalars
from knuckle.algorithms.contact.impulse_laws import PUSHES, Bounds, Cone
from knuckle.algorithms.contact.rebound import solved_with_rebound as rebounding_over_scalars
from knuckle.algorithms.contact.rebound import without_gain
from knuckle.engine.routines import routine
from knuckle.solvers.cones.cone_solver import solved, solved_with_rebound, take_gain
from knuckle.solvers.cones.contact_table import (
    BOUNDS,
    CONE,
    ENTRIES,
    FIRST,
    FIRST_SIZE,
    LAW,
    LOWER,
    REAL,
    REBOUND,
    ROLLING,
    ROW,
    SIZE,
    SLIDING,
    TURNING,
    UPPER,
    WHOLE,
    Cones,
    steps,
    together,
)
from knuckle.solvers.cones.envelope import envelope
from knuckle.solvers.cones.problem import room_for

Law = Cone | Bounds


@routine
def solution(p: Cones, count: int) -> float:
    steps(p, count)
    envelope(p, count)
    return solved(p, count)


@routine
def rebounding(p: Cones, count: int) -> float:
    steps(p, count)
    envelope(p, count)
    return solved_with_rebound(p, count)


def some_contacts(seed: int, contacts: int, freedoms: int) -> tuple[np.ndarray, np.ndarray, list[Law]]:
    """Contacts on a mechanism with fewer freedoms than rows, some of which slide, and friction of a joint."""
    rng = np.random.default_rng(seed)
    laws: list[Law] = [Cone(x, 0.1 * x, 0.05 * x) for x in rng.uniform(0.1, 1.0, contacts)]
    laws += [PUSHES, Bounds(-0.1, 0.1)]
    T = rng.normal(size=(sum(law.rows for law in laws), freedoms))
    return T / np.sqrt(freedoms), T @ rng.normal(size=freedoms), laws  # b is a velocity of the mechanism


@routine
def tamed(p: Cones, count: int) -> float:
    together(p, count, p.impulses)
    take_gain(p, count)
    return 0.0


def found(
    Y: np.ndarray, b: np.ndarray, laws: list[Law], guess: np.ndarray, rounds: int, rebound: Sequence[float] = ()
) -> tuple[np.ndarray, float]:
    """Impulses and the residual; with the rebound of each contact, where there is any."""
    p = prepared(Y, b, laws, guess, rounds, rebound)
    left = (rebounding if rebound else solution)(p, len(laws))
    return p.impulses[: len(b)].copy(), left


def prepared(
    Y: np.ndarray, b: np.ndarray, laws: list[Law], guess: np.ndarray, rounds: int, rebound: Sequence[float] = ()
) -> Cones:
    """The problem in memory."""
    n = Y.shape[1]
    p = room_for(len(laws), Y.size, n, n * n, (True, True, True), rounds, 1e-12)
    row, real = 0, dict(enumerate(rebound))
    for c, law in enumerate(laws):
        w, s = p.whole[WHOLE * c :], p.real[REAL * c :]
        w[[ROW, SIZE, FIRST, FIRST_SIZE, ENTRIES]] = row, law.rows, 0, n, row * n
        w[LAW] = CONE if isinstance(law, Cone) else BOUNDS
        if isinstance(law, Cone):
            s[[SLIDING, TURNING, ROLLING]] = law.mu, law.torsional, law.rolling
        else:
            s[LOWER] = -np.inf if law.lower is None else law.lower
            s[UPPER] = np.inf if law.upper is None else law.upper
        s[REBOUND] = real.get(c, 0.0)
        row += law.rows
    p.Y[:], p.b[:row], p.free[:row], p.impulses[:row] = Y.ravel(), b, b, guess
    return p


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


def struck_rod(angle: float, mu: float) -> tuple[np.ndarray, np.ndarray, list[Law]]:
    """A rod of 1 m and 1 kg that strikes the ground with one end and slides (RBDA 11.72 makes energy of it)."""
    x, z = -0.5 * np.cos(angle), -0.5 * np.sin(angle)
    turn = np.sqrt(12.0)
    Y = np.zeros((6, 7))
    Y[0, [1, 2]], Y[1, [0, 2]] = (1.0, turn * x), (1.0, -turn * z)  # the normal and the way that it slides
    Y[2:, 3:] = np.eye(4)
    return Y, np.array([-1.0, 0.6, 0, 0, 0, 0]), [Cone(mu, 0.1, 0.1)]


@pytest.mark.parametrize("angle", [0.6, np.pi / 4, 1.2])
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_rebound_that_would_make_energy_keeps_it(angle: float, mu: float):
    """Newton's law with friction, e = 1: impulses are those of the solver over scalars, and no energy is made."""
    Y, b, laws = struck_rod(angle, mu)
    A, none, rebound = Y @ Y.T, np.zeros(6), np.array([-1.0, 0, 0, 0, 0, 0])
    high, _ = found(Y, b + rebound, laws, none, 60)
    gain = float(high @ (b + A @ high / 2))
    x, _ = found(Y, b, laws, none, 60, [-1.0])
    assert gain > 0.05
    assert x @ (b + A @ x / 2) == pytest.approx(0.0, abs=1e-9)
    problem = ConeProblem.of(A.tolist(), b.tolist(), laws)
    expected, _ = rebounding_over_scalars(problem, rebound.tolist(), b.tolist(), none.tolist(), 60, 1e-12)
    np.testing.assert_allclose(x, [float(y) for y in expected], rtol=0, atol=1e-8)


@pytest.mark.parametrize("size", [0.5, 1.5, 4.0])
def test_impulses_that_are_not_solved_bring_no_energy(size: float):
    """They are made smaller to where they bring none, along with the velocity that they make; else they stay."""
    Y, b, laws = struck_rod(np.pi / 4, 1.0)
    solved_ones, _ = found(Y, b, laws, np.zeros(6), 60)
    p = prepared(Y, b, laws, size * 2 * solved_ones, 60)
    before = p.impulses[:6].copy()
    tamed(p, 1)
    x, A = p.impulses[:6], Y @ Y.T
    gain = float(before @ (b + A @ before / 2))
    part = 1.0 if gain <= 0 else -(before @ b) / (before @ A @ before / 2)
    assert float(without_gain(float(before @ b), float(before @ A @ before))) == pytest.approx(part, abs=1e-12)
    np.testing.assert_allclose(x, part * before, atol=1e-12)
    np.testing.assert_allclose(p.z, Y.T @ x, atol=1e-12)
    assert x @ (b + A @ x / 2) <= 1e-12
    assert (gain > 0) == (size > 1)
