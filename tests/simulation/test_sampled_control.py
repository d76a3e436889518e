"""Controllers with a period and a state of their own: sampled, held in between, the same in every way to move."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Prismatic
from knuckle.model import Builder, Model, point_mass
from knuckle.simulation.simulator import Simulator

DT, PERIOD, MASS = 1e-3, 4e-3, 2.0
SCENE = Builder("slider", gravity=(0, 0, 0))
SCENE.body("mass", joint=Prismatic("x"), inertia=point_mass(MASS))
SLIDER = SCENE.build()
GAINS = {"kp": 30.0, "ki": 20.0, "goal": np.array([0.4])}
START = np.array([0.1]), np.array([-0.2])


@kn.kernel
def pid(model: Model, q: Any, v: Any, z: Any, kp: Any, ki: Any, goal: Any) -> Any:
    error = goal - q
    return kp * error - 3.0 * v + ki * z, z + PERIOD * error


SAMPLED = kn.SampledController(pid, PERIOD, np.zeros(1))


def by_hand(samples: int) -> tuple[list[Any], list[float]]:
    """States and forces at sample times: under a constant force a mass moves along a parabola, exactly."""
    (x, v, z), rows, forces = (0.1, -0.2, 0.0), [], list[float]()
    for _ in range(samples):
        u, z = 30.0 * (0.4 - x) - 3.0 * v + 20.0 * z, z + PERIOD * (0.4 - x)
        rows.append((x, v))
        forces.append(u)
        x, v = x + PERIOD * v + u / MASS * PERIOD**2 / 2, v + PERIOD * u / MASS
    return rows, forces


@pytest.fixture(scope="module")
def motion() -> kn.Trajectory:
    return kn.simulate(SLIDER, *START, 0.2, dt=DT, integrator="rk4", controller=SAMPLED, parameters=GAINS)


def test_a_sampled_motion_is_the_discrete_one(motion: kn.Trajectory):
    rows, forces = by_hand(51)
    assert np.column_stack([motion.q[::4, 0], motion.v[::4, 0]]) == pytest.approx(np.array(rows), abs=1e-13)
    assert motion.tau[::4, 0] == pytest.approx(forces, abs=1e-12)
    held = motion.tau[:-1, 0].reshape(-1, 4)
    assert (held == held[:, :1]).all()  # and nothing changes between samples


def test_rollouts_take_the_same_steps_to_the_last_bit(motion: kn.Trajectory):
    starts = np.stack([START[0], START[0] + 0.3])
    rolled = kn.rollout(SLIDER, starts, START[1], None, DT, steps=200, controller=SAMPLED, parameters=GAINS)
    assert np.array_equal(rolled.q[0], motion.q)
    assert np.array_equal(rolled.v[0], motion.v)
    assert np.array_equal(rolled.tau[0], motion.tau)
    assert not np.array_equal(rolled.q[1], motion.q)


@pytest.mark.parametrize("way", ["simulate", "rollout"])
def test_a_python_law_is_called_at_sample_times_only(motion: kn.Trajectory, way: str):
    asked = list[float]()

    def law(model: Model, t: Any, q: Any, v: Any, z: Any, goal: Any) -> Any:
        asked.append(float(t))
        error = goal - q
        return 30.0 * error - 3.0 * v + 20.0 * z, z + PERIOD * error

    options: Any = {"controller": kn.SampledController(law, PERIOD, [0.0]), "parameters": {"goal": [0.4]}}
    if way == "simulate":
        found = kn.simulate(SLIDER, *START, 0.2, dt=DT, integrator="rk4", **options)
        times = np.arange(51) * PERIOD
    else:
        found = kn.rollout(SLIDER, *START, None, DT, steps=200, **options)[()]
        times = np.arange(50) * PERIOD
    assert asked == pytest.approx(times, abs=1e-12)
    assert found.q == pytest.approx(motion.q, abs=1e-13)


def test_an_event_within_a_step_shifts_no_sample(motion: kn.Trajectory):
    asked = list[float]()

    def law(model: Model, t: Any, q: Any, v: Any, z: Any) -> Any:
        asked.append(float(t))
        error = 0.4 - q
        return 30.0 * error - 3.0 * v + 20.0 * z, z + PERIOD * error

    event = kn.simulation.Event(lambda t, q, v: q[0] - 0.123, name="there", action=lambda t, q, v: (q, v))
    found = kn.simulate(SLIDER, *START, 0.2, dt=DT, integrator="rk4", events=event,
                        controller=kn.SampledController(law, PERIOD, [0.0]))  # fmt: skip
    assert found.events
    assert sorted(set(np.round(asked, 9))) == pytest.approx(np.arange(51) * PERIOD, abs=1e-9)
    assert found.q[-1] == pytest.approx(motion.q[-1], abs=1e-12)


def test_a_state_can_be_a_delay():
    """z is the force of the next period: what is measured acts one period later."""

    @kn.kernel
    def late(model: Model, q: Any, z: Any) -> Any:
        return z, -50.0 * q

    found = kn.simulate(SLIDER, *START, 0.02, dt=DT, controller=kn.SampledController(late, PERIOD, [0.0]))
    assert found.tau[:4, 0] == pytest.approx(0.0)
    assert found.tau[4::4, 0] == pytest.approx(-50.0 * found.q[:-4:4, 0], abs=1e-12)


def test_a_step_that_is_not_given_fits_the_period():
    control = kn.SampledController(pid, 2.5e-3, [0.0])
    assert kn.simulate(SLIDER, *START, 0.01, controller=control, parameters=GAINS).dt == pytest.approx(2.5e-3 / 3)


def test_stepping_samples_as_well(motion: kn.Trajectory):
    world = kn.Stepping(SLIDER, *START, dt=DT, substeps=2, controller=SAMPLED, parameters=GAINS)
    for _ in range(10):
        world.step()
    assert np.array_equal(world.q, motion.q[20])


def test_a_checkpointed_run_goes_on_to_the_last_bit(
    motion: kn.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    options: Any = {"dt": DT, "integrator": "rk4", "controller": SAMPLED, "parameters": GAINS, "progress": False}
    options |= {"checkpoint": tmp_path / "run", "checkpoint_every": 0.0}
    taken, advance = list[int](), Simulator.advance

    def interrupted(run: Simulator) -> None:
        taken.append(1)
        if len(taken) == 3:
            raise KeyboardInterrupt
        advance(run)

    with monkeypatch.context() as patch:
        patch.setattr(Simulator, "advance", interrupted)
        begun = kn.simulate(SLIDER, *START, 0.2, **options)
    assert 0 < begun.times[-1] < 0.2
    other = kn.SampledController(pid, 2e-3, [0.0])
    with pytest.raises(ValueError, match="another run"):
        kn.simulate(SLIDER, *START, 0.2, **{**options, "controller": other}, resume=True)
    again = kn.simulate(SLIDER, *START, 0.2, **options, resume=True)
    assert np.array_equal(again.q, motion.q)
    assert np.array_equal(again.tau, motion.tau)


def plain(model: Model, q: Any) -> Any:
    return -q


@pytest.mark.parametrize(
    ("law", "options", "complaint"),
    [
        (kn.SampledController(plain, 2.5e-3), {"dt": DT}, "period=0.0025 s .* no whole number of steps of dt=0.001"),
        (kn.SampledController(plain, 2e-3), {"integrator": "adaptive"}, "chooses its steps itself"),
        (kn.SampledController(plain, 2e-3, [0.0]), {"dt": DT}, r"must return \(τ, next z\) with 1 numbers in z"),
        (kn.SampledController(lambda model, q: q[:0], 2e-3), {"dt": DT}, "τ of controller"),
        (kn.SampledController(lambda model, q, gain: q, 2e-3), {"dt": DT}, "needs gain"),
        (kn.SampledController(plain, 2e-3), {"contacts": kn.contact.RigidContacts()}, "event to event"),
    ],
)
def test_what_does_not_fit_is_said(law: Any, options: Any, complaint: str):
    with pytest.raises((ValueError, TypeError), match=complaint):
        kn.simulate(SLIDER, *START, 0.01, controller=law, **options)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((3.0, 1e-3), "law is a function"),
        ((plain, 0.0), "period=0.0 must be positive"),
        ((plain, "often"), "period is a number"),
        ((plain, 1e-3, [np.inf]), "state must be finite"),
    ],
)
def test_a_sampled_controller_is_checked(arguments: Any, complaint: str):
    with pytest.raises((ValueError, TypeError), match=complaint):
        kn.SampledController(*arguments)


def test_implicit_steps_know_what_is_theirs():
    """BDF2 tells its residual by the last entry of its memory, behind which a sampled controller has its own."""

    @kn.kernel
    def braking(model: Any, v: Any) -> Any:
        return -0.1 * v

    model, control = kn.robots.load("pendulum"), kn.SampledController(braking, 0.05)
    motion = kn.simulate(model, [0.1], [0.0], 0.1, dt=0.01, integrator="bdf2", controller=control)
    found = kn.rollout(model, [0.1], [0.0], None, 0.01, steps=10, integrator="bdf2", controller=control)
    np.testing.assert_allclose(motion.q[-1], found.q[-1], rtol=1e-13)
