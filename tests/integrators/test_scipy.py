"""The right-hand side for SciPy's solvers."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import knuckle as kn
from knuckle.integrators import DormandPrince, State
from knuckle.simulation.ode import ode_right_hand_side

from .mechanisms import distance, mixed, run, start

MODEL = mixed(kn.joints.Free())


@pytest.mark.slow
def test_scipy_and_we_agree():
    f = ode_right_hand_side(MODEL)
    q, v = start(MODEL)
    solution = solve_ivp(f, (0.0, 0.2), f.join(q, v), method="DOP853", rtol=1e-12, atol=1e-12)
    assert solution.success
    ends = f.split(solution.y)
    assert ends[0].shape == (len(solution.t), MODEL.nq)
    ours = run(MODEL, DormandPrince(), 0.2, 200)
    assert distance(MODEL, State(ends[0][-1], ends[1][-1]), ours) < 1e-9


def test_the_length_of_quaternions_does_not_matter():
    f = ode_right_hand_side(MODEL)
    y = f.join(*start(MODEL))
    longer = y.copy()
    longer[:4] *= 1.01
    np.testing.assert_allclose(f(0.0, longer)[MODEL.nq :], f(0.0, y)[MODEL.nq :], rtol=1e-12, atol=1e-12)
    q, _ = f.split(longer)
    assert np.linalg.norm(q[:4]) == pytest.approx(1, abs=1e-15)


def test_several_states_at_once():
    f = ode_right_hand_side(MODEL)
    y = np.stack([f.join(*start(MODEL, seed)) for seed in (1, 2, 3)], axis=-1)
    rates = f(0.0, y)
    assert rates.shape == y.shape
    np.testing.assert_allclose(rates[:, 1], f(0.0, y[:, 1]), rtol=1e-14, atol=1e-14)


def test_controllers_and_external_forces_act():
    f = ode_right_hand_side(
        MODEL,
        lambda model, t, v, gain: -gain * t * v,
        parameters={"gain": 2.0},
        external_forces=lambda model: np.ones((model.nb, 6)),
    )
    q, v = start(MODEL)
    expected = kn.forward_dynamics(MODEL, q, v, -2.0 * 0.5 * v, np.ones((MODEL.nb, 6)))
    np.testing.assert_allclose(f(0.5, f.join(q, v))[MODEL.nq :], expected, rtol=1e-11, atol=1e-11)


def test_wrong_sizes_are_named():
    f = ode_right_hand_side(MODEL)
    with pytest.raises(ValueError, match=rf"y has 3 entries, and must have nq \+ nv = {MODEL.nq + MODEL.nv}"):
        f(0.0, np.zeros(3))
    with pytest.raises(ValueError, match="v has shape"):
        f.join(kn.neutral(MODEL), np.zeros(2))
