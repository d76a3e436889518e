"""What contact steps say to arguments and states that are none."""

import math
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import ContactSteps
from knuckle.model.surfaces import ContactRules, Surface

from .scenes import RADIUS, ball, on_plane, placed

MODEL = on_plane(ball(), friction=0.5)
Q = placed(MODEL, (0, 0, RADIUS))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"rounds": -1}, ValueError, "rounds is a whole number from 1 on, not -1"),
        ({"rounds": 0}, ValueError, "rounds is a whole number from 1 on, not 0"),
        ({"rounds": "x"}, TypeError, "rounds is a whole number, not 'x'"),
        ({"rounds": 2.5}, TypeError, "rounds is a whole number, not 2.5"),
        ({"rounds": True}, TypeError, "rounds is a whole number, not True"),
        ({"tolerance": math.nan}, ValueError, "tolerance is a finite number from 0 on, not nan"),
        ({"tolerance": -1e-3}, ValueError, "tolerance is a finite number from 0 on, not -0.001"),
        ({"tolerance": math.inf}, ValueError, "tolerance is a finite number from 0 on, not inf"),
        ({"tolerance": "fine"}, TypeError, "tolerance is a number, not 'fine'"),
        ({"joint_limits": 3}, TypeError, "joint_limits is True or False, not 3"),
        ({"extrapolated": "yes"}, TypeError, "extrapolated is True or False, not 'yes'"),
        ({"pairs": 3}, TypeError, "pairs is a tuple of whole numbers or None, not 3"),
    ],
)
def test_arguments_are_checked(given, error, message):
    with pytest.raises(error) as raised:
        ContactSteps(**given)
    assert str(raised.value) == message


def test_numpy_numbers_are_numbers():
    given: dict[str, Any] = {"rounds": np.int64(5), "tolerance": np.float64(1e-9), "joint_limits": np.bool_(False)}
    steps = ContactSteps(**given)
    assert np.isfinite(kn.rollout(MODEL, Q, None, None, 1e-3, steps=3, integrator=steps).q).all()


@pytest.mark.parametrize("dt", [0.0, -1e-3, math.nan])
def test_steps_have_a_length(dt: float):
    with pytest.raises(ValueError, match="dt"):
        kn.simulate(MODEL, Q, None, 0.1, dt=dt, integrator=ContactSteps())
    with pytest.raises(ValueError, match="dt"):
        kn.rollout(MODEL, Q, None, None, dt, steps=3, integrator=ContactSteps())


def test_states_that_are_not_numbers():
    bad = np.array([Q, Q, Q])
    bad[1, 6] = np.nan
    with pytest.warns(
        RuntimeWarning,
        match=r"1 of 3 trajectories of scene began with a state that is not finite, the first one, \[1\]",
    ):
        motion = kn.rollout(MODEL, bad, None, None, 1e-3, steps=5, integrator=ContactSteps())
    assert np.isnan(motion.q[1, -1]).any()
    np.testing.assert_array_equal(motion.q[0], motion.q[2])
    assert np.isfinite(motion.q[0]).all()
    with pytest.raises(ValueError, match="q0 has an entry that is not finite"):
        kn.simulate(MODEL, bad[1], None, 0.1, integrator=ContactSteps())


def test_shapes_of_states():
    with pytest.raises(ValueError, match="q0"):
        kn.rollout(MODEL, Q[:-1], None, None, 1e-3, steps=3, integrator=ContactSteps())
    with pytest.raises(ValueError, match="v0"):
        kn.rollout(MODEL, Q, np.zeros(5), None, 1e-3, steps=3, integrator=ContactSteps())
    empty = kn.rollout(MODEL, np.zeros((0, 7)), np.zeros((0, 6)), None, 1e-3, steps=3, integrator=ContactSteps())
    assert empty.q.shape == (0, 4, 7)
    assert kn.rollout(MODEL, Q, None, None, 1e-3, steps=0, integrator=ContactSteps()).q.shape == (1, 7)


def test_single_precision():
    """A ball that slides comes to roll, to the precision of its numbers."""
    v = np.array([0, 0, 0, 1.0, 0, 0], np.float32)
    motion = kn.rollout(MODEL, Q.astype(np.float32), v, None, 1e-3, steps=200, integrator=ContactSteps())
    assert motion.q.dtype == np.float32
    assert kn.velocity(MODEL, motion.q[-1], motion.v[-1], "body0", "aligned")[3] == pytest.approx(5 / 7, abs=1e-4)


def test_too_many_contacts_for_a_step_are_counted():
    model = on_plane(*[ball()] * 14).replace(contact=ContactRules((Surface(friction=0.5),)))
    with pytest.raises(kn.ModelError, match="scene has 105 pairs of shapes with 315 impulses"):
        kn.rollout(model, None, None, None, 1e-3, steps=1, integrator=ContactSteps(joint_limits=True))
