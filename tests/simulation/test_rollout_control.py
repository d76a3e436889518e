"""What acts on a rollout: controllers, external forces, other mechanisms, time; and what is said about mistakes."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls import trajectory_batches
from knuckle.joints import Driven, Revolute, Sinusoid
from knuckle.model import Builder, Model
from knuckle.model.edit import attach
from knuckle.scalar import sin
from knuckle.spatial import Inertia, Vector

Array = np.ndarray[Any, Any]
DT = 1e-3
ARM = kn.robots.load("double_pendulum")
NV = ARM.nv
rng = np.random.default_rng(0)


@kn.kernel
def spring(model: Model, q: Any, v: Any, stiffness: Any, rest: Any) -> Any:
    return stiffness * (rest - q) - 0.1 * v


@kn.kernel
def wave(model: Model, t: Any, q: Any, size: Any) -> Any:
    return Vector([size * sin(50 * t) for _ in range(model.nv)])


def start(count: int) -> tuple[Array, Array]:
    return rng.normal(size=(count, ARM.nq)), rng.normal(size=(count, NV))


def test_a_kernel_acts_in_native_code():
    """Semi-implicit Euler by hand, with the controller called by itself."""
    q, v = start(9)
    rest = rng.normal(size=(9, NV))
    given = {"stiffness": 3.0, "rest": rest}
    found = kn.rollout(ARM, q, v, None, DT, steps=50, controller=spring, parameters=given, integrator="euler")
    for _ in range(50):
        v = v + DT * kn.forward_dynamics(ARM, q, v, spring(ARM, q, v, 3.0, rest))
        q = kn.integrate(ARM, q, DT * v)
    np.testing.assert_allclose(found.final[0], q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.final[1], v, rtol=0, atol=1e-11)


def test_given_forces_and_the_controller_add_up():
    q, v = start(4)
    tau = rng.normal(size=(4, 6, NV))
    given = {"stiffness": 0.0, "rest": np.zeros(NV)}
    both = kn.rollout(ARM, q, v, tau + 0.1, DT, steps=6, controller=spring, parameters=given)

    @kn.kernel
    def more(model: Model, v: Any) -> Any:
        return Vector([0.1] * NV) - 0.1 * v

    apart = kn.rollout(ARM, q, v, tau, DT, steps=6, controller=more)
    np.testing.assert_allclose(both.v, apart.v, rtol=0, atol=1e-13)


@pytest.mark.parametrize("integrator", ["euler", "rk4", "implicit"])
def test_a_python_function_is_asked_once_a_step_about_all(integrator: str):
    """Its force is held: that is a sequence of forces, known only as the motion goes on."""
    q, v = start(5)
    asked: list[tuple[float, Array]] = []

    def python(model: Model, t: float, q: Array, v: Array, gain: float, rest: Array) -> Array:
        assert q.shape == v.shape == (5, NV)
        force = gain * (rest - q) - v
        asked.append((t, force))
        return force

    parameters = {"gain": 2.0, "rest": np.ones((5, NV))}
    found = kn.rollout(
        ARM,
        q,
        v,
        0.5 * np.ones(NV),
        DT,
        steps=7,
        controller=python,
        parameters=parameters,
        integrator=integrator,
        t0=1.0,
    )
    np.testing.assert_allclose([t for t, _ in asked], 1.0 + DT * np.arange(7), rtol=1e-14)
    tau = np.stack([force for _, force in asked], axis=1)
    same = kn.rollout(ARM, q, v, tau + 0.5, DT, steps=7, integrator=integrator, t0=1.0)
    np.testing.assert_allclose(found.q, same.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.v, same.v, rtol=0, atol=1e-12)


def test_time_is_that_of_the_step():
    q, v = start(3)
    given = {"size": 2.0}
    found = kn.rollout(ARM, q, v, None, DT, steps=40, controller=wave, parameters=given, t0=0.3, integrator="euler")
    tau = 2.0 * np.sin(50 * (0.3 + DT * np.arange(40)))[:, None] * np.ones(NV)
    same = kn.rollout(ARM, q, v, tau, DT, steps=40, integrator="euler")
    np.testing.assert_allclose(found.v, same.v, rtol=0, atol=1e-12)
    assert found.times[0] == 0.3


def test_parameters_over_time():
    q, v = start(4)
    rest = rng.normal(size=(2, 1, 8, NV))
    found = kn.rollout(
        ARM,
        q,
        v,
        None,
        DT,
        steps=8,
        controller=spring,
        parameters={"stiffness": 3.0, "rest": rest},
        time_varying=["rest"],
    )
    assert found.q.shape == (2, 4, 9, ARM.nq)
    for i in range(2):
        now = q, v
        for s in range(8):
            given = {"stiffness": 3.0, "rest": rest[i, 0, s]}
            now = kn.rollout(ARM, *now, None, DT, steps=1, controller=spring, parameters=given).final
        np.testing.assert_array_equal(found.final[0][i], now[0])


def test_external_forces():
    q, v = start(3)

    @kn.kernel
    def push(model: Model, q: Any, f_ext: Any) -> Any:
        return f_ext + f_ext

    f_ext = rng.normal(size=(3, ARM.nb, 6))
    found = kn.rollout(
        ARM, q, v, None, DT, steps=20, external_forces=push, parameters={"f_ext": f_ext}, integrator="euler"
    )

    def python(model: Model, q: Array) -> Array:
        return 2 * f_ext

    np.testing.assert_allclose(
        kn.rollout(ARM, q, v, None, DT, steps=20, external_forces=python, integrator="euler").v,
        found.v,
        rtol=0,
        atol=1e-12,
    )
    for _ in range(20):
        v = v + DT * kn.forward_dynamics(ARM, q, v, np.zeros(NV), 2 * f_ext)
        q = kn.integrate(ARM, q, DT * v)
    np.testing.assert_allclose(found.final[1], v, rtol=0, atol=1e-11)


POINT = ((0.0, 0.0, 0.0),) * 3


def with_payload(model: Model, mass: Any) -> Model:
    return attach(model, model.body_names[-1], Inertia.of(mass[0], (0.0, 0.0, -0.1), POINT))


@pytest.mark.parametrize("integrator", ["euler", "rk4", "bdf2"])
def test_every_trajectory_may_have_its_own_mechanism(integrator: str):
    """Domain randomisation; the controller knows the model without a payload."""
    q, v = start(3)
    masses = np.array([[0.1], [1.0], [3.0]])

    @kn.kernel
    def hold(model: Model, q: Any) -> Any:
        return kn.gravity_force(model, q)

    found = kn.rollout(
        ARM, q, v, None, DT, steps=30, controller=hold, model_fn=with_payload, parameters={"mass": masses},
        integrator=integrator,
    )  # fmt: skip
    heavy = [with_payload(ARM, mass.tolist()) for mass in masses]
    for k, model in enumerate(heavy):

        @kn.kernel
        def hold_the_light_one(model: Model, q: Any) -> Any:
            return kn.gravity_force(ARM, q)

        alone = kn.rollout(model, q[k], v[k], None, DT, steps=30, controller=hold_the_light_one, integrator=integrator)
        np.testing.assert_allclose(found.q[k], alone.q, rtol=0, atol=1e-11)
    assert np.abs(found.q[0] - found.q[2]).max() > 1e-3


def test_joints_that_move_by_a_law_of_time():
    b = Builder("driven", base="world")
    b.body("plate", on="world", joint=Driven(Revolute("z"), Sinusoid(0.5, 3.0)), mass=1.0, inertia=(1, 1, 1))
    b.body("arm", on="plate", joint=Revolute("y"), at=(0.3, 0, 0), mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    model = b.build()
    q, v = rng.normal(size=(2, 4, model.nq))
    found = kn.rollout(model, q, v, None, DT, steps=30, t0=0.2, integrator="euler")
    for s in range(30):
        now = model.at_time(0.2 + DT * s)
        v = v + DT * kn.forward_dynamics(now, q, v, np.zeros(model.nv))
        q = kn.integrate(now, q, DT * v)
    np.testing.assert_allclose(found.final[1], v, rtol=0, atol=1e-11)


def test_steps_whose_equations_were_not_solved_are_reported():
    q, v = start(4)
    with pytest.warns(RuntimeWarning, match=r"BDF1 did not solve its equations to 1e-10 in \d of 4 trajectories"):
        kn.rollout(ARM, q, 30 * v, None, 0.5, steps=3, integrator=kn.integrators.BDF1(iterations=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kn.rollout(ARM, q, v, None, 1e-3, steps=3, integrator="bdf1")


# interrupts


@pytest.mark.skipif(not hasattr(signal, "raise_signal") or os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_a_rollout(threads: int, monkeypatch: pytest.MonkeyPatch):
    """It would go on for hours otherwise."""
    monkeypatch.setattr(trajectory_batches, "CALL", 3_000_000)
    q, v = start(64)
    kn.rollout(ARM, q, v, None, DT, steps=2)
    before = kn.compilation.get_threads()
    kn.compilation.set_threads(threads)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            kn.rollout(ARM, q, v, None, DT, steps=2_000_000_000, save_every=2_000_000_000)
    finally:
        timer.cancel()
        kn.compilation.set_threads(before)
    assert np.isfinite(kn.rollout(ARM, q, v, None, DT, steps=2).q).all()


# mistakes

Q, V = np.zeros((4, ARM.nq)), np.zeros((4, NV))


def silent(model: Model, q: Any) -> None:
    return None


@kn.kernel
def two(model: Model, q: Any) -> Any:
    return q, q


@kn.kernel
def long(model: Model, q: Any) -> Any:
    return Vector([*q, *q])


def wrong_model(model: Model, mass: Any) -> Any:
    return mass


MISTAKES: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no model": ({"model": "arm"}, TypeError, "rollout needs a knuckle.Model first, not str"),
    "q0": ({"q0": np.zeros(5)}, ValueError, rf"q0 has shape \(5,\), and must have shape \(..., {NV}\)"),
    "v0": ({"v0": "fast"}, TypeError, "v0 holds <U4, and must hold real"),
    "tau size": ({"tau": np.zeros(5)}, ValueError, "tau has shape"),
    "tau per trajectory": (
        {"tau": np.zeros((4, NV))},
        ValueError,
        rf"tau has shape \(4, {NV}\): the axis before the last is time, and must have 10 steps, or 1",
    ),
    "steps": ({"steps": 1.5}, ValueError, "steps is a whole number from 0, not 1.5"),
    "keep": ({"save_every": 0}, ValueError, "save_every is a whole number from 1, not 0"),
    "dt": ({"dt": np.nan}, ValueError, "dt is a finite number of seconds, not nan"),
    "t0": ({"t0": "now"}, ValueError, "t0 is a finite number of seconds, not 'now'"),
    "integrator": ({"integrator": "magic"}, ValueError, "integrator is one of"),
    "batch": ({"q0": np.zeros((3, ARM.nq))}, ValueError, r"do not broadcast: q0 \(3,\), v0 \(4,\)"),
    "controller": ({"controller": np.zeros(NV)}, TypeError, "controller must be a function, not ndarray; constant"),
    "missing": ({"controller": spring}, TypeError, "controller spring needs stiffness and rest"),
    "unused": ({"parameters": {"gain": 1.0}}, TypeError, "parameters has gain, which no function asks for"),
    "no sequence": ({"time_varying": ["rest"]}, TypeError, "time_varying names rest, which parameters has not"),
    "sequence": (
        {"controller": spring, "parameters": {"stiffness": 1.0, "rest": np.zeros(NV)}, "time_varying": ["rest"]},
        ValueError,
        rf"the sequence rest has shape \({NV},\), and must have shape \(..., 10, {NV}\)",
    ),
    "python returns nothing": ({"controller": silent}, TypeError, "controller silent returns a NoneType"),
    "kernel returns two": ({"controller": two}, TypeError, "controller two returns a tuple"),
    "kernel returns too much": ({"controller": long}, ValueError, "what controller long returns has shape"),
    "mechanism of time": (
        {"model_fn": with_payload, "parameters": {"mass": np.zeros((10, 1))}, "time_varying": ["mass"]},
        TypeError,
        "model_fn asks for mass, which changes with time",
    ),
    "mechanism returns": (
        {"model_fn": wrong_model, "parameters": {"mass": [1.0]}},
        TypeError,
        "model_fn returns a Vector, and must return a knuckle.Model",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_mistakes_are_named(name: str):
    changes, kind, message = MISTAKES[name]
    given: dict[str, Any] = {"model": ARM, "q0": Q, "v0": V, "tau": None, "dt": DT, "steps": 10} | changes
    with pytest.raises(kind, match=message):
        kn.rollout(**given)
