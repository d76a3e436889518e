"""Positions that close the loops: from a guess, with joints kept, or none."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.testing.loops.linkages import Linkage, crank_slider, four_bar


def test_from_a_guess_nearby(linkage: Linkage, rng: np.random.Generator):
    model = linkage.model
    guess = kn.integrate(model, linkage.q, 0.05 * rng.standard_normal(model.nv))
    found = kn.loops.close(model, guess)
    assert found.closed
    assert np.abs(kn.loops.gap(model, found.q)).max() <= 1e-10
    assert np.abs(kn.difference(model, guess, found.q)).max() < 1.0


@pytest.mark.parametrize("angle", np.linspace(-3, 3, 7))
def test_crank_goes_round(angle: float):
    """The crank is kept, and the slider is where trigonometry puts it."""
    made = crank_slider()
    model = made.model
    found = kn.loops.close(model, np.array([angle, 0, 0]), keep=["crank_joint"])
    assert found.closed
    assert found.q[0] == angle
    crank, rod = np.hypot(0.06, 0.08), np.hypot(0.34, 0.08)
    start = np.arctan2(0.08, 0.06)
    x, z = crank * np.cos(start - angle), crank * np.sin(start - angle)
    reached = sorted(x + s * np.sqrt(rod**2 - z**2) - 0.4 for s in (1, -1))
    assert min(abs(found.q[2] - r) for r in reached) < 1e-9


def test_none_exists():
    """A rocker that is too short for the crank where it is kept."""
    model = four_bar().model
    found = kn.loops.close(model, np.array([np.pi, 0, 0]), keep=["crank_joint", "coupler_joint"], attempts=3)
    assert not found.closed
    assert found.gaps["pin"] > 1e-3
    assert "loop pin misses by" in str(found)


def test_wrong_arguments_are_named():
    made = four_bar()
    with pytest.raises(ValueError, match=r"q has shape \(2,\), and must have shape \(3,\)"):
        kn.loops.close(made.model, np.zeros(2))
    with pytest.raises(KeyError, match="no_such"):
        kn.loops.close(made.model, keep=["no_such"])


@pytest.mark.parametrize("ask", [kn.loops.close, kn.loops.project, kn.loops.degrees_of_freedom])
def test_positions_that_are_none_are_named(ask):
    model = four_bar().model
    with pytest.raises(ValueError, match="q has an entry that is not finite"):
        ask(model, np.array([0.0, np.nan, 0.0]))
    with pytest.raises(ValueError, match=r"q has shape \(2,\), and must have shape \(3,\)"):
        ask(model, np.zeros(2))


def test_a_tree_is_closed():
    model = kn.robots.load("arm")
    found = kn.loops.close(model)
    assert found.closed
    assert np.array_equal(found.q, kn.neutral(model))


def test_projection(linkage: Linkage, rng: np.random.Generator):
    """Nearest in kinetic energy: what is removed is H-orthogonal to every velocity that the loops allow."""
    model = linkage.model
    q = kn.integrate(model, linkage.q, 1e-3 * rng.standard_normal(model.nv))
    v = rng.standard_normal(model.nv)
    at, rate = kn.loops.project(model, q, v)
    K, H = kn.loops.jacobian(model, at), kn.mass_matrix(model.without_loops(), at)
    assert np.abs(kn.loops.error(model, at)).max() <= 1e-11
    assert np.abs(K @ rate).max() <= 1e-9 * (1 + np.abs(rate).max())
    null = np.linalg.svd(K)[2][np.linalg.matrix_rank(K, tol=1e-7) :]
    assert np.abs(null @ H @ (v - rate)).max() <= 1e-8 * np.abs(H).max() * (1 + np.abs(v - rate).max())
    again = kn.loops.project(model, at, rate)
    np.testing.assert_allclose(again[1], rate, atol=1e-8 * (1 + np.abs(rate).max()))


def test_projection_that_cannot_close_says_so():
    model = four_bar().model
    with pytest.raises(ValueError, match=r"kn\.loops\.close"):
        kn.loops.project(model.replace(loops=(_torn(model.loops[0]),)), kn.neutral(model))


def _torn(loop: kn.model.LoopJoint) -> kn.model.LoopJoint:
    from dataclasses import replace

    return replace(loop, X_successor=kn.spatial.Transform.translation((0.0, 5.0, 0.0)) @ loop.X_successor)
