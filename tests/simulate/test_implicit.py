"""Stiff springs, dampers and gains: implicit integrators do not need small steps for them."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Prismatic, Spherical
from knuckle.simulate.integrators import (
    BDF1,
    BDF2,
    ConvergenceError,
    ImplicitEuler,
    Integrator,
    SemiImplicitEuler,
    State,
    Variational,
    stepper,
)

from .mechanisms import BODY, pair, run, start

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


@pytest.mark.parametrize("integrator", [BDF1(), BDF2(), Variational()], ids=lambda x: type(x).__name__)
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


def test_options_are_checked():
    with pytest.raises(ValueError, match="iterations is a whole number above zero, not 0"):
        BDF1(iterations=0)
    with pytest.raises(ValueError, match="tolerance is above zero, not -1"):
        BDF2(tolerance=-1)
    with pytest.raises(ValueError, match="order is 2 or 4, not 3"):
        Variational(order=3)
