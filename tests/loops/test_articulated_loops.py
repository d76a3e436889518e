"""Loops closed body by body (`articulated_loops`), against the same constraints in matrices."""

from collections.abc import Iterator

import numpy as np
import pytest

import knuckle as kn
from knuckle.functions.loops import closed_response
from knuckle.functions.loops.projection import onto_constraints
from knuckle.joints import Revolute, Spherical, Universal
from knuckle.model import Builder
from knuckle.model.build.solids import solid_box
from knuckle.testing.compare import array
from knuckle.testing.loops.linkages import LINKAGES, Linkage, ladder

from .oracle import allowed


@pytest.fixture
def by_bodies(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """However few constraints there are, loops are closed body by body."""
    monkeypatch.setattr(closed_response, "FEW", 0)
    kn.compilation.set_policy("never")
    yield
    kn.compilation.set_policy("auto")


def both_ways(made: Linkage, seed: int) -> None:
    """Accelerations, Kᵀλ and K a agree with those by matrices (method "crba"), with wrenches on all bodies."""
    model, q, rng = made.model, made.q, np.random.default_rng(seed)
    v, tau = allowed(model, q, rng), rng.standard_normal(model.nv)
    f = rng.standard_normal((model.nb, 6))
    a = kn.forward_dynamics(model, q, v, tau, f, stabilization=0.1)
    expected = kn.forward_dynamics(model, q, v, tau, f, method="crba", stabilization=0.1)
    H, K = kn.mass_matrix(model.without_loops(), q), kn.loops.jacobian(model, q)
    size = np.abs(expected).max() * np.linalg.cond(H)
    np.testing.assert_allclose(a, expected, rtol=0, atol=1e-12 * size)
    lam = kn.loops.forces(model, q, v, tau, f, stabilization=0.1)
    C = kn.bias_force(model.without_loops(), q, v, f)
    np.testing.assert_allclose(H @ a, tau - C + K.T @ lam, rtol=0, atol=1e-11 * (np.abs(H) @ np.abs(a)).max())


@pytest.mark.parametrize("name", sorted(LINKAGES))
def test_linkages(name: str, by_bodies: None):
    both_ways(LINKAGES[name](), 0)


def test_random_mechanisms(several_loops: Linkage, by_bodies: None):
    both_ways(several_loops, 1)


def surrounded() -> Linkage:
    """Three loops in space of which each surrounds the next, all around the same first joints; and one beside them."""
    b = Builder("surrounded")
    on, inertia = "base", solid_box(1.0, (0.3, 0.05, 0.04), at=(0.15, 0, 0))
    kinds = (Revolute("z"), Universal("xy"), Spherical(), Revolute("y"), Universal("xz"), Spherical())
    for k, kind in enumerate(kinds):
        b.body(f"link {k}", on=on, joint=kind, at=(0.3, 0, 0) if k else None, inertia=inertia)
        on = f"link {k}"
    for k in range(3):
        b.body(f"rod {k}", on="base", joint=Spherical(), at=(0.1 * k, 0.2, 0.1), inertia=inertia)
        b.close_loop(f"ball {k}", Spherical(), f"rod {k}", f"link {5 - 2 * k}", (0.4, 0, 0), (0.1, 0, 0))
    b.body("side", on="link 1", joint=Universal("yz"), at=(0, 0.1, 0), inertia=inertia)
    b.close_loop("side ball", Spherical(), "side", "link 3", (0.3, 0, 0), (0, 0.05, 0))
    model = b.build()
    found = kn.loops.close(model, kn.random_configuration(model, 3), attempts=200)
    assert found.closed
    return Linkage(model, found.q)


@pytest.mark.parametrize("seed", range(3))
def test_loops_that_surround_each_other(by_bodies: None, seed: int):
    both_ways(surrounded(), seed)


def test_projection(by_bodies: None, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator):
    """What a step leaves open is closed again, to where the matrices bring it."""
    made = surrounded()
    q = kn.integrate(made.model, made.q, 1e-5 * rng.standard_normal(made.model.nv))
    v = allowed(made.model, made.q, rng)
    found = onto_constraints(made.model, q, v)
    monkeypatch.setattr(closed_response, "FEW", np.inf)
    expected = onto_constraints(made.model, q, v)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13 * np.abs(theirs).max())
    np.testing.assert_allclose(kn.loops.error(made.model, found[0]), 0.0, atol=1e-12)
    np.testing.assert_allclose(kn.loops.error_rate(made.model, *found), 0.0, atol=1e-12)


@pytest.mark.slow
def test_the_work_grows_with_the_length():
    """Each part of a ladder takes as many operations as the one before: no matrix of all constraints is made."""
    counts = [kn.forward_dynamics.program(ladder(n).model).count().total for n in (8, 10, 12)]
    assert counts[2] - counts[1] < 1.1 * (counts[1] - counts[0])


def test_exact_numbers(by_bodies: None):
    """Over fractions of mpmath, K a = k to the digits asked for: no step is only good to double precision."""
    import mpmath

    made = LINKAGES["five-bar"]()
    with mpmath.workdps(40):
        q, v, tau = (mpmath.matrix([mpmath.mpf(float(x)) for x in row]) for row in (made.q, made.q * 0, made.q))
        a = array(kn.forward_dynamics(made.model, q, v, tau))
    expected = kn.forward_dynamics(made.model, made.q, made.q * 0, made.q)
    np.testing.assert_allclose(np.array(a, float).ravel(), expected, rtol=1e-11)
