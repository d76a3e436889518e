"""Actuators: their laws, what they are in files, and that motions honour them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.actuators import Actuator, AtFrame, AtJoints, motor, position_servo, velocity_servo
from knuckle.errors import ModelError
from knuckle.formats import loads, to_json, to_urdf

PENDULUM = kn.robots.load("double_pendulum")
UPPER, LOWER = PENDULUM.joint_names
Q, V = np.array([0.3, -0.8]), np.array([1.2, 0.4])
ACTUATORS = (
    motor("m", UPPER, gear=3.0, control_range=(-1.0, 1.0)),
    position_servo("p", LOWER, kp=20.0, kv=2.0, force_range=(-5.0, 5.0)),
    velocity_servo("v", LOWER, kv=4.0, gear=0.5),
    motor("both", (UPPER, LOWER), gear=(0.6, -0.4)),
)
DRIVEN = PENDULUM.replace(actuators=ACTUATORS)
U = np.array([2.0, 0.5, -1.0, 0.7])


def test_forces_follow_their_laws():
    p = min(5.0, max(-5.0, 20.0 * (0.5 - Q[1]) - 2.0 * V[1]))
    f = np.array([1.0, p, 4.0 * (-1.0 - 0.5 * V[1]), 0.7])
    assert kn.actuators.forces(DRIVEN, Q, V, U) == pytest.approx(f, abs=1e-14)
    tau = np.array([3.0 * f[0] + 0.6 * f[3], f[1] + 0.5 * f[2] - 0.4 * f[3]])
    assert kn.actuators.joint_forces(DRIVEN, Q, V, U) == pytest.approx(tau, abs=1e-14)


def test_the_power_of_actuators_is_that_of_their_joint_forces():
    """Virtual work: Σ f l̇ = τ·v, with l̇ from lengths a moment apart; a frame's wrench among them."""
    arm = kn.robots.load("arm")
    jet = Actuator("jet", AtFrame("tool0", (0.1, 0.2, 0.3), (1.0, 2.0, 3.0)), bias=(0.0, 0.0, 1.0))
    model = arm.replace(actuators=(jet,))
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(2, 7))
    twist = kn.velocity(arm, q, v, "tool0", expressed_in="body")
    rate = np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0]) @ twist
    assert kn.actuators.forces(model, q, v, [0.0]) == pytest.approx([rate], abs=1e-12)  # its bias is l̇
    tau = kn.actuators.joint_forces(model, q, v, [2.0])
    assert tau @ v == pytest.approx((2.0 + rate) * rate, abs=1e-11)


def test_no_joint_takes_more_than_its_effort():
    joints = list(PENDULUM.joints)
    joints[0] = dataclasses.replace(joints[0], limits=dataclasses.replace(joints[0].limits, effort=(2.0,)))
    model = DRIVEN.replace(joints=tuple(joints))
    assert kn.actuators.joint_forces(model, Q, V, U)[0] == 2.0
    assert model.effort_limit.tolist() == [2.0, np.inf]
    weak = kn.actuators.with_motors(model.without_actuators())
    assert [x.control_range for x in weak.actuators] == [(-2.0, 2.0), None]


@kn.kernel
def same(model: kn.Model, t: Any, q: Any, v: Any, u: Any) -> Any:
    return u


@kn.kernel
def as_forces(model: kn.Model, q: Any, v: Any, u: Any) -> Any:
    return kn.actuators.joint_forces(model, q, v, u)


@pytest.fixture(scope="module")
def expected() -> kn.Trajectory:
    return kn.simulate(DRIVEN, Q, V, 0.02, dt=1e-3, controller=as_forces, parameters={"u": U}, integrator="rk4")


@pytest.mark.parametrize("how", ["array", "kernel", "sampled", "python"])
@pytest.mark.parametrize("way", ["simulate", "rollout"])
def test_controls_act_however_they_are_given(expected: kn.Trajectory, how: str, way: str):
    def told(model: kn.Model, q: Any, u: Any) -> Any:
        return np.broadcast_to(u, (*q.shape[:-1], 4))

    controls = {"array": U, "kernel": same, "sampled": kn.SampledController(same, 5e-3),
                "python": kn.SampledController(told, 5e-3)}[how]  # fmt: skip
    options: Any = {"controls": controls, "parameters": None if how == "array" else {"u": U}}
    if way == "simulate":
        found = kn.simulate(DRIVEN, Q, V, 0.02, dt=1e-3, integrator="rk4", **options)
    else:
        found = kn.rollout(DRIVEN, np.stack([Q, Q + 1]), V, None, 1e-3, steps=20, **options)[0]
    assert found.q == pytest.approx(expected.q, abs=1e-12)
    assert found.tau == pytest.approx(expected.tau, abs=1e-10)


def test_a_sequence_of_controls_is_held_step_by_step():
    u = np.random.default_rng(1).normal(size=(6, 4))
    found = kn.rollout(DRIVEN, Q, V, None, 1e-3, steps=6, controls=u)
    world = kn.Stepping(DRIVEN, Q, V, dt=1e-3, controls=True)
    for row in u:
        world.step(row)
    assert np.array_equal(world.q, found.q[-1])


def test_without_controls_actuators_do_nothing(expected: kn.Trajectory):
    plain = kn.simulate(PENDULUM, Q, V, 0.02, dt=1e-3, integrator="rk4")
    assert np.array_equal(kn.simulate(DRIVEN, Q, V, 0.02, dt=1e-3, integrator="rk4").q, plain.q)
    assert not np.allclose(plain.q, expected.q)


def test_controls_need_actuators_and_fit_them():
    with pytest.raises(ValueError, match="double_pendulum has no actuators"):
        kn.simulate(PENDULUM, controls=[0.0])
    with pytest.raises(ValueError, match=r"controls is an array of shape \(2,\), and must have shape \(4,\)"):
        kn.simulate(DRIVEN, controls=[0.0, 1.0])
    with pytest.raises(ValueError, match="controls"):
        kn.rollout(DRIVEN, controls=np.zeros((3, 7, 4)), steps=5)


def test_files_keep_them():
    jet = Actuator("jet", AtFrame(PENDULUM.body_names[0], (0.1, 0.0, 0.0)), (1.0, 0.5, 0.0), (0.0, 0.0, -0.3))
    model = DRIVEN.replace(actuators=(*ACTUATORS, jet))
    again = loads(to_json(model))
    assert again.actuators == model.actuators
    assert again.content_hash == model.content_hash != PENDULUM.content_hash
    geared = PENDULUM.replace(actuators=(motor("m", UPPER, gear=50.0),))
    assert loads(to_urdf(geared, lossy=True)).actuators == geared.actuators
    with pytest.raises(ModelError, match="an actuator"):
        to_urdf(kn.robots.load("pendulum").replace(actuators=(position_servo("p", "pivot", kp=1.0),)))


def test_edits_keep_what_still_acts():
    from knuckle.model.edit import rename

    named = rename(DRIVEN, joints={UPPER: "shoulder"}, actuators={"m": "drive"})
    assert named.actuators[0].name == "drive"
    assert named.actuators[0].transmission == AtJoints(("shoulder",), (3.0,))
    part = DRIVEN.replace(bodies=DRIVEN.bodies[:1], joints=DRIVEN.joints[:1], frames=())
    assert [x.name for x in part.actuators] == ["m"]


@pytest.mark.parametrize(
    ("actuators", "complaint"),
    [
        ((motor("m", "nowhere"),), "what it acts on .nowhere. is not in the model"),
        ((motor("m", UPPER), motor("m", LOWER)), "two actuators are called 'm'"),
        (("m",), "actuators are kn.actuators.Actuator"),
    ],
)
def test_a_model_checks_its_actuators(actuators: Any, complaint: str):
    with pytest.raises(ModelError, match=complaint):
        PENDULUM.replace(actuators=actuators)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Actuator("a", AtJoints(("j",), (1.0,)), gain=(1.0, np.nan, 0.0)), "gain of the actuator 'a'"),
        (lambda: motor("a", "j", control_range=(1.0, -1.0)), "control_range of the actuator 'a'"),
        (lambda: AtJoints(("j", "k"), (1.0,)), "a gear for each"),
    ],
)
def test_an_actuator_is_checked(make: Any, complaint: str):
    with pytest.raises(ValueError, match=complaint):
        make()


def test_limits_are_arrays_and_parts_have_names():
    arm = kn.robots.load("arm")
    assert arm.lower.shape == arm.upper.shape == (arm.nq,)
    assert arm.velocity_limit.shape == arm.effort_limit.shape == (arm.nv,)
    elbow = arm.joint("elbow_pitch")
    k = arm.joint_index("elbow_pitch")
    assert (arm.lower[k], arm.upper[k]) == (elbow.limits.lower[0], elbow.limits.upper[0])
    assert arm.body(arm.body_names[2]) is arm.bodies[2]
    assert arm.body(arm.base.name) is arm.base
    floating = kn.robots.load("quadruped")
    assert np.isinf(floating.lower[:7]).all()
    with pytest.raises(KeyError, match="no joint is called 'elbow'"):
        arm.joint("elbow")
