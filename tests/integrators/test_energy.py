"""What a motion keeps, over many steps."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import DormandPrince, RungeKutta4, Variational
from knuckle.simulation.steps.step_size import advance, first_step_size
from knuckle.simulation.steps.stepper import stepper

from .mechanisms import free, mixed, start

PENDULUM = kn.robots.load("double_pendulum")
Array = np.ndarray


def energy(model: kn.Model, q: Array, v: Array) -> Array:
    return kn.kinetic_energy(model, q, v) + kn.potential_energy(model, q)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "q0", "bound"), [(2, (1.0, 0.3), 1e-5), (4, (1.5, 1.0), 1e-7)], ids=["moderate swing", "wild swing"]
)
def test_the_double_pendulum_keeps_its_energy_for_a_million_steps(order: int, q0: tuple[float, ...], bound: float):
    """A thousand seconds at a millisecond; measured by the largest kinetic energy, which is what can be exchanged."""
    q, v = np.array(q0), np.zeros(2)
    found = kn.rollout(PENDULUM, q, v, None, 1e-3, steps=1_000_000, save_every=100, integrator=Variational(order=order))
    error = energy(PENDULUM, found.q, found.v) - energy(PENDULUM, q, v)
    scale = kn.kinetic_energy(PENDULUM, found.q, found.v).max()
    assert scale > 1.0
    assert np.abs(error).max() < bound * scale
    first, last = error[:2000], error[-2000:]
    assert abs(last.mean() - first.mean()) < 0.02 * bound * scale, "the energy drifts"


@pytest.mark.slow
def test_runge_kutta_drifts_where_the_variational_integrator_does_not():
    """The same pendulum at 20 ms for 2000 s."""
    q, v, dt, steps = np.array([1.2, 0.4]), np.zeros(2), 0.02, 100_000
    drift = []
    for integrator in (RungeKutta4(), Variational(order=4, iterations=12)):
        found = kn.rollout(PENDULUM, q, v, None, dt, steps=steps, save_every=50, integrator=integrator)
        error = energy(PENDULUM, found.q, found.v) - energy(PENDULUM, q, v)
        drift.append(abs(error[-100:].mean()))
    assert drift[1] < 0.1 * drift[0]


@pytest.mark.slow
def test_a_tumbling_body_keeps_its_angular_momentum():
    """Torque-free tumbling about the middle axis, which is unstable: a hundred thousand steps of a moving body.

    The momentum about a fixed point is kept. That about the centre of mass is kept less well if the centre moves: it
    goes along the screw of each step, not along a straight line.
    """
    builder = kn.Builder("asymmetric", gravity=(0.0, 0.0, 0.0))
    builder.body("body", joint=kn.joints.Free(), mass=1.0, inertia=(0.1, 0.2, 0.3))
    model = builder.build()
    q, v = kn.neutral(model), np.array([0.01, 3.0, 0.02, 0.1, -0.2, 0.3])
    found = kn.rollout(model, q, v, None, 1e-3, steps=100_000, save_every=100, integrator=Variational())
    h = kn.momentum(model, found.q, found.v)
    assert np.ptp(found.v[:, 1]) > 5.0, "it does not tumble"
    assert np.abs(h - h[0]).max() < 1e-10
    assert np.abs(np.linalg.norm(found.q[:, :4], axis=-1) - 1).max() < 1e-14
    spin = kn.kinetic_energy(model, found.q, found.v)
    assert np.abs(spin - spin[0]).max() < 1e-5 * spin[0]


@pytest.mark.slow
def test_a_flying_mechanism_keeps_its_momentum():
    """Joints of every kind, inner forces, dampers and rotors; without weight the whole momentum stays."""
    model = mixed(kn.joints.Free()).with_gravity((0.0, 0.0, 0.0))
    stepping = stepper(model, Variational())
    state = stepping.start(0.0, *start(model, speed=0.5), 1e-3)
    before = kn.momentum(model, state.q, state.v)
    for k in range(200):
        state = stepping.step(k * 1e-3, state, 1e-3)
    np.testing.assert_allclose(kn.momentum(model, state.q, state.v), before, rtol=0, atol=1e-11 * np.abs(before).max())


@pytest.mark.slow
def test_the_adaptive_pair_meets_its_tolerances():
    """The energy error falls with the tolerance, and the steps grow where little happens."""
    model, errors = free(), []
    for rtol in (1e-5, 1e-9):
        stepping = stepper(model, DormandPrince(rtol=rtol, atol_q=rtol / 100, atol_v=rtol / 100))
        state = stepping.start(0.0, *start(model), 0.0)
        whole, t, pace = energy(model, state.q, state.v), 0.0, first_step_size(stepping, 0.0, state)
        while t < 2.0:
            state, dt, pace = advance(stepping, t, state, pace, 2.0)
            t += dt
        assert t == pytest.approx(2.0, abs=1e-12)
        errors.append(abs(energy(model, state.q, state.v) - whole) / 100)
    assert errors[0] < 1e-4
    assert errors[1] < 1e-8
    assert errors[1] < 1e-2 * errors[0]
