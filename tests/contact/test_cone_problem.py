"""Cones and bounds: what is solved satisfies Signorini's and Coulomb's law."""

import math
from typing import Any

import numpy as np
import pytest
from tests.seeds import seeds

from knuckle.algorithms.contact import cone_rounds
from knuckle.algorithms.contact.cone_problem import ConeProblem, residual
from knuckle.algorithms.contact.cone_rounds import solved
from knuckle.algorithms.contact.impulse_laws import PUSHES, Bounds, Cone


def check(A: np.ndarray, b: np.ndarray, laws: list, impulses: np.ndarray, size: float) -> None:
    u, n, eps = A @ impulses + b, 0, 1e-8 * size
    for law in laws:
        x, w = impulses[n : n + law.rows], u[n : n + law.rows]
        n += law.rows
        if isinstance(law, Cone):
            assert x[0] >= 0
            assert w[0] >= -eps
            assert abs(x[0] * w[0]) <= eps * max(1, x[0])
            assert np.hypot(*x[1:]) <= law.mu * x[0] * (1 + 1e-9) + 1e-12
            slip = np.hypot(*w[1:])
            if slip > 1e3 * eps:
                np.testing.assert_allclose(x[1:], -law.mu * x[0] * w[1:] / slip, atol=1e-6 * max(1, x[0]))
        elif law is PUSHES:
            assert x[0] >= 0
            assert w[0] >= -eps
            assert abs(x[0] * w[0]) <= eps * max(1, x[0])
        else:
            assert law.lower <= x[0] <= law.upper
            assert abs(w[0]) <= eps or (w[0] > 0 and x[0] == law.lower) or (w[0] < 0 and x[0] == law.upper)


def problem(seed: int, columns: int) -> tuple[np.ndarray, np.ndarray, list]:
    """Three cones, a push and a bound, on a mechanism with so many freedoms."""
    rng = np.random.default_rng(seed)
    laws = [Cone(rng.uniform(0.1, 1.5)) for _ in range(3)] + [PUSHES, Bounds(-0.3, 0.3)]
    J = rng.normal(size=(11, columns))
    return J @ J.T, J @ rng.normal(size=columns), laws


def solution(A: np.ndarray, b: np.ndarray, laws: list) -> tuple[np.ndarray, float]:
    made = ConeProblem.of(A.tolist(), b.tolist(), laws)
    found, left = solved(made, [0.0] * len(b), 40, 1e-12)
    assert float(left) == pytest.approx(float(residual(made, found)), abs=1e-13)
    return np.array(found, float), float(left) / np.abs(b).max()


@pytest.mark.parametrize("seed", seeds(60, quick=8))
def test_random_problems_with_every_law(seed: int):
    A, b, laws = problem(seed, 14)
    found, left = solution(A, b, laws)
    assert left <= 1e-8
    check(A, b, laws, found, np.abs(b).max())


@pytest.mark.slow
def test_more_contacts_than_freedoms():
    """Impulses are not unique then, and from no guess at all a few are not found: the residual says which."""
    found = 0
    for seed in range(40):
        A, b, laws = problem(seed, 6)
        impulses, left = solution(A, b, laws)
        if left <= 1e-8:
            check(A, b, laws, impulses, np.abs(b).max())
            found += 1
    assert found >= 36


def test_feet_on_four_corners():
    """Twelve impulses on six freedoms: corners that stick, slide and lift. Four hundred feet at once."""
    rng, count = np.random.default_rng(0), 400
    at = [(x, y, 0.0) for x in (-0.08, 0.1) for y in (-0.05, 0.05)]
    axes = np.roll(np.eye(3), 1, axis=1)[[1, 2, 0]]
    J = np.array([[*d, *np.cross(r, d)] for r in at for d in axes])
    L = rng.normal(size=(count, 6, 6))
    Y = J @ L
    A = Y @ Y.transpose(0, 2, 1)
    b = rng.normal(size=(count, 6)) * [0.3, 0.3, 0.3, 2.0, 2.0, 2.0] @ J.T - np.tile([0.2, 0.0, 0.0], 4)
    made = ConeProblem.of([list(row) for row in A.transpose(1, 2, 0)], list(b.T), [Cone(0.8)] * 4)
    found, left = solved(made, [np.zeros(count)] * 12, 40, 1e-12)
    assert np.max(left) <= 1e-7
    assert np.max(residual(made, found)) <= 1e-7


def test_nothing_to_solve():
    assert solved(ConeProblem.of([], [], []), [], 5, 1e-12)[0] == []


@pytest.mark.parametrize("seed", range(4))
def test_axes_find_what_rows_find(seed: int):
    """Eight corners of two feet act along six axes each: the same law, and the same motion, by half the unknowns."""
    rng = np.random.default_rng(seed)
    at = [(x, y, 0.0) for x in (-0.08, 0.1) for y in (-0.05, 0.05)]
    directions = np.roll(np.eye(3), 1, axis=1)[[1, 2, 0]]
    J = np.kron(np.eye(2), [[*np.cross(r, d), *d] for r in at for d in directions])
    Y = rng.normal(size=(12, 14)) / 4
    G, b = Y @ Y.T, J @ (Y @ rng.normal(size=14)) - np.tile([0.2, 0.0, 0.0], 8)
    laws = [Cone(0.7)] * 8
    parts = [{k: float(x) for k, x in enumerate(row) if x} for row in J]
    along = ConeProblem.along(G.tolist(), parts, b.tolist(), laws)
    assert along.inertia is not None
    found, left = solved(along, [0.0] * 24, 40, 1e-12)
    expected, _ = solution(J @ G @ J.T, b, laws)
    assert float(left) <= 1e-9
    check(J @ G @ J.T, b, laws, np.array(found, float), np.abs(b).max())
    np.testing.assert_allclose(G @ J.T @ np.array(found, float), G @ J.T @ expected, rtol=0, atol=1e-7)


def test_axes_along_which_nothing_responds():
    """A plate on a slider stands on four corners: five of its six axes are rigid, and one stops it."""
    at = [(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    J = np.array([[*np.cross(r, d), *d] for r in at for d in np.eye(3)[[2, 0, 1]]])
    G = np.zeros((6, 6))
    G[5, 5] = 0.5
    b = J @ [0, 0, 0, 0, 0, -1.0]
    parts = [{k: float(x) for k, x in enumerate(row) if x} for row in J]
    found, left = solved(ConeProblem.along(G.tolist(), parts, b.tolist(), [Cone(0.5)] * 4), [0.0] * 12, 40, 1e-12)
    assert float(left) <= 1e-10
    assert np.array(found, float)[::3].sum() == pytest.approx(2.0, abs=1e-9)


def test_rounds_end_where_nothing_more_comes_of_them(monkeypatch: pytest.MonkeyPatch):
    """Two corners of a foot stick with gaps g₁ and g₂ of their own: a rigid foot cannot close both without a slip of
    the second order, half of (g₁ − g₂)²/(L dt) at each, and as much is left by a few rounds as by many."""
    dt, rng = 2e-3, np.random.default_rng(2)
    gaps = np.array([2e-6, 1e-6, 1.5e-6, 1e-3])
    at = [np.array([x, y, z - 0.8]) for (x, y), z in zip([(-9, -5), (-9, 5), (9, -5), (9, 5)], gaps, strict=True)]
    J = np.array([[*np.cross(p * (0.01, 0.01, 1), d), *d] for p in at for d in np.eye(3)[[2, 0, 1]]])
    W = rng.normal(size=(6, 6))
    response = np.linalg.inv(np.diag([1.0, 1.0, 0.5, 10.0, 10.0, 10.0]) + 0.1 * W @ W.T)
    b = J @ [0, 0, 0, 0, 0, -9.81 * dt] + np.kron(gaps / dt, [1, 0, 0])
    parts = [{k: float(x) for k, x in enumerate(row) if x} for row in J]
    made = ConeProblem.along(response.tolist(), parts, b.tolist(), [Cone(0.5)] * 4)
    guess, rounds, one = [0.1, 0.0, 0.0] * 2 + [0.0] * 6, list[int](), cone_rounds._round
    monkeypatch.setattr(cone_rounds, "_round", lambda *args: rounds.append(1) or one(*args))
    left, few = float(solved(made, guess, 40, 1e-11)[1]), len(rounds)
    for name in ("STILL", "SAME"):
        monkeypatch.setattr(cone_rounds, name, 0.0)
    assert left == pytest.approx(float(solved(made, guess, 40, 1e-11)[1]), rel=0.01)
    assert left == pytest.approx(0.5 * (1.5e-6 - 1e-6) ** 2 / (0.01 * np.hypot(18, 10) * dt), rel=0.3)
    assert few < 6
    assert len(rounds) > 3 * few


def test_rounds_go_on_where_equations_are_singular(monkeypatch: pytest.MonkeyPatch):
    """Newton's method without a result in the first rounds: neither impulses nor the residual are lost in it."""
    A, b, laws = problem(3, 14)
    expected, _ = solution(A, b, laws)
    one, rounds = cone_rounds.newton, list[int]()

    def at_first_nothing(*args: Any) -> Any:
        rounds.append(1)
        return one(*args) if len(rounds) > 2 else [math.nan] * len(b)

    monkeypatch.setattr(cone_rounds, "newton", at_first_nothing)
    found, left = solution(A, b, laws)
    assert left <= 1e-10
    np.testing.assert_allclose(A @ found, A @ expected, atol=1e-9 * np.abs(b).max())
