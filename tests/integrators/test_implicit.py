"""Stiff springs, dampers and gains: implicit integrators do not need small steps for them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.integrators import (
    BDF1,
    BDF2,
    ConvergenceError,
    ImplicitEuler,
    Integrator,
    SemiImplicitEuler,
    State,
    Variational,
)
from knuckle.integrators.force_slopes import local_slopes
from knuckle.integrators.methods import implicit_euler
from knuckle.joints import Prismatic, Spherical
from knuckle.simulation.steps.stepper import stepper

from .mechanisms import AHEAD, BODY, pair, run, start

STIFF = [ImplicitEuler(), BDF1(), BDF2()]


def slider(stiffness: float, damping: float) -> kn.Model:
    """A mass of 2 kg on a spring and a damper, without gravity: linear."""
    builder = kn.Builder("slider", gravity=(0.0, 0.0, 0.0))
    builder.body("mass", joint=Prismatic("x"), mass=2.0, inertia=(1.0, 1.0, 1.0), stiffness=stiffness, damping=damping)
    return builder.build()


def one_step(model: kn.Model, integrator: Integrator, dt: float, **forces: object) -> State:
    stepping = stepper(model, integrator, **forces)  # type: ignore[arg-type]
    return stepping.step(0.0, stepping.start(0.0, np.array([0.3]), np.array([-0.7]), dt), dt)


@pytest.mark.parametrize("integrator", [ImplicitEuler(), BDF1()])
def test_a_linear_spring_is_stepped_as_the_equation_says(integrator: Integrator):
    """(m + dt d + dt² k) v' = m v − dt k q (notes 2.73): exact for both, as the force is linear."""
    m, k, d, dt, q, v = 2.0, 1e5, 40.0, 0.05, 0.3, -0.7
    expected = (m * v - dt * k * q) / (m + dt * d + dt * dt * k)
    new = one_step(slider(k, d), integrator, dt)
    assert new.v[0] == pytest.approx(expected, rel=1e-12)
    assert new.q[0] == pytest.approx(q + dt * expected, abs=1e-12)


@kn.kernel
def pd(model, q, v, kp, kd):
    return -kp * q - kd * v


@pytest.mark.parametrize("integrator", [ImplicitEuler(), BDF1()])
def test_gains_of_a_kernel_are_as_good_as_springs(integrator: Integrator):
    gains = {"kp": 1e5, "kd": 40.0}
    by_gains = one_step(slider(0.0, 0.0), integrator, 0.05, controller=pd, parameters=gains)
    np.testing.assert_allclose(by_gains.v, one_step(slider(1e5, 40.0), integrator, 0.05).v, rtol=1e-11)


@pytest.mark.parametrize("integrator", STIFF, ids=lambda x: type(x).__name__)
def test_a_stiff_mechanism_comes_to_rest_with_long_steps(integrator: Integrator):
    """Springs of 10⁶ N m/rad, also about a ball joint: a period of a millisecond, and steps of twenty."""
    builder = kn.Builder("stiff")
    builder.body("first", joint=Spherical(), stiffness=1e6, damping=1e3, **BODY)
    builder.body("second", "first", kn.joints.Revolute("y"), (0.0, 0.0, 0.5), stiffness=1e6, damping=10.0, **BODY)
    model = builder.build()
    stepping, dt = stepper(model, integrator), 0.02
    state = stepping.start(0.0, kn.integrate(model, kn.neutral(model), 0.1 * np.ones(4)), np.zeros(4), dt)
    for k in range(100):
        state = stepping.step(k * dt, state, dt)
    away = kn.difference(model, kn.neutral(model), state.q)
    np.testing.assert_allclose(1e6 * away, -kn.gravity_force(model, state.q), atol=1e-3)
    assert np.abs(state.v).max() < 1e-6

    explicit = stepper(model, SemiImplicitEuler())
    with np.errstate(all="ignore"):
        blown = explicit.start(0.0, state.q, np.full(4, 1e-3), dt)
        for k in range(20):
            blown = explicit.step(k * dt, blown, dt)
    assert not np.abs(blown.v).max() < 1e3


@pytest.mark.parametrize(
    "integrator",
    [BDF1(), *(pytest.param(x, marks=pytest.mark.slow) for x in (BDF2(), Variational()))],
    ids=lambda x: type(x).__name__,
)
def test_a_python_controller_is_asked_where_a_kernel_is(integrator: Integrator):
    """The equation is the same, so the solution is: the forces are asked again after every improvement of it."""
    model = pair()

    def pull(model, t, q, v, gain):
        return -gain * v + 0.1 * t

    @kn.kernel
    def native(model, t, q, v, gain):
        return kn.spatial.Vector(-gain * x + 0.1 * t for x in v)

    forces = {"parameters": {"gain": 0.3}}
    ours = run(model, integrator, 0.05, 5, controller=native, **forces)
    theirs = run(model, integrator, 0.05, 5, controller=pull, **forces)
    np.testing.assert_allclose(theirs.v, ours.v, rtol=0, atol=1e-8)


def test_linearly_implicit_euler_holds_the_force_of_a_python_controller():
    model, seen = pair(), list[np.ndarray]()

    def pull(model, q, v):
        seen.append(-3.0 * v)
        return seen[-1]

    new = run(model, ImplicitEuler(), 0.01, 1, controller=pull)
    assert len(seen) == 1
    np.testing.assert_array_equal(new.v, run(model, ImplicitEuler(), 0.01, 1, controller=seen[0]).v)


@pytest.mark.parametrize("integrator", [BDF1(), BDF2()], ids=lambda x: type(x).__name__)
def test_newton_gets_there_from_afar(integrator: Integrator):
    """A double pendulum that turns by a tenth of a radian, and then by half of one, in a step."""
    model, rng, dt = kn.robots.load("double_pendulum"), np.random.default_rng(0), 0.02
    q, v = rng.uniform(-3, 3, (40, 2)), 5 * rng.normal(size=(40, 2))
    found = kn.rollout(model, q, v, None, dt, steps=5, integrator=integrator)
    assert np.isfinite(found.q).all()
    if isinstance(integrator, BDF1):
        a = np.diff(found.v, axis=1) / dt
        tau = kn.inverse_dynamics(model, found.q[:, 1:], found.v[:, 1:], a)
        assert np.abs(tau).max() < 1e-6
    states = zip(q[:8], 2 * v[:8], strict=True)
    ends = [kn.simulate(model, *state, 1.0, dt=0.05, integrator=integrator, progress=False) for state in states]
    assert [end.reason for end in ends] == ["finished"] * 8


def test_what_the_code_of_a_step_does_not_solve_is_solved_by_more_iterations():
    """One improvement is not enough; `simulate` goes on from there, with the result of a step that has enough."""
    model = kn.robots.load("double_pendulum")
    short, long = (stepper(model, BDF1(iterations=n)) for n in (1, 8))
    assert short.is_compiled
    state = short.start(0.0, [1.0, 0.5], [3.0, -2.0], 0.02)
    np.testing.assert_allclose(short.step(0.0, state, 0.02).v, long.step(0.0, state, 0.02).v, rtol=0, atol=1e-9)
    some = {"dt": 0.02, "progress": False}
    ends = [kn.simulate(model, [1.0, 0.5], [3.0, -2.0], 0.5, integrator=BDF1(iterations=n), **some) for n in (1, 8)]
    np.testing.assert_allclose(ends[0].v, ends[1].v, rtol=0, atol=1e-8)


def test_no_solution_is_an_error_that_says_where():
    """A controller that grows without bound within the step: nothing satisfies the equation."""

    def runaway(model, v):
        return 1e4 * v * v + 1e4

    with pytest.raises(ConvergenceError, match=r"BDF1 did not converge: in a step of 0.05 s up to t = 0.05 s"):
        one_step(slider(0.0, 0.0), BDF1(), 0.05, controller=runaway)


def test_in_a_rollout_no_solution_is_not_a_number():
    model = pair()
    q, v = start(model)
    with pytest.warns(RuntimeWarning, match="Variational did not solve its equations"):
        found = kn.rollout(model, q, 30 * v, None, 0.2, steps=3, integrator=Variational(iterations=2))
    assert np.isnan(found.q[-1]).all()


@kn.kernel
def computed_torque(model, q, v, kp, kd):
    return kn.inverse_dynamics(model, q, v, -kp * q - kd * v)


def branched(sprung_ball: bool = False) -> kn.Model:
    """Springs and dampers at hinges, sliders, followers and a ball joint."""
    builder = kn.Builder("branched")
    stiff = {"stiffness": 30.0} if sprung_ball else {}
    builder.body("ball", joint=Spherical(), damping=(0.3, 0.2, 0.1), **stiff, **BODY)
    builder.body("hinge", "ball", kn.joints.Revolute("x"), AHEAD, stiffness=300.0, damping=5.0, rest=0.1, **BODY)
    builder.body("slider", "ball", Prismatic("y"), AHEAD, stiffness=3e3, damping=20.0, rotor_inertia=0.2, **BODY)
    builder.body("wheel", "hinge", kn.joints.Revolute("z"), AHEAD, stiffness=2.0, damping=0.4, **BODY)
    builder.couple("wheel_joint", "hinge_joint", 2.5)
    return builder.build()


@contextmanager
def slopes(found: Callable[..., Any]) -> Iterator[None]:
    """Steps that ask `found` for local slopes; by the text itself, as no code of other steps may stand for them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(implicit_euler, "local_slopes", found)
        patch.setattr(kernels, "policy", "never")
        yield


def by_matrices(model: kn.Model, dt: float, **forces: object) -> State:
    """One step by the matrices of the equation."""
    with slopes(lambda *_: None):
        return run(model, ImplicitEuler(), dt, 1, **forces)


@pytest.mark.sampled
@pytest.mark.parametrize("dt", [1e-3, 0.05])
@pytest.mark.parametrize("what", ["nothing", "constant", "python", "PD", "computed torque", "loop", "sprung ball"])
def test_a_step_by_forward_dynamics_is_the_step_by_matrices(what: str, dt: float):
    model, forces = branched(what == "sprung ball"), dict[str, object]()
    if what == "loop":
        model = kn.robots.load("four_bar")
        model = kn.model.edit.with_joint(model, model.joint_names[0], stiffness=50.0, damping=2.0)
    elif what == "constant":
        forces = {"controller": np.linspace(-1, 1, model.nv)}
    elif what == "python":
        forces = {"controller": lambda model, q, v: -3.0 * v}
    elif what == "PD":
        model = kn.robots.load("arm").without_friction()
        forces = {"controller": pd, "parameters": {"kp": 500.0, "kd": 40.0}}
    elif what == "computed torque":
        model = kn.robots.load("arm").without_friction()
        forces = {"controller": computed_torque, "parameters": {"kp": 500.0, "kd": 40.0}}
    if what == "loop":
        q, v = kn.loops.project(model, kn.loops.close(model, kn.neutral(model)).q, np.ones(model.nv))
        stepping = stepper(model, ImplicitEuler())
        fast = stepping.step(0.0, stepping.start(0.0, q, v, dt), dt)
        with slopes(lambda *_: None):
            slow = stepper(model, ImplicitEuler())
            slow = slow.step(0.0, slow.start(0.0, q, v, dt), dt)
    else:
        fast, slow = run(model, ImplicitEuler(), dt, 1, **forces), by_matrices(model, dt, **forces)
    np.testing.assert_allclose(fast.v, slow.v, rtol=0, atol=1e-10 * (1 + np.abs(slow.v).max()))
    np.testing.assert_allclose(fast.q, slow.q, rtol=0, atol=1e-10)


def test_which_slopes_are_local():
    def is_local(model: kn.Model, controller: object = None, **parameters: float) -> bool:
        found = list[bool]()

        def look(system, t, q, v):
            found.append(local_slopes(system, t, q, v) is not None)
            return None

        with slopes(look):
            run(model, ImplicitEuler(), 0.01, 1, controller=controller, parameters=parameters)
        return found[-1]

    arm = kn.robots.load("arm").without_friction()
    assert is_local(arm)
    assert is_local(arm, pd, kp=3.0, kd=1.0)
    assert not is_local(arm, computed_torque, kp=3.0, kd=1.0)
    assert is_local(branched())
    assert not is_local(branched(sprung_ball=True))

    @kn.kernel
    def between(model, q):
        return kn.spatial.Vector([q[0] - q[1], q[1] - q[0]])

    assert not is_local(kn.robots.load("double_pendulum"), between), "the sum of its slopes is zero"


@pytest.mark.slow
def test_large_stiff_mechanisms_are_stepped_in_native_code():
    """A chain of seventy stiff hinges comes to rest; by matrices a step takes about a second in Python."""
    builder = kn.Builder("chain", gravity=(0, 0, -0.1))
    for k in range(70):
        on = f"link{k - 1}" if k else None
        builder.body(
            f"link{k}", on, kn.joints.Revolute("xyz"[k % 3]), (0.1, 0, 0), mass=0.1, inertia=(1e-4,) * 3,
            stiffness=500.0, damping=500.0,
        )  # fmt: skip
    model = builder.build()
    assert kn.simulate(model, None, None, 0.2, dt=0.02, integrator="implicit", progress=False).reason == "finished"
    began = time.monotonic()
    motion = kn.simulate(model, None, None, 40.0, dt=0.02, integrator="implicit", progress=False)
    assert motion.reason == "finished"
    assert time.monotonic() - began < 5.0
    assert np.abs(motion.v[1]).max() > 1e-4
    assert np.abs(motion.v[-1]).max() < 1e-9
    assert np.abs(kn.forward_dynamics(model, motion.q[-1], 0 * motion.v[-1], np.zeros(70))).max() < 1e-4


def test_options_are_checked():
    with pytest.raises(ValueError, match="iterations is a whole number above zero, not 0"):
        BDF1(iterations=0)
    with pytest.raises(ValueError, match="tolerance is above zero, not -1"):
        BDF2(tolerance=-1)
    with pytest.raises(ValueError, match="order is 2 or 4, not 3"):
        Variational(order=3)


@pytest.mark.parametrize("way", ["simulate", "rollout"])
def test_bdf2_can_start_with_two_implicit_stages(way: str):
    """On a linear oscillator the first step is Alexander's SDIRK2: y + h ((1 − a) k₁ + a k₂) with a = 1 − √½."""
    model, h, a = slider(30.0, 0.5), 0.05, 1 - np.sqrt(0.5)
    mass = float(kn.mass_matrix(model, [0.0])[0, 0])
    A = np.array([[0.0, 1.0], [-30.0 / mass, -0.5 / mass]])
    y, one = np.array([0.3, -0.2]), np.eye(2)
    k1 = np.linalg.solve(one - a * h * A, A @ y)
    k2 = np.linalg.solve(one - a * h * A, A @ (y + h * (1 - a) * k1))
    method = BDF2(start="sdirk2")
    if way == "simulate":
        run = kn.simulate(model, y[:1], y[1:], h, dt=h, integrator=method)
    else:
        run = kn.rollout(model, y[:1], y[1:], None, h, steps=1, integrator=method)
    np.testing.assert_allclose([run.q[-1, 0], run.v[-1, 0]], y + h * ((1 - a) * k1 + a * k2), atol=1e-12)
    with pytest.raises(ValueError, match='start is "bdf1" or "sdirk2", not'):
        BDF2(start="rk4")  # type: ignore[arg-type]
