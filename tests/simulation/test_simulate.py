"""`simulate`: what is computed, what ends it, and what is refused."""

import math
import os
import signal
import threading
import warnings

import numpy as np
import pytest
from scipy.integrate import simpson

import knuckle as kn
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.integrators.registry import INTEGRATORS, integrator_of
from knuckle.joints import Driven, Free, Prismatic
from knuckle.joints.composed.time_laws import Sinusoid
from knuckle.simulation.steps.step_policy import steps_of
from knuckle.simulation.steps.stepper import stepper

PENDULUM = kn.robots.load("double_pendulum")
Q0, V0 = np.array([1.0, -0.4]), np.array([0.3, 2.0])


@kn.kernel
def servo(model, t, q, v, q_ref, kp, kd):
    return kp * (q_ref - q) - kd * v


GAINS = {"q_ref": [0.5, -0.2], "kp": 30.0, "kd": [2.0, 1.0]}


def plain_servo(model, t, q, v, q_ref, kp, kd):
    return kp * (q_ref - q) - kd * v


# the rows


@pytest.mark.parametrize("integrator", ["euler", "heun", "rk4", "implicit"])
@pytest.mark.parametrize("controlled", [False, True])
def test_rows_are_the_steps_one_by_one_to_the_last_bit(integrator, controlled):
    options = {"controller": servo, "parameters": GAINS} if controlled else {}
    motion = kn.simulate(PENDULUM, Q0, V0, 0.4003, dt=2e-3, integrator=integrator, **options)
    single = stepper(PENDULUM, integrator_of(integrator), *(options.values() if options else ()))
    state = single.start(0.0, Q0, V0, 2e-3)
    for n in range(200):
        assert motion.times[n] == n * 2e-3
        assert np.array_equal(motion.q[n], state.q)
        assert np.array_equal(motion.v[n], state.v)
        state = single.step(n * 2e-3, state, 2e-3)
    last = single.step(200 * 2e-3, state, 0.4003 - 200 * 2e-3)
    assert motion.times[-1] == 0.4003
    assert np.array_equal(motion.q[-1], last.q)
    assert len(motion) == 202


@pytest.mark.parametrize("integrator", sorted(INTEGRATORS))
def test_every_integrator_simulates(integrator):
    motion = kn.simulate(PENDULUM, Q0, V0, 0.2, integrator=integrator)
    exact = kn.simulate(PENDULUM, Q0, V0, 0.2, dt=2e-4)
    assert motion.reason == "finished"
    assert motion.times[-1] == 0.2
    assert motion.integrator == integrator
    assert np.abs(motion.q[-1] - exact.q[-1]).max() < 3e-3


@pytest.mark.parametrize("keep", [1, 3, 7, 1000])
@pytest.mark.parametrize("controller", [None, plain_servo], ids=["native", "python"])
def test_every_kth_row_and_the_last_are_kept(keep, controller):
    given = {"controller": controller, "parameters": GAINS} if controller else {}
    every = kn.simulate(PENDULUM, Q0, V0, 0.1, **given)
    some = kn.simulate(PENDULUM, Q0, V0, 0.1, save_every=keep, **given)
    rows = sorted({*range(0, 101, keep), 100})
    assert np.array_equal(some.times, every.times[rows])
    assert np.array_equal(some.q, every.q[rows])
    assert np.array_equal(some.tau, every.tau[rows])


@pytest.mark.parametrize(
    ("duration", "dt", "steps"), [(1.0, 0.1, 10), (0.3, 0.1, 3), (1.05, 0.1, 11), (0.01, 0.1, 1), (1e6, 1e-3, 10**9)]
)
def test_number_of_steps(duration, dt, steps):
    assert steps_of(duration, dt) == steps


def test_defaults():
    motion = kn.simulate(PENDULUM)
    assert np.array_equal(motion.q[0], kn.neutral(PENDULUM))
    assert not motion.v[0].any()
    assert (motion.dt, motion.times[-1], len(motion), motion.integrator) == (1e-3, 1.0, 1001, "rk4")
    assert not motion.tau.any()


# controllers


def test_a_kernel_and_a_function_agree():
    native = kn.simulate(PENDULUM, Q0, V0, 0.5, controller=servo, parameters=GAINS)
    python = kn.simulate(PENDULUM, Q0, V0, 0.5, controller=plain_servo, parameters=GAINS)
    assert np.allclose(native.q, python.q, atol=1e-10)
    assert np.allclose(
        native.tau, plain_servo(PENDULUM, 0, native.q, native.v, np.array([0.5, -0.2]), 30.0, [2.0, 1.0])
    )
    assert np.allclose(native.tau, python.tau, atol=1e-8)


def test_parameters_are_arguments_of_the_code():
    stiff = kn.simulate(PENDULUM, Q0, V0, 2.0, controller=servo, parameters={**GAINS, "kp": 300.0})
    soft = kn.simulate(PENDULUM, Q0, V0, 2.0, controller=servo, parameters=GAINS)
    errors = [np.abs(m.q[-1] - GAINS["q_ref"]).max() for m in (stiff, soft)]
    assert errors[0] < errors[1] / 3


def test_time_reaches_a_kernel_and_tau_is_what_it_says():
    @kn.kernel
    def ramp(model, t, tau0):
        return tau0 * t

    motion = kn.simulate(PENDULUM, Q0, V0, 0.3, controller=ramp, parameters={"tau0": [1.0, 2.0]})
    assert np.array_equal(motion.tau, motion.times[:, None] * [1.0, 2.0])
    constant = kn.simulate(PENDULUM, Q0, V0, 0.3, controller=[1.0, 2.0])
    assert np.array_equal(constant.tau, np.tile([1.0, 2.0], (301, 1)))
    assert not np.array_equal(constant.q, motion.q)


def test_external_forces():
    def weightless(model, t, q, v):
        """Every body is carried: the wrench at its centre of mass that holds it against gravity."""
        pose = kn.body_poses(model, q)
        total = np.zeros((model.nb, 6))
        for i, body in enumerate(model.bodies):
            up = pose[i][:3, :3].T @ np.array([0, 0, 9.81]) * float(body.inertia.mass)
            total[i] = np.concatenate([np.cross(body.inertia.h, up) / float(body.inertia.mass), up])
        return total

    model = PENDULUM.without_friction()
    carried = kn.simulate(model, Q0, V0, 0.3, external_forces=weightless)
    free = kn.simulate(model.with_gravity((0, 0, 0)), Q0, V0, 0.3)
    assert np.allclose(carried.q, free.q, atol=1e-10)


def test_work_of_the_controller_and_of_damping_is_the_change_of_energy():
    model = kn.robots.load("arm")
    d = np.array([x for joint in model.joints for x in joint.damping])
    smooth = model.replace(joints=tuple(j.__class__(**{**_fields(j), "friction": ()}) for j in model.joints))

    def wave(model, t, q, v):
        return 5 * np.sin(3 * t + np.arange(model.nv)) - 0.5 * v

    motion = kn.simulate(smooth, None, None, 1.0, controller=wave)
    power = np.sum((motion.tau - d * motion.v) * motion.v, axis=-1)
    work = simpson(power, x=motion.times)
    assert np.ptp(motion.energy) > 0.1
    assert motion.energy[-1] - motion.energy[0] == pytest.approx(work, abs=1e-6 * np.ptp(motion.energy))


def _fields(joint):
    return {f: getattr(joint, f) for f in joint.__dataclass_fields__}


def test_a_joint_that_moves_by_a_law_of_time():
    """A mass on a spring whose other end is shaken: x'' = ω² (a sin(w t) − x)."""
    builder = kn.Builder("shaken", gravity=(0, 0, 0))
    builder.body("plate", joint=Driven(Prismatic("x"), Sinusoid(0.1, 3.0 / (2 * math.pi))), mass=1.0)
    builder.body("block", on="plate", joint=Prismatic("x"), mass=2.0, stiffness=50.0)
    model = builder.build()
    motion = kn.simulate(model, [0.0], [0.0], 0.8, frames=["block"])
    w, w0, a = 3.0, 5.0, 0.1
    t = motion.times
    law = a * np.sin(w * t)
    relative = a * w * w / (w0**2 - w * w) * (np.sin(w * t) - w / w0 * np.sin(w0 * t))  # y'' + w0² y = a w² sin w t
    assert np.allclose(motion.q[:, 0], relative, atol=1e-8)
    assert np.allclose(motion.frame("block")[:, 0, 3], law + relative, atol=1e-8)
    plate = a * w * np.cos(w * t)
    assert np.allclose(motion.kinetic_energy, 0.5 * plate**2 + (plate + motion.v[:, 0]) ** 2, atol=1e-12)


# adaptive steps


def test_adaptive_steps_leave_rows_of_their_own_or_even_ones():
    own = kn.simulate(PENDULUM, Q0, V0, 2.0, integrator="adaptive")
    even = kn.simulate(PENDULUM, Q0, V0, 2.0, integrator="adaptive", dt=0.01)
    assert own.dt is None
    assert own.times[-1] == even.times[-1] == 2.0
    assert np.ptp(np.diff(own.times)) > 1e-3
    assert np.allclose(even.times, np.arange(201) * 0.01)
    assert np.array_equal(own.q[-1], even.q[-1])
    exact = kn.simulate(PENDULUM, Q0, V0, 2.0, dt=1e-3).rows(slice(None, None, 10))
    assert np.abs(even.q - exact.q).max() < 1e-4
    thinned = kn.simulate(PENDULUM, Q0, V0, 2.0, integrator="adaptive", save_every=4)
    assert np.array_equal(thinned.times, own.times[sorted({*range(0, len(own), 4), len(own) - 1})])


def test_a_free_body_stays_on_its_manifold():
    builder = kn.Builder("body")
    builder.body("body", joint=Free(), mass=2.0, inertia=(0.1, 0.2, 0.25))
    body = builder.build()
    motion = kn.simulate(body, None, [3.0, 0.1, 0.2, 1.0, 0.0, 5.0], 1.0)
    assert np.abs(np.linalg.norm(motion.q[:, :4], axis=1) - 1).max() < 1e-12
    L = kn.centroidal_momentum(body, motion.q, motion.v)[:, :3]
    assert np.abs(L - L[0]).max() < 1e-9
    assert np.ptp(motion.energy) < 1e-9


# how it may end


def test_divergence_is_reported_with_time_and_joint():
    def explode(model, t, q, v):
        return np.array([0.0, 1e300 if t > 0.05 else 0.0]) * (1 + abs(v[1]))

    with (
        np.errstate(over="ignore"),
        pytest.warns(RuntimeWarning, match="of double_pendulum diverged at t = ") as caught,
    ):
        motion = kn.simulate(PENDULUM, Q0, V0, 1.0, controller=explode)
    assert caught[0].filename == __file__
    assert motion.reason == "diverged"
    assert any(name in motion.message for name in PENDULUM.joint_names)
    assert 0.049 < motion.times[-1] < 0.06
    assert np.isfinite(motion.q).all()
    assert np.isfinite(motion.v).all()


@pytest.mark.parametrize("keep", [1, 10])
def test_divergence_of_native_code_is_found_where_it_happens(keep):
    @kn.kernel
    def blow_up(model, t, v):
        return (1e3 * t) * (v @ v) * v

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        native = kn.simulate(PENDULUM, Q0, V0, 1.0, controller=blow_up, save_every=keep)
        python = kn.simulate(
            PENDULUM, Q0, V0, 1.0, controller=lambda model, t, v: 1e3 * t * (v @ v) * v, save_every=keep
        )
    assert native.reason == python.reason == "diverged"
    assert native.times[-1] == pytest.approx(python.times[-1], abs=1e-3)
    assert np.isfinite(native.v).all()
    assert native.message.startswith("at t = ")


@pytest.mark.parametrize("integrator", ["bdf1", "variational"])
def test_an_equation_that_is_not_solved_ends_the_simulation(integrator):
    @kn.kernel
    def runaway(model, t, v):
        return kn.spatial.Vector(1e6 * t * (x * x + 1) for x in v)

    with pytest.warns(RuntimeWarning, match="of double_pendulum diverged at t = .* did not converge"):
        motion = kn.simulate(PENDULUM, Q0, [3.0, -7.0], 1.0, dt=0.05, integrator=integrator, controller=runaway)
    assert motion.reason == "diverged"
    assert motion.times[-1] < 1.0
    assert np.isfinite(motion.q).all()


def test_an_interrupt_returns_what_was_computed():
    def pressed(model, t, q, v):
        if t >= 0.05:
            raise KeyboardInterrupt
        return 0 * v

    whole = kn.simulate(PENDULUM, Q0, V0, 0.1, controller=lambda model, t, q, v: 0 * v)
    part = kn.simulate(PENDULUM, Q0, V0, 0.1, controller=pressed)
    assert part.reason == "interrupted"
    assert 45 < len(part) <= 51
    assert np.array_equal(part.q, whole.q[: len(part)])
    assert np.array_equal(part.times, whole.times[: len(part)])


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to itself")
def test_ctrl_c_finishes_the_step():
    presses = [signal.SIGINT]

    def pressing(model, t, q, v):
        if abs(t - 0.05) < 1e-9 and presses:
            os.kill(os.getpid(), presses.pop())
        return 0 * v

    part = kn.simulate(PENDULUM, Q0, V0, 0.1, controller=pressing, integrator="euler")
    whole = kn.simulate(PENDULUM, Q0, V0, 0.1, controller=lambda model, t, q, v: 0 * v, integrator="euler")
    assert part.reason == "interrupted"
    assert part.message == "at t = 0.051 s of 0.1 s"
    assert np.array_equal(part.q, whole.q[:52])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_errors_of_a_controller_are_its_own():
    def broken(model, t, q, v):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        kn.simulate(PENDULUM, controller=broken)


def test_simulations_side_by_side_leave_the_policy_as_it_was(monkeypatch):
    monkeypatch.setattr(kernels, "policy", "auto")
    policies, gate = [], threading.Barrier(2, timeout=30)

    def controller(model, t, v):
        if t == 0.01:
            policies.append(kernels.policy)
        return -v

    def run(duration):
        gate.wait()
        results[duration] = kn.simulate(PENDULUM, Q0, V0, duration, controller=controller, integrator="euler")

    results = {}
    threads = [threading.Thread(target=run, args=(d,)) for d in (0.02, 0.1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(policies) == {"always"}
    assert kernels.policy == "auto"
    assert np.array_equal(results[0.02].q, results[0.1].q[:21])


# what is refused


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"q0": [1.0]}, ValueError, r"q0 has shape \(1,\), and must have shape \(2,\)"),
        (
            {"v0": np.zeros((5, 2))},
            ValueError,
            r"v0 has shape \(5, 2\): simulate takes one state \(2,\), kn.rollout takes",
        ),
        ({"q0": [np.nan, 0]}, ValueError, "q0 has an entry that is not finite"),
        ({"q0": "home"}, TypeError, "q0 must be 2 numbers, not 'home'"),
        ({"duration": -1}, ValueError, "duration=-1 must be positive and finite"),
        ({"duration": "long"}, TypeError, "duration is a number of seconds, not 'long'"),
        ({"dt": 0}, ValueError, "dt=0 must be positive"),
        ({"resume": True}, TypeError, "resume=True needs checkpoint="),
        ({"save_every": 0}, ValueError, "save_every=0 must be a whole number"),
        ({"integrator": "rk5"}, ValueError, "not 'rk5'"),
        ({"frames": ["tool"]}, KeyError, "no frame is called 'tool'"),
        ({"controller": [1.0]}, ValueError, r"controller is an array of shape \(1,\), and must have shape \(2,\)"),
        ({"controller": lambda model, gain: 0}, TypeError, "needs gain"),
        ({"controller": lambda model, q: {"tau": q}}, TypeError, "returns a dict, and must return an array"),
        (
            {"controller": lambda model, q: q[:1]},
            ValueError,
            r"returns an array of shape \(1,\), and must return shape",
        ),
        (
            {"parameters": {"kp": 1.0}},
            TypeError,
            "parameters has kp, which neither controller nor external_forces asks for",
        ),
    ],
)
def test_wrong_arguments_are_named(given, error, message):
    with pytest.raises(error, match=message):
        kn.simulate(PENDULUM, **{"duration": 0.01, **given})


def test_wrong_models():
    with pytest.raises(TypeError, match=r"simulate needs a knuckle\.Model first, not str"):
        kn.simulate("arm")  # pyright: ignore[reportArgumentType]
    builder = kn.Builder("body")
    builder.body("body", joint=Free(), mass=1.0, inertia=(1, 1, 1), joint_name="base")
    with pytest.raises(
        ValueError, match=r"q0: the quaternion of joint 'base' has length 0, not 1; start from kn\.neutral"
    ):
        kn.simulate(builder.build(), np.zeros(7))


def test_simulate_is_a_function():
    import inspect

    import knuckle.simulation.simulate as module

    assert kn.simulate is module.simulate
    assert inspect.isfunction(kn.simulate)
    assert list(inspect.signature(kn.simulate).parameters)[:4] == ["model", "q0", "v0", "duration"]
    assert isinstance(kn.simulate(PENDULUM, duration=0.01), kn.Trajectory)
    assert math.isclose(kn.simulate(PENDULUM, duration=0.01).duration, 0.01)
