"""Maximal coordinates through time: the motion of the reduced ones, with joints that stay together."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators.methods.variational import response
from knuckle.integrators.system import HOLD, held_model
from knuckle.joints import Revolute
from knuckle.maximal_coordinates.sparse_dynamics import SparseDynamics, goes_sparse
from knuckle.model import Builder, Limits, Model, solid_box
from knuckle.simulation import CompliantStops


def chain(n: int) -> Model:
    b, last = Builder(f"chain of {n}"), None
    for i in range(n):
        box = solid_box(1.0, (0.1, 0.1, 1.0), at=(0, 0, -0.5))
        last = b.body(f"link{i}", last, Revolute("yx"[i % 2]), (0, 0, 0 if last is None else -1.0), inertia=box)
    return b.build()


@pytest.mark.parametrize(
    ("n", "stabilization", "integrator", "most"),
    [
        pytest.param(8, "projection", "euler", 1e-13, id="projected"),
        pytest.param(8, 0.05, "rk4", 1e-8, id="Baumgarte"),
        pytest.param(2, "projection", "rk4", 1e-13, id="few, in code", marks=pytest.mark.slow),
        pytest.param(40, "projection", "heun", 1e-12, id="many", marks=pytest.mark.slow),
        pytest.param(8, 0.05, "adaptive", 1e-7, id="steps of their own length", marks=pytest.mark.slow),
    ],
)
def test_simulate_moves_it_as_in_reduced_coordinates(n: int, stabilization: float | str, integrator: str, most: float):
    model = chain(n)
    maximal = kn.maximal(model)
    assert goes_sparse(maximal) == (n > 4)
    q, v = 0.3 * np.cos(np.arange(n)), 0.2 * np.sin(np.arange(n))
    Q, V = kn.maximal_state(model, q, v)
    duration = 0.1 if integrator == "adaptive" else 0.05
    run = kn.simulate(maximal, Q, V, duration, dt=1e-3, integrator=integrator, stabilization=stabilization)
    fine = kn.simulate(model, q, v, duration, dt=1e-3, integrator="rk4")
    assert SparseDynamics(maximal).openness(run.q[-1], run.v[-1])[0].max() < most
    found, speed = kn.reduced_state(model, run.q[-1], run.v[-1])
    error = 1e-2 if integrator == "euler" else 1e-5
    np.testing.assert_allclose(found, fine.q[-1], atol=error)
    np.testing.assert_allclose(speed, fine.v[-1], atol=20 * error)


def stiff_chain(n: int, friction: float) -> Model:
    """A chain whose joints have stops and dry friction."""
    model = chain(n)
    ends = Limits((-0.4,), (0.4,))
    joints = (replace(j, limits=ends, friction=friction, damping=0.1) for j in model.joints)
    return model.replace(joints=tuple(joints))


@pytest.mark.parametrize(
    ("n", "limits", "friction"),
    [
        pytest.param(1, "rigid", 1.0, id="a pendulum that rubs and stops"),
        pytest.param(2, "rigid", 0.5, id="rigid stops and friction", marks=pytest.mark.slow),
        pytest.param(2, CompliantStops(1e3, 1.0), 0.5, id="soft stops and friction", marks=pytest.mark.slow),
        pytest.param(5, "rigid", 0.0, id="rigid stops, sparse", marks=pytest.mark.slow),
        pytest.param(5, "rigid", 0.5, id="rigid stops and friction, many", marks=pytest.mark.slow),
    ],
)
def test_limits_and_friction_act_as_in_reduced_coordinates(n: int, limits: Any, friction: float):
    """The same motion to rounding, the same impacts at the same instants; rests of no duration may be rounding."""
    model = stiff_chain(n, friction)
    q, v = 0.3 * np.cos(np.arange(n)), 0.2 * np.sin(np.arange(n)) + (2.0 if n == 1 else 1.0)
    options: Any = {"dt": 1e-3, "integrator": "euler" if n == 1 else "rk4", "joint_limits": limits}
    one = kn.simulate(model, q, v, 0.3, **options)
    other = kn.simulate(kn.maximal(model), *kn.maximal_state(model, q, v), 0.3, **options)
    first, second = ([e for e in run.events if e.kind == "impact"] for run in (one, other))
    assert [e.name for e in second] == [e.name for e in first]
    assert bool(first) == (limits == "rigid")
    np.testing.assert_allclose([e.time for e in second], [e.time for e in first], atol=1e-7)
    Q, V = kn.reduced_state(model, other.q[-1], other.v[-1])
    np.testing.assert_allclose(Q, one.q[-1], atol=1e-9)
    np.testing.assert_allclose(V, one.v[-1], atol=1e-8)
    assert np.abs(other.q[:, -n:]).max() < (0.4 + 1e-12 if limits == "rigid" else 0.5)


def test_sparse_equations_hold_what_sticks():
    """As reduced coordinates do with a rotor that nothing moves: the same motion, held against the same forces."""
    model, held, n = stiff_chain(3, 0.5), np.array([0.0, 1.0, 0.0]), 3
    rng = np.random.default_rng(2)
    q, v, tau, push = rng.normal(size=(4, n)) * [[0.3], [1.0], [5.0], [1.0]]
    v = v * (1 - held)
    maximal, stuck = kn.maximal(model), held_model(model, held)
    sparse, which = SparseDynamics(maximal, hold=HOLD), np.concatenate([np.zeros(6 * n), held])
    (Q, V), T = kn.maximal_state(model, q, v), kn.maximal_forces(model, q, tau)
    scale = np.where(held, HOLD, 1.0)
    found = sparse.forward_dynamics(Q, V, T, held=which)[-n:]
    np.testing.assert_allclose(found * scale, kn.forward_dynamics(stuck, q, v, tau) * scale, rtol=1e-9)
    pushed = np.where(held, 0.2 * HOLD, push)  # what turns back is stopped so
    found = sparse.response(Q, kn.maximal_forces(model, q, pushed), which)[-n:]
    np.testing.assert_allclose(found, response(stuck, q, pushed), rtol=1e-9)
    assert found[1] == pytest.approx(0.2)
    projected = sparse.project(Q + 1e-4 * np.sin(np.arange(len(Q))), V, which)
    assert SparseDynamics(maximal).openness(*projected)[0].max() < 1e-6
    assert projected[0][-2] == pytest.approx(q[1] + 1e-4 * np.sin(len(Q) - 2), abs=1e-12)


@pytest.mark.slow
def test_many_joints_that_rub_move_as_in_reduced_coordinates():
    """Some stick, some slide and turn back; nothing of it is compiled for the whole mechanism."""
    model, n = stiff_chain(6, 8.0), 6
    q, v = 0.2 * np.cos(np.arange(n)), 0.3 * np.sin(np.arange(n))
    maximal = kn.maximal(model)
    assert goes_sparse(maximal)
    options: Any = {"dt": 2e-3, "integrator": "euler"}
    one = kn.simulate(model, q, v, 0.1, **options)
    other = kn.simulate(maximal, *kn.maximal_state(model, q, v), 0.1, **options)
    Q, V = kn.reduced_state(model, other.q[-1], other.v[-1])
    assert 0 < (one.v[-1] == 0).sum() < n
    np.testing.assert_array_equal(V == 0, one.v[-1] == 0)
    np.testing.assert_allclose(Q, one.q[-1], atol=1e-4)


def test_a_joint_turns_back_while_another_rests_on_its_stop():
    """Friction among closed loops knows what the stop carries: one link rests, the other swings there and back."""
    model = chain(2)
    first, second = model.joints
    second = replace(second, type=Revolute("y"), friction=0.5)
    model = model.replace(joints=(replace(first, limits=Limits((0.3,), (1.0,))), second))
    q, v, bodies = [0.3, 0.0], [0.0, 1.0], ["link1"]
    options: Any = {"dt": 1e-3, "integrator": "heun", "joint_limits": "rigid"}
    one = kn.simulate(model, q, v, 0.3, **options)
    partly = kn.maximal(model, bodies)
    other = kn.simulate(partly, *kn.maximal_state(model, q, v, bodies=bodies), 0.3, **options)
    assert one.v[:, 1].min() < -0.3
    assert np.all(one.q[:, 0] == 0.3)
    assert np.all(other.q[:, 0] == 0.3)
    Q, V = kn.reduced_state(model, other.q[-1], other.v[-1], bodies=bodies)
    np.testing.assert_allclose(Q, one.q[-1], atol=1e-10)
    np.testing.assert_allclose(V, one.v[-1], atol=1e-9)


def test_what_sticks_in_maximal_coordinates_stands_still():
    """A pendulum with more friction than weight: no creep, though its body is free."""
    model = stiff_chain(1, 6.0)
    options: Any = {"dt": 1e-3, "integrator": "euler"}
    run = kn.simulate(kn.maximal(model), *kn.maximal_state(model, [0.3], [0.0]), 0.2, **options)
    np.testing.assert_allclose(run.q, np.broadcast_to(run.q[0], run.q.shape), atol=1e-15)
    slips = kn.simulate(kn.maximal(model), *kn.maximal_state(model, [0.3], [1.0]), 0.3, **options)
    still = kn.simulate(model, [0.3], [1.0], 0.3, **options)
    assert still.v[-1] == 0.0
    assert slips.v[-1, -1] == 0.0
    np.testing.assert_allclose(slips.q[-1, -1], still.q[-1, 0], atol=1e-13)


def test_a_first_state_that_is_open_is_refused():
    model = chain(6)
    maximal = kn.maximal(model)
    Q, V = kn.maximal_state(model, np.zeros(6), np.zeros(6))
    Q[-1] += 1e-3
    with pytest.raises(ValueError, match=r"loop 'link5_joint' is open by 0\.001"):
        kn.simulate(maximal, Q, V, 0.01, integrator="euler")


def test_a_rollout_says_what_it_is_too_long_for():
    model = chain(16)
    maximal = kn.maximal(model)
    Q, V = kn.maximal_state(model, np.zeros(16), np.zeros(16))
    with pytest.raises(kn.ModelError, match="a rollout puts a step into code, and chain of 16 has 80 constraints"):
        kn.rollout(maximal, Q, V, None, 1e-3, steps=2, integrator="euler")


@pytest.mark.slow
def test_a_hundred_thousand_steps_do_not_drift():
    """Projected after every step: joints stay together to rounding, however long it runs."""
    model = chain(2)
    maximal = kn.maximal(model)
    Q, V = kn.maximal_state(model, [1.0, 0.5], [0.0, 1.0])
    run = kn.rollout(maximal, Q, V, None, 1e-3, steps=100_000, save_every=1000, integrator="rk4")
    assert np.abs(kn.loops.gap(maximal, run.q)).max() < 1e-10
    energy = kn.kinetic_energy(maximal, run.q, run.v) + kn.potential_energy(maximal, run.q)
    assert np.ptp(energy) < 1e-4 * np.abs(energy).max()


@pytest.mark.slow
def test_a_thousand_bodies():
    model = chain(1000)
    maximal = kn.maximal(model)
    q, v = np.zeros(1000), np.zeros(1000)
    q[0] = 0.3
    Q, V = kn.maximal_state(model, q, v)
    run = kn.simulate(maximal, Q, V, 5e-3, dt=1e-3, integrator="rk4")
    fine = kn.simulate(model, q, v, 5e-3, dt=1e-3, integrator="rk4")
    found, _ = kn.reduced_state(model, run.q[-1], run.v[-1])
    np.testing.assert_allclose(found, fine.q[-1], atol=1e-9)
