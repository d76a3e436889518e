"""Rollouts with more contacts than a compiled step has: the same motions as those of `kn.simulate`."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Free
from knuckle.model import Sphere, solid_sphere

DT = 2e-3


def balls(count: int = 9) -> tuple[kn.Model, np.ndarray]:
    """Balls that fall on each other, from three states."""
    b = kn.Builder("balls")
    b.surface("wood", friction=0.4)
    b.ground(surface="wood")
    for k in range(count):
        b.body(f"ball{k}", joint=Free(), inertia=solid_sphere(1.0, 0.1), collisions=Sphere(0.1), surface="wood")
    model, rng = b.build(), np.random.default_rng(0)
    q = np.tile(kn.neutral(model), (3, 1)).reshape(3, count, 7)
    q[..., 4:6] = 0.12 * rng.standard_normal((3, count, 2))
    q[..., 6] = 0.15 + 0.21 * np.arange(count)
    return model, q.reshape(3, -1)


@kn.kernel
def lift(model, t, q, v, gain):
    return [x for k in range(model.nb) for x in (0.0, 0.0, 0.0, gain * t, 0.0, -gain * v[6 * k + 5])]


@pytest.mark.slow
def test_each_trajectory_is_that_of_simulate():
    model, q = balls()
    gains = np.array([0.0, 1.0, 5.0])
    found = kn.rollout(
        model, q, None, None, DT, steps=61, save_every=20, controller=lift, parameters={"gain": gains[:, None]}
    )
    assert found.q.shape == (3, 5, model.nq)
    np.testing.assert_array_equal(found.times, DT * np.array([0, 20, 40, 60, 61]))
    for x, gain, rows, speeds in zip(q, gains, found.q, found.v, strict=True):
        motion = kn.simulate(model, x, None, 61 * DT, dt=DT, controller=lift, parameters={"gain": gain})
        np.testing.assert_array_equal(rows, motion.q[[0, 20, 40, 60, 61]])
        np.testing.assert_array_equal(speeds, motion.v[[0, 20, 40, 60, 61]])
    assert np.isnan(found.diverged_at).all()
    assert kn.contact.gaps(model, found.q[:, -1]).min() > -1e-3
    assert np.abs(found.v[:, -1]).max() > 0.1


def test_forces_of_their_own_at_every_step():
    model, q = balls()
    tau = np.zeros((12, model.nv))
    tau[:, 3::6] = np.linspace(0.0, 5.0, 12)[:, None]
    found = kn.rollout(model, q[0], None, tau, DT, steps=12, save_every=5)
    plain = kn.rollout(model, q[0], None, None, DT, steps=12, save_every=5)
    moved = (found.v - plain.v)[-1, 3::6]
    falling = kn.contact.gaps(model, plain.q[-1]).min() > 0
    assert falling
    np.testing.assert_allclose(moved, DT * tau[:, 3].sum(), rtol=1e-9)


def test_a_trajectory_that_diverges_says_when():
    model, q = balls()
    v = np.zeros((2, model.nv))
    v[1, 3] = np.inf
    with pytest.warns(RuntimeWarning, match="1 of 2"):
        found = kn.rollout(model, q[0], v, None, DT, steps=5)
    assert np.isnan(found.diverged_at[0])
    assert found.diverged_at[1] == 0.0


def test_what_cannot_be_is_said_with_what_can():
    model, q = balls()
    with pytest.raises(kn.ModelError, match=r"balls has 45 pairs .* kn\.rollout does where it can"):
        kn.rollout(model, q, None, None, DT, steps=2, save_contacts=True)
    with pytest.raises(kn.ModelError, match="takes at most 3600"):
        kn.rollout(model, q, None, None, DT, steps=2, integrator=kn.integrators.ContactSteps(joint_limits=True))
