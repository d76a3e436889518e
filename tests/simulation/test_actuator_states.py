"""Actuators with states in motions: closed forms, ranges, every way to tell them their controls, friction, contact."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.actuators import Actuator, ActuatorDynamics, AtJoints
from knuckle.joints import Free, Prismatic
from knuckle.model import Box, solid_box
from knuckle.simulation import CompliantStops

T, GAIN, MASS, U, A0 = 0.1, 3.0, 2.0, 0.7, 0.2


def sledge(dynamics: ActuatorDynamics, friction: float = 0.0) -> kn.Model:
    b = kn.Builder("sledge", gravity=(0, 0, 0))
    b.body("s", joint=Prismatic((1.0, 0.0, 0.0)), inertia=solid_box(MASS, (0.1, 0.1, 0.1)), friction=friction)
    push = Actuator("push", AtJoints("s_joint", 1.0), (GAIN, 0.0, 0.0), dynamics=dynamics)  # pyright: ignore
    return b.build().replace(actuators=(push,))


def exact(t: float) -> tuple[float, float, float]:
    """x, ẋ and a: ȧ = (u − a)/T, m ẍ = g a."""
    left = 1 - np.exp(-t / T)
    a = U + (A0 - U) * (1 - left)
    v = GAIN / MASS * (U * t + (A0 - U) * T * left)
    return GAIN / MASS * (U * t * t / 2 + (A0 - U) * T * (t - T * left)), v, a


FILTER, EXACT = ActuatorDynamics("filter", T), ActuatorDynamics("filterexact", T)
EARLY = ActuatorDynamics("filterexact", T, is_early=True)
ORDERS = [
    ("euler", FILTER, 1), ("rk4", FILTER, 4), ("rk4", EXACT, 2), ("implicit", FILTER, 1), ("bdf2", FILTER, 2),
    ("variational", FILTER, 2), ("rk4", EARLY, 1),
]  # fmt: skip


@pytest.mark.parametrize(("integrator", "dynamics", "order"), ORDERS)
def test_motions_converge_to_the_closed_form(integrator: Any, dynamics: ActuatorDynamics, order: int):
    errors = []
    for dt in (0.02, 0.01):
        motion = kn.rollout(
            sledge(dynamics), [0.0], [0.0], None, dt, duration=0.4, integrator=integrator, controls=[U],
            actuator_states0=[A0],
        )  # fmt: skip
        x, v, a = exact(0.4)
        errors.append(max(abs(motion.q[-1, 0] - x), abs(motion.v[-1, 0] - v)))
        if dynamics.is_exact or integrator not in ("euler", "rk4"):
            assert abs(motion.actuator_states[-1, 0] - a) < 1e-14
        assert motion.tau[-1, 0] == pytest.approx(GAIN * motion.actuator_states[-1, 0], rel=1e-14)
    assert np.log2(errors[0] / errors[1]) > order - 0.2


def test_states_stay_within_their_range():
    """An integrator that is told 1 stops at 0.5, and goes back at once."""

    @kn.kernel
    def there_and_back(model: Any, t: Any) -> Any:
        return [kn.where(t < 0.8, 1.0, -1.0)]

    motion = kn.rollout(
        sledge(ActuatorDynamics("integrator", range=(-0.5, 0.5))), [0.0], [0.0], None, 0.01, steps=100,
        integrator="euler", controls=there_and_back,
    )  # fmt: skip
    expected = np.concatenate([0.01 * np.arange(50), np.full(31, 0.5), 0.5 - 0.01 * np.arange(1, 21)])
    np.testing.assert_allclose(motion.actuator_states[:, 0], expected, atol=1e-12)


def test_states_go_to_files_and_back(tmp_path: Any):
    motion = kn.simulate(sledge(FILTER), [0.0], [0.0], 0.05, dt=0.01, integrator="euler", controls=[U])
    motion.save(tmp_path / "motion.npz")
    assert (type(motion).load(tmp_path / "motion.npz").actuator_states == motion.actuator_states).all()
    assert motion.to_xarray()["actuator_states"].dims == ("time", "actuator")
    assert motion[0.02:0.04].actuator_states.shape == (3, 1)


def test_a_quick_filter_is_stable_where_it_is_exact():
    """A time constant of a hundredth of a step."""
    motion = kn.rollout(
        sledge(ActuatorDynamics("filterexact", 1e-4)),
        [0.0],
        [0.0],
        None,
        0.01,
        steps=10,
        integrator="rk4",
        controls=[U],
    )
    assert motion.actuator_states[-1, 0] == pytest.approx(U, rel=1e-12)


def constant(model: Any, t: Any, q: Any, v: Any) -> Any:
    return [U]


def sampled(model: Any, q: Any, v: Any) -> Any:
    return [U]


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "rk4", "implicit", "bdf2"])
@pytest.mark.parametrize("dynamics", [FILTER, EARLY], ids=["filter", "early"])
def test_all_ways_agree(integrator: Any, dynamics: ActuatorDynamics):
    """Constant controls, arrays, kernels, Python functions, samples; in simulations, rollouts and step by step."""
    model, dt = sledge(dynamics), 0.01
    ways: list[Any] = [
        [U], constant, kn.kernel(constant), kn.SampledController(kn.kernel(sampled), 0.05),
        kn.SampledController(lambda model, q, v: np.array([U]), 0.05),
    ]  # fmt: skip
    options: Any = {"integrator": integrator, "actuator_states0": [A0]}
    first = kn.rollout(model, [0.0], [0.0], None, dt, steps=40, controls=np.full((40, 1), U), **options)
    motions: list[Any] = [kn.rollout(model, [0.0], [0.0], None, dt, steps=40, controls=u, **options) for u in ways]
    motions += [kn.simulate(model, [0.0], [0.0], 0.4, dt=dt, controls=u, **options) for u in ways]
    stops: Any = CompliantStops(stiffness=100.0, damping=1.0)
    motions.append(kn.simulate(model, [0.0], [0.0], 0.4, dt=dt, controls=[U], joint_limits=stops, **options))
    motions.append(
        kn.simulate(model, [0.0], [0.0], 0.4, dt=dt, controls=[U], controller=lambda model, v: 0 * v, **options)
    )
    for motion in motions:
        for name in ("q", "v", "actuator_states", "tau"):
            np.testing.assert_allclose(getattr(motion, name)[-1], getattr(first, name)[-1], rtol=1e-12, err_msg=name)
    begun = model.replace(
        actuators=tuple(Actuator(x.name, x.transmission, x.gain, dynamics=ActuatorDynamics(
            dynamics.kind, T, None, dynamics.is_early, A0)) for x in model.actuators)
    )  # fmt: skip
    one = kn.Stepping(begun, dt=dt, substeps=4, integrator=integrator, controls=True)
    many = kn.Stepping(begun, np.zeros((3, 1)), dt=dt, substeps=4, integrator=integrator, controls=True)
    for _ in range(10):
        one.step([U])
        many.step(np.full((3, 1), U))
    np.testing.assert_allclose(one.q, first.q[-1], rtol=1e-12)
    np.testing.assert_allclose(one.actuator_states, first.actuator_states[-1], rtol=1e-12)
    np.testing.assert_allclose(many.actuator_states, np.tile(first.actuator_states[-1], (3, 1)), rtol=1e-12)
    np.testing.assert_allclose(many.v, np.tile(first.v[-1], (3, 1)), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_friction_holds_until_the_state_is_large_enough(integrator: Any):
    """f = 3 t against a friction of 1: it slides from t = 1/3 on."""
    model = sledge(ActuatorDynamics("integrator"), friction=1.0)
    motion = kn.simulate(model, [0.0], [0.0], 1.0, dt=1e-3, integrator=integrator, controls=[1.0])
    assert motion.v[330, 0] == 0.0
    assert motion.v[-1, 0] == pytest.approx((1.5 * (1 - 1 / 9) - 2 / 3) / MASS, abs=1e-5)


def test_a_rigid_stop_holds_until_the_state_pulls_back():
    """The state grows until t = ½ and is zero again at 1, where the sledge leaves its stop."""
    model = sledge(ActuatorDynamics("integrator"))
    ends = kn.model.Limits((-1.0,), (0.05,))
    model = model.replace(joints=(replace(model.joints[0], limits=ends),))

    @kn.kernel
    def there_and_back(model: Any, t: Any) -> Any:
        return [kn.where(t < 0.5, 1.0, -1.0)]

    options: Any = {"integrator": "euler", "controls": there_and_back, "joint_limits": "rigid"}
    motion = kn.simulate(model, [0.0], [0.0], 1.5, dt=1e-3, **options)
    assert [event.kind for event in motion.events] == ["impact", "rest", "release"]
    assert motion.events[-1].time == pytest.approx(1.0, abs=2e-3)
    resting = (motion.times > motion.events[0].time) & (motion.times < motion.events[-1].time)
    assert (motion.q[resting] == 0.05).all()
    assert motion.v[-1, 0] == pytest.approx(-GAIN / MASS * 0.5**2 / 2, rel=1e-2)


@pytest.mark.slow
def test_a_box_that_is_pushed_on_the_ground():
    """It slides where the state of its actuator, an integrator, has overcome friction: contact steps."""
    b = kn.Builder("box", base="world")
    b.surface("floor", friction=0.5)
    b.ground(surface="floor")
    b.body(
        "box", joint=Free(), inertia=solid_box(1.0, (0.4, 0.4, 0.1)), collisions=Box((0.4, 0.4, 0.1)), surface="floor"
    )
    push = kn.actuators.AtFreeJoint("box_joint", force=(10.0, 0.0, 0.0))
    model = b.build().replace(actuators=(Actuator("push", push, dynamics=ActuatorDynamics("integrator")),))
    q = kn.neutral(model)
    q[6] = 0.05
    motion = kn.simulate(model, q, None, 1.0, dt=2e-3, integrator="contact", controls=[1.0])
    begins = 0.5 * 9.81 / 10
    assert np.abs(motion.v[: int(0.95 * begins / 2e-3)]).max() < 1e-3
    assert motion.v[-1, 3] == pytest.approx(5 * (1 - begins**2) - 0.5 * 9.81 * (1 - begins), rel=0.02)


def test_mistakes_are_named():
    model = sledge(FILTER)
    with pytest.raises(ValueError, match="actuator_states0 is given, and controls, which they follow, is not given"):
        kn.simulate(model, actuator_states0=[0.1])
    with pytest.raises(ValueError, match=r"actuator_states0 is finite numbers of shape \(\.\.\., 1\)"):
        kn.rollout(model, steps=1, controls=[0.1], actuator_states0=[0.1, 0.2])
    with pytest.raises(ValueError, match="kind of an actuator's dynamics is one of integrator, filter, filterexact"):
        ActuatorDynamics("delay")  # pyright: ignore[reportArgumentType]
    with pytest.raises(kn.ModelError, match="is no ball joint, and its transmission takes one"):
        model.replace(actuators=(Actuator("x", kn.actuators.AtBallJoint("s_joint", (1.0, 0.0, 0.0))),))
