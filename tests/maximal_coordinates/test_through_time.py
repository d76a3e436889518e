"""Maximal coordinates through time: the motion of the reduced ones, with joints that stay together."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Revolute
from knuckle.maximal_coordinates.sparse_dynamics import SparseDynamics, goes_sparse
from knuckle.model import Builder, Model, solid_box


def chain(n: int) -> Model:
    b, last = Builder(f"chain of {n}"), None
    for i in range(n):
        box = solid_box(1.0, (0.1, 0.1, 1.0), at=(0, 0, -0.5))
        last = b.body(f"link{i}", last, Revolute("yx"[i % 2]), (0, 0, 0 if last is None else -1.0), inertia=box)
    return b.build()


@pytest.mark.parametrize(
    ("n", "stabilization", "integrator", "most"),
    [
        pytest.param(8, "projection", "euler", 1e-13, id="projected"),
        pytest.param(8, 0.05, "rk4", 1e-8, id="Baumgarte"),
        pytest.param(2, "projection", "rk4", 1e-13, id="few, in code", marks=pytest.mark.slow),
        pytest.param(40, "projection", "heun", 1e-12, id="many", marks=pytest.mark.slow),
        pytest.param(8, 0.05, "adaptive", 1e-7, id="steps of their own length", marks=pytest.mark.slow),
    ],
)
def test_simulate_moves_it_as_in_reduced_coordinates(n: int, stabilization: float | str, integrator: str, most: float):
    model = chain(n)
    maximal = kn.maximal(model)
    assert goes_sparse(maximal) == (n > 4)
    q, v = 0.3 * np.cos(np.arange(n)), 0.2 * np.sin(np.arange(n))
    Q, V = kn.maximal_state(model, q, v)
    duration = 0.1 if integrator == "adaptive" else 0.05
    run = kn.simulate(maximal, Q, V, duration, dt=1e-3, integrator=integrator, stabilization=stabilization)
    fine = kn.simulate(model, q, v, duration, dt=1e-3, integrator="rk4")
    assert SparseDynamics(maximal).openness(run.q[-1], run.v[-1])[0].max() < most
    found, speed = kn.reduced_state(model, run.q[-1], run.v[-1])
    error = 1e-2 if integrator == "euler" else 1e-5
    np.testing.assert_allclose(found, fine.q[-1], atol=error)
    np.testing.assert_allclose(speed, fine.v[-1], atol=20 * error)


def test_a_first_state_that_is_open_is_refused():
    model = chain(6)
    maximal = kn.maximal(model)
    Q, V = kn.maximal_state(model, np.zeros(6), np.zeros(6))
    Q[-1] += 1e-3
    with pytest.raises(ValueError, match=r"loop 'link5_joint' is open by 0\.001"):
        kn.simulate(maximal, Q, V, 0.01, integrator="euler")


def test_a_rollout_says_what_it_is_too_long_for():
    model = chain(16)
    maximal = kn.maximal(model)
    Q, V = kn.maximal_state(model, np.zeros(16), np.zeros(16))
    with pytest.raises(kn.ModelError, match="a rollout puts a step into code, and chain of 16 has 80 constraints"):
        kn.rollout(maximal, Q, V, None, 1e-3, steps=2, integrator="euler")


@pytest.mark.slow
def test_a_hundred_thousand_steps_do_not_drift():
    """Projected after every step: joints stay together to rounding, however long it runs."""
    model = chain(2)
    maximal = kn.maximal(model)
    Q, V = kn.maximal_state(model, [1.0, 0.5], [0.0, 1.0])
    run = kn.rollout(maximal, Q, V, None, 1e-3, steps=100_000, save_every=1000, integrator="rk4")
    assert np.abs(kn.loops.gap(maximal, run.q)).max() < 1e-10
    energy = kn.kinetic_energy(maximal, run.q, run.v) + kn.potential_energy(maximal, run.q)
    assert np.ptp(energy) < 1e-4 * np.abs(energy).max()


@pytest.mark.slow
def test_a_thousand_bodies():
    model = chain(1000)
    maximal = kn.maximal(model)
    q, v = np.zeros(1000), np.zeros(1000)
    q[0] = 0.3
    Q, V = kn.maximal_state(model, q, v)
    run = kn.simulate(maximal, Q, V, 5e-3, dt=1e-3, integrator="rk4")
    fine = kn.simulate(model, q, v, 5e-3, dt=1e-3, integrator="rk4")
    found, _ = kn.reduced_state(model, run.q[-1], run.v[-1])
    np.testing.assert_allclose(found, fine.q[-1], atol=1e-9)
