"""Scenes of many bodies in `simulate`: steps look at near pairs, and the motion is that of all pairs."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import ContactSteps
from knuckle.simulation import near_contacts

from .scenes import RADIUS, ball, on_plane, placed

STEPS = ContactSteps()


@pytest.mark.slow
def test_balls_that_meet_are_found(monkeypatch: pytest.MonkeyPatch):
    """Balls roll into each other: other pairs come near as they go, and nothing is different for that."""
    model = on_plane(ball(), ball(2.0), ball(), friction=0.3, restitution=0.5)
    q = placed(model, (0, 0, RADIUS), (0.5, 0.0, RADIUS), (1.0, 0.0, RADIUS))
    v = np.zeros(18)
    v[3] = 3.0
    every = kn.rollout(model, q, v, None, 1e-3, duration=1.2, integrator=STEPS)
    monkeypatch.setattr(near_contacts, "FEW", 0)
    sets = set()
    choose = near_contacts.NearContacts.choose

    def watched(self, q, v):
        found = choose(self, q, v)
        sets.add(self._chosen)
        return found

    monkeypatch.setattr(near_contacts.NearContacts, "choose", watched)
    near = kn.simulate(model, q, v, 1.2, dt=1e-3, integrator=STEPS)
    assert len(sets) > 1
    assert np.abs(every.v[-1, 15]) > 0.1  # the third one was hit
    np.testing.assert_allclose(near.q[-1], every.q[-1], atol=1e-8)
    np.testing.assert_allclose(near.v[-1], every.v[-1], atol=1e-7)


def test_many_balls_roll_each_by_itself():
    """Sixteen balls, 136 pairs: v = 5/7 v₀ in the end for each of them, to rounding (SimBenchmark's rolling)."""
    n = 16
    model = on_plane(*[ball()] * n, friction=0.4)
    at = [(0.5 * (k % 4), 0.5 * (k // 4), RADIUS) for k in range(n)]
    motion = kn.simulate(model, placed(model, *at), np.tile([0, 0, 0, 1.0, 1.0, 0], n), 0.2, dt=1e-3, integrator=STEPS)
    for k in range(n):
        velocity = kn.velocity(model, motion.q[-1], motion.v[-1], f"body{k}", "aligned")
        np.testing.assert_allclose(velocity[3:], [5 / 7, 5 / 7, 0], atol=1e-11)


def test_too_many_near_contacts_are_counted():
    n = 14
    model = on_plane(*[ball()] * n, friction=0.4)
    q = placed(model, *[(0.01 * k, 0, RADIUS) for k in range(n)])
    with pytest.raises(
        kn.ModelError,
        match=r"scene has \d+ near pairs of shapes with \d+ impulses that act on each other in \d+ ways, and a step",
    ):
        kn.simulate(model, q, None, 0.1, integrator=STEPS)
