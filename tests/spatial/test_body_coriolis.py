"""2B of a body: what its force gains with its velocity."""

from __future__ import annotations

import numpy as np
import pytest

from knuckle.spatial import Force, Inertia, Motion, PlanarForce, PlanarMotion, PlanarTransform, project
from knuckle.testing import random_inertia, random_transform


def numbers(x: Force | PlanarForce) -> list[float]:
    return [float(c) for c in x.components]


@pytest.mark.parametrize("seed", range(3))
def test_twelve_numbers_for_a_map_of_36(seed: int) -> None:
    rng = np.random.default_rng(seed)
    I, X = random_inertia(rng), random_transform(rng)
    v, u, w = (Motion.of(rng.normal(size=6).tolist()) for _ in range(3))
    B = I.coriolis(v)
    wanted = I.rate(v) @ u + u.cross(I @ v)
    np.testing.assert_allclose(numbers(B @ u), numbers(wanted), atol=1e-13)
    assert float(w.dot(B @ u)) == pytest.approx(float(u.dot(B.T @ w)), abs=1e-12)
    carried = X.T @ B @ X
    np.testing.assert_allclose(numbers(carried @ u), numbers(X.T @ (B @ (X @ u))), atol=1e-12)
    total = (B + Inertia.coriolis(I, w)) @ u
    np.testing.assert_allclose(numbers(total), numbers(B @ u + I.coriolis(w) @ u), atol=1e-12)
    np.testing.assert_allclose(numbers(v.cross(B.momentum)), numbers(v.cross(I @ v)), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_its_twin_in_the_plane(seed: int) -> None:
    rng = np.random.default_rng(seed)
    I = project(random_inertia(rng))
    angle, x, y = rng.normal(size=3)
    X = PlanarTransform(float(np.cos(angle)), float(np.sin(angle)), float(x), float(y))
    v, u, w = (PlanarMotion.of(rng.normal(size=3).tolist()) for _ in range(3))
    B = I.coriolis(v)
    np.testing.assert_allclose(numbers(B @ u), numbers(I.rate(v) @ u + u.cross(I @ v)), atol=1e-13)
    assert float(w.dot(B @ u)) == pytest.approx(float(u.dot(B.T @ w)), abs=1e-12)
    np.testing.assert_allclose(numbers((X.T @ B @ X) @ u), numbers(X.T @ (B @ (X @ u))), atol=1e-12)
    np.testing.assert_allclose(numbers((B + I.coriolis(w)) @ u), numbers(B @ u + I.coriolis(w) @ u), atol=1e-12)
