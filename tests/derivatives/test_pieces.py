"""Derivatives through pieces: equations solved in loops, rounds that settle and rounds that do not, pieces called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.scalar import absolute, less, select, sin
from knuckle.spatial import Matrix, Vector, called, repeated
from knuckle.spatial.linear.elimination import MANY, solve

from .cases import MECHANISMS

N = MANY + 2
RNG = np.random.default_rng(5)
BASE = RNG.normal(size=(N, N)) + 2 * N * np.eye(N)
WEIGHTS = RNG.normal(size=N)


def complex_step(f: Any, x: Any) -> Any:
    h = 1e-30
    return np.stack([np.imag(f(x + 1j * h * e)) / h for e in np.eye(len(x))], axis=-1)


@kn.kernel
def solved(model: kn.Model, x: Any) -> Any:
    """The solution of equations whose matrix and right-hand side change with x; no symmetry in it."""
    rows = [[BASE[i, j] + x[i] * x[j] * (1.0 + 0.1 * i) for j in range(N)] for i in range(N)]
    return solve(Matrix(rows, N), Vector(x[i] + 1.0 for i in range(N)))


def test_equations_in_loops() -> None:
    model, x = MECHANISMS["tree"]().model, RNG.normal(size=N)
    scale = np.diag(1.0 + 0.1 * np.arange(N))
    wanted = complex_step(lambda x: np.linalg.solve(BASE + scale @ np.outer(x, x), x + 1.0), x)
    np.testing.assert_allclose(solved.jacobian(model, x)["x"], wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solved.vjp(model, x, weight=WEIGHTS)["x"], WEIGHTS @ wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solved.jvp(model, x, along={"x": WEIGHTS})[1], wanted @ WEIGHTS, rtol=0, atol=1e-12)


@kn.kernel
def root(model: kn.Model, a: Any, b: Any, *, settles: bool) -> Any:
    """y with y² = a b by Newton's rounds."""

    def better(_: Any, y: Any) -> Any:
        new = (y + a * b / y) / 2
        return select(less(absolute(new - y), 1e-13), 0.0, 1.0), new

    return repeated(better, (1.0, a), 40, settles=settles)[1]


@pytest.mark.parametrize("settles", [True, False])
def test_rounds_that_settle(settles: bool) -> None:
    model, a, b = MECHANISMS["tree"]().model, 3.0, 0.7
    y = np.sqrt(a * b)
    for found in (root.grad(model, a, b, settles=settles), root.jacobian(model, a, b, settles=settles)):
        np.testing.assert_allclose([found["a"], found["b"]], [b / (2 * y), a / (2 * y)], rtol=1e-10)


@kn.kernel
def slow_root(model: kn.Model, a: Any) -> Any:
    """The same by rounds that come nearer by a factor: the way there has no end, and its derivatives too."""

    def better(_: Any, y: Any) -> Any:
        new = y - 0.2 * (y * y - a)
        return select(less(absolute(new - y), 1e-15), 0.0, 1.0), new

    return repeated(better, (1.0, a), 200, settles=True)[1]


def test_rounds_that_settle_slowly_are_differentiated_at_their_end() -> None:
    model = MECHANISMS["tree"]().model
    np.testing.assert_allclose(slow_root.grad(model, 2.0)["a"], 0.5 / np.sqrt(2.0), rtol=1e-12)
    np.testing.assert_allclose(slow_root.jvp(model, 2.0, along={"a": 1.0})[1], 0.5 / np.sqrt(2.0), rtol=1e-12)


@kn.kernel
def power(model: kn.Model, a: Any, y: Any) -> Any:
    """a⁵ y, round by round: it settles nowhere."""
    return repeated(lambda left, y: (left - 1.0, a * y), (4.5, y), 9)[1]


def test_rounds_that_do_not_settle() -> None:
    found = power.grad(MECHANISMS["tree"]().model, 1.3, 0.7)
    np.testing.assert_allclose([found["a"], found["y"]], [5 * 1.3**4 * 0.7, 1.3**5], rtol=1e-13)


@kn.kernel
def twice(model: kn.Model, x: Any) -> Any:
    """A piece that is called three times, long enough to stay one."""

    def long(y: Vector) -> Vector:
        for _ in range(12):
            y = Vector(sin(a) * b + a for a, b in zip(y, (*list(y)[1:], y[0]), strict=True))
        return y

    piece = called(long)
    return piece(piece(piece(Vector(x))))


def test_pieces_that_are_called() -> None:
    model, x, w = MECHANISMS["tree"]().model, 0.1 * RNG.normal(size=3), RNG.normal(size=3)

    def plain(x: Any) -> Any:
        for _ in range(36):
            x = np.sin(x) * np.roll(x, -1) + x
        return x

    wanted = complex_step(plain, x)
    np.testing.assert_allclose(twice.jacobian(model, x)["x"], wanted, rtol=1e-11)
    np.testing.assert_allclose(twice.vjp(model, x, weight=w)["x"], w @ wanted, rtol=1e-10)
    np.testing.assert_allclose(twice.jvp(model, x, along={"x": w})[1], wanted @ w, rtol=1e-10)
