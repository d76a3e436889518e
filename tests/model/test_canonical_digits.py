"""The canonical form costs no digits: mechanisms whose parts lie hundreds of metres along the axes of their joints."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.joints import (
    Continuous,
    Cylindrical,
    Helical,
    Planar,
    PlanarLocal,
    Prismatic,
    Revolute,
    Spherical,
    Translational,
    Universal,
    YawPitchRoll,
)
from knuckle.model import Model, solid_box
from knuckle.model.canonical.canonical_form import canonical
from knuckle.model.canonical.frame_reach import GROWTH, LOSS, reach
from knuckle.spatial import Inertia

from ..seeds import quick

EPS = np.finfo(float).eps
SLANTED = (0.6, 0.0, 0.8)
USUAL = [Revolute("x"), Revolute("y"), Revolute("z"), Continuous("z"), Revolute(SLANTED)]
OTHERS = [
    Prismatic("x"), Spherical(), Cylindrical("y"), Universal(), Planar("z"), PlanarLocal("y"), Helical("x", 0.1),
    Translational(), YawPitchRoll(),
]  # fmt: skip
STEP = 1e-7


def long_chain(seed: int) -> Model:
    """Two to five bodies, of a gram to ten tons and of centimetres to metres, up to a kilometre along the axes."""
    rng = np.random.default_rng(seed)
    b, last = kn.Builder(f"far {seed}"), np.zeros(3)
    for i in range(int(rng.integers(2, 6))):
        kind: Any = (
            (USUAL + OTHERS)[rng.integers(len(USUAL + OTHERS))] if rng.random() < 0.3 else USUAL[rng.integers(5)]
        )
        axis = np.array(getattr(kind, "axis", (0, 0, 1)), float)
        at, com = rng.normal(size=(2, 3)) * 0.3 * rng.integers(0, 2, size=(2, 1))
        at = at + (last if rng.random() < 0.5 else 0) * 10 ** rng.uniform(1, 3) * rng.choice([-1, 1])
        com = com + (axis if rng.random() < 0.3 else 0) * 10 ** rng.uniform(1, 3) * rng.choice([-1, 1])
        turned = (0, 0, 0) if rng.random() < 0.2 else np.pi / 2 * rng.integers(-1, 3, size=3)
        rpy = turned if rng.random() < 0.6 else rng.normal(size=3)
        solid = solid_box(float(10 ** rng.uniform(-3, 4)), tuple(10 ** rng.uniform(-1.5, 0.7, size=3)))
        parent = None if i == 0 else f"b{i - 1 if rng.random() < 0.8 else int(rng.integers(i))}"
        place = {"xyz": tuple(at), "rpy": tuple(rpy)}
        b.body(f"b{i}", parent, kind, place, inertia=Inertia.of(solid.mass, tuple(com), solid.I_com.matrix))
        last = axis
    return b.build()


def mass_matrix(model: Model, q: np.ndarray) -> np.ndarray:
    return np.array(kn.mass_matrix(model, q), float)


def exact(model: Model, q: np.ndarray) -> np.ndarray:
    """H with sixty digits, from the very numbers of the model."""
    with mp.workdps(60):
        H = kn.mass_matrix(model.with_scalars(mp.mpf), [mp.mpf(float(x)) for x in q])
        return np.array([[x for x in row] for row in np.asarray(H, object)], object)


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, in parts of √(H_ii H_jj)."""
    with mp.workdps(60):
        size = np.sqrt(np.abs(np.diag(b)).astype(float))
        return float(np.max(np.abs((a - b).astype(float)) / np.outer(size, size)))


def sensitivity(model: Model, q: np.ndarray) -> float:
    """How much of H changes with a small part of every length and inertia: what rounding of the data costs alone."""
    H = mass_matrix(model, q)
    changes = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        other = model.with_scalars(lambda x: float(x) * (1 + STEP * rng.uniform(-1, 1)))  # noqa: B023
        changes.append(apart(mass_matrix(other, q), H))
    return max(1.0, max(changes) / STEP)


@pytest.mark.parametrize("first", quick(range(0, 100, 10), [0, 10, 20]))
def test_long_chains_keep_their_digits(first: int):
    for seed in range(first, first + 10):
        model = long_chain(seed)
        q, form = kn.random_configuration(model, seed), canonical(model)
        H, limit = exact(model, q), 4 * LOSS * EPS * sensitivity(model, q)
        for other in (form.model, form.light):
            assert apart(mass_matrix(other, q), H) < limit, seed


@pytest.mark.parametrize("far", [30.0, 300.0, 3000.0])
def test_a_heavy_body_stays_where_it_is(far: float):
    """A light tip hundreds of metres along the axis of a heavy body does not draw its frame there."""
    b = kn.Builder("mast")
    b.body("foot", None, Revolute("x"), inertia=solid_box(1.0, (0.1, 0.1, 0.1)))
    b.body("mast", "foot", Revolute("y"), (0.1, 0.2, 0.3), inertia=solid_box(1e4, (0.2, 0.1, 0.15)))
    b.body("tip", "mast", Revolute(SLANTED), (0.01, far, 0.02), inertia=solid_box(1e-6, (0.1, 0.1, 0.1)))
    model, q = b.build(), np.array([0.3, 0.5, 0.7])
    H = exact(model, q)
    size = np.sqrt(np.diag(H).astype(float))
    assert np.linalg.cond(H.astype(float) / np.outer(size, size)) < 100
    for other in (model, canonical(model).model, canonical(model).light):
        assert apart(mass_matrix(other, q), H) < 100 * EPS


def test_how_far_a_body_may_be_looked_at():
    ball = solid_box(2.0, (0.1, 0.1, 0.1))
    radius = 0.1 / np.sqrt(6)
    assert reach(ball) == pytest.approx(radius * np.sqrt(LOSS))
    assert reach(Inertia.of(2.0, (0, 0, 300.0), ball.I_com.matrix)) == pytest.approx(GROWTH * 300.0)
    assert reach(Inertia.zero()) == np.inf
    rod = Inertia.of(2.0, (0, 0, 0.5), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0)))
    assert reach(rod) == pytest.approx(GROWTH * 0.5)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", [Planar("z"), Planar("x"), PlanarLocal("z"), Translational(), Prismatic("z")])
@pytest.mark.parametrize(
    "rpy", [(0, 0, np.pi), (np.pi, 0, 0), (0, np.pi / 2, np.pi), (0, 0, np.pi / 2), (0.3, 0.2, 3.0)]
)
def test_half_a_turn_does_not_commute_with_every_joint(kind: Any, rpy: Any, monkeypatch: pytest.MonkeyPatch):
    """It turns the directions round in which a planar or translational joint slides."""
    b = kn.Builder("table")
    rpy = tuple(np.pi / 2 * np.array(rpy))
    b.body("table", None, kind, {"rpy": rpy}, mass=2.0, com=(0.2, 0.1, 0.3), inertia=(0.1, 0.2, 0.3))
    b.body("arm", "table", Revolute("y"), {"xyz": (0.2, -0.3, 0.1), "rpy": rpy}, mass=1.0, com=(0.3, 0.1, 0.2))
    b.body("hand", "arm", Revolute("z"), {"xyz": (0.2, 0.0, 0.0), "rpy": rpy}, mass=0.5, com=(0.1, 0.2, 0.3))
    model = b.build()
    q, v, a = np.random.default_rng(3).normal(size=(3, model.nv))
    H, tau = mass_matrix(model, q), kn.inverse_dynamics(model, q, v, a)
    form = canonical(model)
    for other in (form.model, form.light):
        np.testing.assert_allclose(mass_matrix(other, q), H, atol=1e-13)
        np.testing.assert_allclose(kn.inverse_dynamics(other, q, v, a), tau, atol=1e-12)
    monkeypatch.setattr(kernels, "policy", "always")
    np.testing.assert_allclose(kn.inverse_dynamics(model, q, v, a), tau, atol=1e-12)
