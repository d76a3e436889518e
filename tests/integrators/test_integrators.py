"""Steps: compiled and plain, with controllers and external forces of every form, and what is said of wrong ones."""

import pickle
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators import (
    INTEGRATORS,
    DormandPrince,
    Integrator,
    RungeKutta,
    RungeKutta4,
    SemiImplicitEuler,
    State,
    Tableau,
    integrator_of,
)
from knuckle.joints import Driven, Revolute, Sinusoid
from knuckle.simulation.steps.step_size import StepSize, advance
from knuckle.simulation.steps.stepper import stepper

from .mechanisms import BODY, ball, distance, pair, run, start

MODEL = pair()
EXPLICIT = ("euler", "heun", "rk4", "adaptive")


@kn.kernel
def pd(model, t, q, v, kp, q_ref):
    return kp * kn.difference(model, q, q_ref) - (1 + t) * v


def pd_in_python(model, t, q, v, kp, q_ref):
    return kp * kn.difference(model, q, q_ref) - (1 + t) * v


def wind(model, t, v):
    return np.full((model.nb, 6), 0.1 * t) - 0.01 * v[0]


@kn.kernel
def wind_kernel(model, t, v):
    return [[0.1 * t - 0.01 * v[0]] * 6] * model.nb


@pytest.mark.parametrize("name", EXPLICIT)
def test_kernels_and_functions_give_the_same_motion(name: str):
    """The compiled step, and the text of the step on arrays: they differ in rounding."""
    forces: dict[str, Any] = {"parameters": {"kp": 2.0, "q_ref": kn.neutral(MODEL)}}
    ours = run(MODEL, integrator_of(name), 0.02, 4, controller=pd, external_forces=wind_kernel, **forces)
    theirs = run(MODEL, integrator_of(name), 0.02, 4, controller=pd_in_python, external_forces=wind, **forces)
    assert distance(MODEL, ours, theirs) < 1e-12


@pytest.mark.slow
def test_a_constant_force_is_a_controller():
    tau = np.linspace(-1, 1, MODEL.nv)
    by_array = run(MODEL, RungeKutta4(), 0.02, 2, controller=tau)
    by_function = run(MODEL, RungeKutta4(), 0.02, 2, controller=lambda model: tau)
    assert distance(MODEL, by_array, by_function) < 1e-13
    f_ext = np.ones((MODEL.nb, 6))
    pushed = run(MODEL, RungeKutta4(), 0.02, 2, external_forces=f_ext)
    by_function = run(MODEL, RungeKutta4(), 0.02, 2, external_forces=lambda model, t: f_ext)
    assert distance(MODEL, pushed, by_function) < 1e-12
    assert distance(MODEL, pushed, run(MODEL, RungeKutta4(), 0.02, 2)) > 1e-4


def test_the_text_is_a_kernel():
    stepping = stepper(MODEL, RungeKutta4(), pd, {"kp": 2.0, "q_ref": kn.neutral(MODEL)})
    q, v = start(MODEL)
    state = stepping.step(0.5, stepping.start(0.5, q, v, 0.01), 0.01)
    step = kn.kernel(stepping.text())
    both = step(MODEL, 0.5, np.stack([q, q]), v, 0.01, 2.0, kn.neutral(MODEL))
    for found, expected in zip(both, state[:2], strict=True):
        np.testing.assert_allclose(found[1], expected, rtol=0, atol=1e-13)
    plain = step.reference(MODEL, 0.5, q, v, 0.01, 2.0, kn.neutral(MODEL))
    np.testing.assert_allclose(list(plain[1]), state.v, rtol=0, atol=1e-12)


def test_quaternions_stay_unit():
    state = run(ball(), SemiImplicitEuler(), 20.0, 4000)
    assert np.linalg.norm(state.q) == pytest.approx(1, abs=1e-15)


def test_steps_without_native_code_are_the_same():
    fast = run(MODEL, RungeKutta4(), 0.02, 2)
    kn.compilation.set_policy("never")
    try:
        assert distance(MODEL, run(MODEL, RungeKutta4(), 0.02, 2), fast) < 1e-12
    finally:
        kn.compilation.set_policy("auto")


def test_any_tableau_will_do():
    """Ralston's method of the third order, given as data."""
    ralston = RungeKutta(Tableau("Ralston", 3, ((), (0.5,), (0.0, 0.75)), (2 / 9, 3 / 9, 4 / 9)))
    exact = run(ball(), DormandPrince(), 0.2, 200)
    coarse, fine = (distance(ball(), run(ball(), ralston, 0.2, n), exact) for n in (20, 40))
    assert np.log2(coarse / fine) == pytest.approx(3, abs=0.2)


def swinging() -> kn.Model:
    """A pendulum on an arm that turns by a law of time."""
    builder = kn.Builder("swinging")
    builder.body("arm", joint=Driven(Revolute("z"), Sinusoid(amplitude=0.5, frequency=1.5)), **BODY)
    builder.body("bob", "arm", Revolute("y"), (0.4, 0.0, 0.0), **BODY)
    return builder.build()


@pytest.mark.parametrize("name", INTEGRATORS)
def test_joints_that_move_by_a_law_of_time(name: str):
    """Every integrator goes to the same solution, at its order; with the law within the step."""
    model, integrator = swinging(), integrator_of(name)
    exact = run(model, DormandPrince(), 0.5, 400)
    coarse, fine = (distance(model, run(model, integrator, 0.5, n), exact) for n in (20, 40))
    assert fine > 1e-12, "nothing but rounding was measured"
    assert np.log2(coarse / fine) > integrator.order - 0.35


def test_a_python_controller_sees_the_mechanism_at_its_time():
    model, seen = swinging(), list[tuple[float, float]]()

    def look(model, t, q):
        seen.append((t, kn.pose(model, q, "arm")[1, 0]))
        return np.zeros(1)

    run(model, RungeKutta4(), 0.2, 1, controller=look)
    assert [t for t, _ in seen] == pytest.approx([0.0, 0.1, 0.1, 0.2])
    np.testing.assert_allclose([y for _, y in seen], [kn.pose(model.at_time(t), [0.0], "arm")[1, 0] for t, _ in seen])


# steps of the adaptive pair


def test_a_step_is_shortened_until_it_is_good_enough():
    model = ball()
    stepping = stepper(model, DormandPrince(rtol=1e-8))
    state = stepping.start(0.0, *start(model, speed=5.0), 0.0)
    found = advance(stepping, 0.0, state, StepSize(1.0))
    assert 0 < found.dt < 0.5
    assert found.size.dt < 5 * found.dt


def test_steps_end_where_they_must():
    model = ball()
    stepping = stepper(model, DormandPrince(rtol=1e-3))
    state, t, pace, lengths = stepping.start(0.0, *start(model), 0.0), 0.0, StepSize(0.02), list[float]()
    while t < 0.1:
        state, dt, pace = advance(stepping, t, state, pace, 0.1)
        t += dt
        lengths.append(dt)
    assert t == pytest.approx(0.1, abs=1e-15)
    assert min(lengths) > 0.1 * max(lengths), "a tiny step was left over"


@pytest.mark.slow
def test_infinite_forces_stop_the_adaptive_pair():
    model = ball()
    stepping = stepper(model, DormandPrince(), lambda model, t: np.full(3, np.nan if t > 0 else 0.0))
    with pytest.raises(
        RuntimeError, match=r"DormandPrince cannot go on at t = 0 s: .* the forces or accelerations may be"
    ):
        advance(stepping, 0.0, stepping.start(0.0, *start(model), 0.0), StepSize(0.1))


def test_tolerances_may_differ_by_variable():
    model = ball()
    strict = stepper(model, DormandPrince(rtol=1e-12, atol_v=(1e-9, 1e-3, 1e-3), atol_q=1e-3))
    loose = stepper(model, DormandPrince(rtol=1e-12, atol_v=1e-3, atol_q=1e-3))
    q, v = start(model)
    steps = [advance(s, 0.0, s.start(0.0, q, v, 0.0), StepSize(0.3)).dt for s in (strict, loose)]
    assert steps[0] < 0.5 * steps[1]


# errors


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"controller": lambda model, q, gain: q}, r"needs gain: besides t, q and v .* parameters, which has none"),
        ({"controller": lambda: 0}, "must take the model first"),
        ({"controller": lambda model, dt: dt}, "the argument dt needs another name"),
        ({"controller": np.zeros(3)}, r"controller is an array of shape \(3,\), and must have shape \(4,\)"),
        (
            {"external_forces": np.zeros(6)},
            r"external_forces is an array of shape \(6,\), and must have shape \(2, 6\)",
        ),
        ({"parameters": {"gain": 1.0}}, "parameters has gain, which neither controller nor external_forces asks for"),
        ({"controller": "hold"}, "controller .* must be numbers, not 'hold'"),
        ({"controller": lambda model, x: x, "parameters": {"x": "one"}}, "parameter x must be numbers, not 'one'"),
    ],
)
def test_wrong_controllers_are_named(given: dict[str, Any], complaint: str):
    with pytest.raises((TypeError, ValueError), match=complaint):
        stepper(MODEL, RungeKutta4(), **given)


@pytest.mark.parametrize(
    ("controller", "complaint"),
    [
        (lambda model: {"tau": 0}, r"returns a dict, and must return an array of shape \(4,\)"),
        (lambda model: (1, 2), "returns a tuple, and must return"),
        (lambda model: None, "returns a NoneType, and must return"),
        (lambda model: np.zeros(3), r"returns an array of shape \(3,\), and must return shape \(4,\)"),
    ],
)
def test_wrong_forces_are_named(controller: Any, complaint: str):
    with pytest.raises((TypeError, ValueError), match=complaint):
        run(MODEL, SemiImplicitEuler(), 0.01, 1, controller=controller)


def test_wrong_states_are_named():
    with pytest.raises(ValueError, match=r"q has shape \(3,\), and must have shape \(5,\)"):
        stepper(MODEL, RungeKutta4()).start(0.0, np.zeros(3), np.zeros(4), 0.01)
    stepping = stepper(ball(), RungeKutta4())
    state = stepping.start(0.0, *start(ball()), 0.01)
    with pytest.raises(TypeError, match="RungeKutta4 does not know its error; use step"):
        stepping.attempt(0.0, state, 0.01)
    with pytest.raises(TypeError, match="RungeKutta4 has steps of one length"):
        advance(stepping, 0.0, state, StepSize(0.1))


def test_wrong_names_are_named():
    with pytest.raises(ValueError, match=r'integrator is one of "euler", "heun", .* not \'rk5\''):
        integrator_of("rk5")
    with pytest.raises(ValueError, match="rtol is a number above zero or a tuple of them, not 0"):
        DormandPrince(rtol=0)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_integrators_are_values(name: str):
    integrator = integrator_of(name)
    assert isinstance(integrator, Integrator)
    assert integrator == integrator_of(name)
    assert pickle.loads(pickle.dumps(integrator)) == integrator
    assert len({integrator, integrator_of(name)}) == 1


def test_states_are_tuples():
    q, v, memory = State(1, 2)
    assert (q, v, memory) == (1, 2, ())
