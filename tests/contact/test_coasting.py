"""Bodies between contacts: a free body keeps its energy and its momentum, whatever it turns."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import ContactSteps
from knuckle.joints import Free
from knuckle.model import Box, Sphere
from knuckle.spatial import Inertia

from ..seeds import quick


def thrown(com=(0.0, 0.0, 0.0), shape=None):
    b = kn.Builder("thrown", gravity=(0, 0, 0))
    b.ground()
    inertia = Inertia.of(2.0, com, np.diag([0.02, 0.05, 0.06]))
    b.body("body", joint=Free(), at=(0, 0, 50), inertia=inertia, collisions=shape or Box((0.1, 0.2, 0.3)))
    return b.build()


def test_a_body_turns_with_its_mean_velocity():
    """The angular momentum of a body that tumbles is kept to the second order; with the velocity at the end of a step
    it would be to the first."""
    model, v = thrown(shape=Sphere(0.1)), np.array([2.0, 20.0, 1.0, 0.3, -0.2, 0.1])
    off: list[float] = []
    for steps in (50, 100):
        motion = kn.rollout(model, None, v, None, 0.2 / steps, steps=steps, integrator=ContactSteps())
        momentum = kn.momentum(model, motion.q, motion.v)
        about = momentum[:, :3] - np.cross([0, 0, 50.0], momentum[:, 3:])
        off.append(float(np.abs(about - about[0]).max()))
    assert off[1] < off[0] / 3.5
    assert off[1] < 1e-2 * float(np.linalg.norm(about[0]))


@pytest.mark.slow
@pytest.mark.parametrize("com", quick([(0.0, 0.0, 0.0), (0.03, -0.02, 0.05)], [(0.03, -0.02, 0.05)]))
def test_energy_is_kept_and_momentum_to_the_second_order(com):
    """About its middle axis a body tumbles; explicit steps would have made a third of its energy more."""
    model, v = thrown(com), np.array([2.0, 20.0, 1.0, 0.3, -0.2, 0.1])
    off: list[float] = []
    for dt in (4e-3, 2e-3):
        motion = kn.rollout(model, None, v, None, dt, duration=2.0, integrator=ContactSteps())
        energy = kn.kinetic_energy(model, motion.q, motion.v)
        np.testing.assert_allclose(energy, energy[0], rtol=1e-11)
        momentum = kn.momentum(model, motion.q, motion.v)
        np.testing.assert_allclose(momentum[:, 3:], momentum[:1, 3:].repeat(len(momentum), 0), atol=1e-11)
        about = momentum[:, :3] - np.cross([0, 0, 50.0], momentum[:, 3:])
        off.append(float(np.abs(about - about[0]).max()))
    assert off[1] < off[0] / 3
    assert off[1] < 1e-2 * float(np.linalg.norm(about[0]))


@pytest.mark.slow
def test_steps_come_near_the_motion_of_a_free_body():
    """Of the second order in flight: beside Runge and Kutta's method on the same mechanism without contact."""
    model, v = thrown((0.03, -0.02, 0.05)), np.array([1.0, 6.0, 0.5, 0.3, -0.2, 0.1])
    exact = kn.simulate(model, None, v, 0.5, dt=1e-4, integrator="rk4", contacts=False).q[-1]
    apart: list[float] = []
    for dt in (2e-3, 1e-3):
        motion = kn.rollout(model, None, v, None, dt, duration=0.5, integrator=ContactSteps())
        apart.append(float(np.abs(kn.difference(model, exact, motion.q[-1])).max()))
    assert apart[1] < apart[0] / 1.8
    assert apart[1] < 1e-3
