"""`kn.step` and `Stepping`: the steps of rollouts, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Free, Prismatic
from knuckle.model import Builder, Model, solid_sphere

ARM = kn.robots.load("double_pendulum")
DT = 2e-3
rng = np.random.default_rng(0)
Q, V, TAU = rng.normal(size=(3, 4, 2))


@pytest.fixture(scope="module")
def rolled() -> Any:
    return kn.rollout(ARM, Q, V, TAU[:, None], DT, steps=6, integrator="rk4")


def test_a_step_is_that_of_a_rollout(rolled: Any):
    q, v = kn.step(ARM, Q, V, TAU, DT)
    assert np.array_equal(q, rolled.q[:, 1])
    assert np.array_equal(v, rolled.v[:, 1])
    one, _ = kn.step(ARM, Q[0], V[0], TAU[0], DT)
    assert np.array_equal(one, q[0])


def test_a_bound_step_has_its_options(rolled: Any):
    fast = kn.bind(ARM).prepare(kn.step, integrator="euler")
    euler = kn.rollout(ARM, Q[0], V[0], TAU[0], DT, steps=1, integrator="euler")
    assert np.array_equal(fast(Q[0], V[0], TAU[0], DT)[0], euler.q[1])


@pytest.mark.parametrize("substeps", [1, 3])
def test_stepping_goes_where_a_rollout_goes(rolled: Any, substeps: int):
    one, all_of_them = kn.Stepping(ARM, Q[1], V[1], dt=DT, substeps=substeps), kn.Stepping(
        ARM, Q, V, dt=DT, substeps=substeps
    )  # fmt: skip
    for _ in range(6 // substeps):
        one.step(TAU[1])
        q, v = all_of_them.step(TAU)
    assert np.array_equal(one.q, rolled.q[1, 6])
    assert np.array_equal(one.v, rolled.v[1, 6])
    assert np.array_equal(q, rolled.q[:, 6])
    assert np.array_equal(v, all_of_them.v)
    assert one.t == pytest.approx(6 * DT)


def test_some_of_a_batch_are_reset_and_the_others_go_on(rolled: Any):
    world = kn.Stepping(ARM, Q, V, dt=DT)
    world.step(TAU)
    before = world.q
    world.reset(np.ones(2), which=[True, False, False, True])
    assert np.array_equal(world.q[[0, 3]], np.ones((2, 2)))
    assert np.array_equal(world.q[1:3], rolled.q[1:3, 1])
    assert np.array_equal(before, rolled.q[:, 1])  # what was given out stays what it was
    world.reset(Q, V)
    assert world.t == 0.0


def test_a_controller_acts_besides():
    @kn.kernel
    def spring(model: Model, q: Any, v: Any, k: Any) -> Any:
        return -k * q

    world = kn.Stepping(ARM, Q[0], V[0], dt=DT, controller=spring, parameters={"k": 3.0})
    world.step(TAU[0])
    both = kn.rollout(ARM, Q[0], V[0], TAU[0], DT, steps=1, controller=spring, parameters={"k": 3.0})
    assert np.array_equal(world.q, both.q[1])


@pytest.mark.slow
def test_an_implicit_step_has_its_force():
    """A step that is solved in Python takes the same force as one that is compiled."""
    long = kn.Stepping(ARM, Q[0], V[0], dt=DT, integrator=kn.integrators.Variational(order=4))
    expected = kn.simulate(
        ARM, Q[0], V[0], DT, dt=DT, controller=TAU[0], integrator=kn.integrators.Variational(order=4)
    )
    assert long.step(TAU[0])[0] == pytest.approx(expected.q[-1], abs=1e-12)


@pytest.fixture(scope="module")
def ball() -> Model:
    b = Builder("ball")
    b.ground(friction=0.5)
    b.body("ball", joint=Free(), inertia=solid_sphere(1.0, 0.1))
    b.collision("ball", kn.model.Sphere(0.1))
    return b.build()


@pytest.mark.slow
def test_contacts_are_remembered(ball: Model):
    q = kn.neutral(ball)
    q[6] = 0.1
    world = kn.Stepping(ball, q, dt=DT)
    rolled = kn.rollout(ball, q, None, None, DT, steps=50)
    for _ in range(50):
        world.step()
    assert world.q == pytest.approx(rolled.q[-1], abs=1e-12)
    assert world.q[6] == pytest.approx(0.1, abs=1e-6)
    q, v = kn.step(ball, world.q, world.v, None, DT)
    assert v == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (
            lambda: kn.Stepping(ARM, Q, V).step(np.zeros((3, 2))),
            r"tau has shape \(3, 2\), and must have shape \(4, 2\)",
        ),
        (lambda: kn.Stepping(ARM).step(np.zeros(3)), "tau has shape"),
        (lambda: kn.Stepping(ARM, integrator="adaptive"), "chooses its steps itself"),
        (lambda: kn.Stepping(ARM, substeps=0), "substeps is a whole number"),
        (lambda: kn.Stepping(ARM, dt=-1.0), "dt=-1.0 must be positive"),
        (lambda: kn.Stepping(ARM, controller=lambda model, q: q), "no kernel"),
        (lambda: kn.Stepping(ARM, controls=True), "has no actuators"),
        (lambda: kn.Stepping(ARM).reset(Q[0], which=[0]), "which is indices or a mask"),
        (lambda: kn.Stepping(ARM, 1e-3), r"q has shape \(\), and must have shape \(..., 2\)"),
        (lambda: kn.step(ARM, Q[0, :1], V[0]), r"q has shape \(..., 1\), and must have shape \(..., 2\)"),
        (lambda: kn.step(ARM, Q[0], V[0], integrator="adaptive"), "chooses its steps itself"),
    ],
)
@pytest.mark.filterwarnings("ignore:step runs as plain Python")
def test_what_does_not_fit_is_said(call: Any, complaint: str):
    with pytest.raises((ValueError, TypeError), match=complaint):
        call()


def test_a_stop_pushes_in_stepping():
    b = Builder("slider", gravity=(0, 0, 0))
    b.body("mass", joint=Prismatic("x"), inertia=solid_sphere(1.0, 0.1), limits=(-1.0, 1.0))
    model = b.build()
    world = kn.Stepping(model, [0.99], [1.0], dt=1e-3, substeps=300,
                        joint_limits=kn.simulation.CompliantStops(1e3, 10.0))  # fmt: skip
    world.step()
    assert world.v[0] < 0
