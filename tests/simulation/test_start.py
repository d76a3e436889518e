"""`simulate` and `rollout` start in the same way where little is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import Steps, default_steps
from knuckle.simulation import simulate as simulation
from knuckle.simulation.rollout import rollout_steps
from knuckle.testing import random_tree

PENDULUM = kn.robots.load("double_pendulum")
FLOATING = random_tree(5, nb=3, floating=True, types=["revolute", "spherical", "prismatic"])


@pytest.mark.slow
@pytest.mark.parametrize("model", [PENDULUM, FLOATING], ids=["pendulum", "floating"])
def test_without_any_word_both_give_the_same_motion(model: kn.Model):
    """From the neutral position, at rest, for a second, with steps of a millisecond, by the same integrator."""
    one, many = kn.simulate(model), kn.rollout(model)
    np.testing.assert_array_equal(one.q[0], kn.neutral(model))
    assert not one.v[0].any()
    np.testing.assert_array_equal(many.times, one.times)
    np.testing.assert_array_equal(many.q[0], one.q[0])
    np.testing.assert_allclose(many.q, one.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(many.v, one.v, rtol=0, atol=1e-9)
    assert (many.integrator, many.dt) == (one.integrator, one.dt)


@pytest.mark.parametrize("name", ["euler", "implicit"])
def test_one_place_says_which_integrator(name: str, monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []

    def other(model: kn.Model, dt: float | None, *args: Any, **options: Any) -> Steps:
        asked.append((model, dt))
        return default_steps(model, dt, integrator=name)

    for module in (simulation, rollout_steps):
        monkeypatch.setattr(module, "default_steps", other)
    one, many = kn.simulate(PENDULUM, [1.0, 0.2], dt=1e-2), kn.rollout(PENDULUM, [1.0, 0.2], dt=1e-2)
    assert asked == [(PENDULUM, 1e-2)] * 2
    assert one.integrator == many.integrator == name
    np.testing.assert_allclose(many.q, one.q, rtol=0, atol=1e-10)


def test_what_is_not_given_does_not_decide_the_precision():
    q = np.ones((3, 2), np.float32)
    assert kn.rollout(PENDULUM, q, steps=2).q.dtype == np.float32
    assert kn.rollout(PENDULUM, None, q, steps=2).v.dtype == np.float32
    assert kn.rollout(PENDULUM, steps=2).q.dtype == np.float64


def test_a_duration_is_a_whole_number_of_steps():
    q = [0.3, 0.1]
    by_duration, by_steps = kn.rollout(PENDULUM, q, dt=0.1, duration=0.7), kn.rollout(PENDULUM, q, dt=0.1, steps=7)
    np.testing.assert_array_equal(by_duration.q, by_steps.q)
    with pytest.raises(ValueError, match=r"duration=0.75 s is no whole number of steps of dt=0.1 s"):
        kn.rollout(PENDULUM, q, dt=0.1, duration=0.75)
    with pytest.raises(TypeError, match="steps or duration, not both"):
        kn.rollout(PENDULUM, q, steps=3, duration=0.1)


def test_quaternions_must_have_length_one_in_both():
    q = kn.neutral(FLOATING)
    q[:4] *= 1.1
    with pytest.raises(
        ValueError, match=r"q0: the quaternion of joint .* has length 1.1, not 1; start from kn.neutral"
    ):
        kn.simulate(FLOATING, q)
    rows = np.stack([kn.neutral(FLOATING), q])
    with pytest.raises(
        ValueError, match=r"q0: the quaternion of joint .* has length 1.1, not 1; start from kn.neutral"
    ):
        kn.rollout(FLOATING, rows, steps=1)
    rows[1] = np.nan
    with pytest.warns(RuntimeWarning, match="began with a state that is not finite"):
        kn.rollout(FLOATING, rows, steps=1)


def test_a_mechanism_without_inertia_on_the_ground_is_named():
    model = kn.model.edit.with_ground(kn.robots.load("pendulum", base="floating"))
    with pytest.raises(kn.ModelError, match="a joint that moves no inertia"):
        kn.simulate(model, None, None, 0.01)
