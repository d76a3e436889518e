"""`kn.step` and `Stepping`: the steps of rollouts, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Free, Prismatic
from knuckle.model import Builder, Model, solid_sphere
from knuckle.simulation.actuated_control import GIVEN, with_actuators
from knuckle.simulation.controls import Control
from knuckle.simulation.stops.compliant_stops import with_stops

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
    b.ground()
    b.body("ball", joint=Free(), inertia=solid_sphere(1.0, 0.1), collisions=kn.model.Sphere(0.1))
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
        (lambda: kn.Stepping(ARM, readings=[late]), "readings are kernels by name"),
        (lambda: kn.Stepping(ARM, readings={"it": lambda *a: 0.0}), r"must take the model first: f\(model, q, v"),
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


@kn.kernel
def total(model: Model, q: Any, v: Any, scale: Any) -> Any:
    return scale * (q[0] + v[1])


@kn.kernel
def moved(model: Model, q: Any, q_before: Any, tau: Any) -> Any:
    return np.concatenate([q - q_before, tau])


@kn.kernel
def late(model: Model, t: Any) -> Any:
    return t > 0.003


def test_readings_are_of_the_state_after_a_step(rolled: Any):
    """Kernels that are read in the same call give what they give on the states themselves; one state and many."""
    readings, scale = {"total": total, "moved": moved, "late": late}, np.arange(1.0, 5.0)
    many = kn.Stepping(ARM, Q, V, dt=DT, readings=readings, parameters={"scale": 1.0})
    many.set_parameters({"scale": scale})
    many.step(TAU)
    q, v = rolled.q[:, 1], rolled.v[:, 1]
    assert many.readings["total"] == pytest.approx(scale * (q[:, 0] + v[:, 1]))
    assert many.readings["moved"] == pytest.approx(np.concatenate([q - Q, TAU], axis=1))
    assert not many.readings["late"].any()
    one = kn.Stepping(ARM, Q[2], V[2], dt=DT, readings=readings, parameters={"scale": scale[2]})
    assert one.readings["total"] == pytest.approx(scale[2] * (Q[2, 0] + V[2, 1]))
    one.step(TAU[2])
    for name, value in one.readings.items():
        assert np.array_equal(value, many.readings[name][2])
    one.step(TAU[2])
    assert one.readings["late"] == 1.0


def test_parameters_of_some_states_change():
    world = kn.Stepping(ARM, Q, V, dt=DT, readings={"total": total}, parameters={"scale": 2.0})
    world.set_parameters({"scale": [5.0, 7.0]}, which=[1, 3])
    world.reset(np.zeros((4, 2)), np.ones((4, 2)))
    assert world.readings["total"] == pytest.approx([2.0, 5.0, 2.0, 7.0])
    for values, complaint in (({"size": 1.0}, "no parameter size"), ({"scale": np.ones(3)}, "scale has shape")):
        with pytest.raises((TypeError, ValueError), match=complaint):
            world.set_parameters(values)


def test_time_begins_anew_where_it_is_said():
    @kn.kernel
    def clock(model: Model, t: Any) -> Any:
        return t

    world = kn.Stepping(ARM, Q, V, dt=DT, readings={"t": clock})
    world.step()
    world.reset(which=[0])
    world.reset(which=[1], time_anew=True)
    assert world.readings["t"] == pytest.approx([DT, 0.0, DT, DT])


@pytest.mark.slow
def test_many_robots_with_many_shapes_are_one_many_times():
    """Steps by loops over what touches: of a batch each state is to the last bit what it is by itself."""
    model = kn.model.edit.with_ground(kn.robots.load("quadruped"), friction=0.8)
    q = np.tile(kn.neutral(model), (150, 1))
    q[:, 6] = np.linspace(0.05, 0.6, 150)
    for threads in (1, 2):
        kn.compilation.set_threads(threads)
        many = kn.Stepping(model, q, dt=DT, substeps=3)
        for _ in range(40):
            many.step()
        for k in (0, 77, 149):
            one = kn.Stepping(model, q[k], dt=DT, substeps=3)
            for _ in range(40):
                one.step()
            assert np.array_equal(one.q, many.q[k])
            assert np.array_equal(one.v, many.v[k])
    kn.compilation.set_threads(None)


def test_forces_that_are_made_alike_share_their_code():
    """A law with actuators or stops is the same one in the next call: nothing is traced or compiled again."""

    @kn.kernel
    def spring(model: Model, q: Any) -> Any:
        return -q

    def law(stiffness: Any) -> Any:
        driven = with_actuators(Control(spring, "controller", ("q",)), GIVEN)
        return with_stops(driven, kn.simulation.CompliantStops(stiffness))

    for stiffness in (10.0, {"elbow": 10.0, "shoulder": 5.0}):
        assert law(stiffness) == law(stiffness)
        assert hash(law(stiffness)) == hash(law(stiffness))
        assert law(stiffness) != law(11.0)
        assert law(stiffness).is_text
