"""Rollouts: the loop through time changes no bit of what single steps give, whatever goes on beside it."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls import time_loop as native_loop
from knuckle.engine.calls import trajectory_batches
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.native import rolled_code
from knuckle.integrators.base import State
from knuckle.integrators.registry import INTEGRATORS, integrator_of
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.simulation.friction import dry_friction
from knuckle.simulation.steps.stepper import stepper
from knuckle.testing import auto_tree, random_state, random_tree

from ..seeds import quick

Array = np.ndarray[Any, Any]
DT = 1e-3
ARM = kn.robots.load("arm")
DOUBLE = kn.robots.load("double_pendulum")
FLOATING = random_tree(5, nb=3, floating=True, types=["revolute", "spherical", "prismatic"])
MODELS = {"arm": ARM, "floating": FLOATING}
CASES = list(product(MODELS, ("euler", "rk4"), (np.float64, np.float32)))


def states(model: Model, count: int, dtype: Any = float) -> tuple[Array, Array]:
    drawn = [random_state(model, seed) for seed in range(count)]
    return np.array([s.q for s in drawn], dtype), np.array([s.v for s in drawn], dtype)


def forces(model: Model, *shape: int, dtype: Any = float) -> Array:
    return np.random.default_rng(0).normal(size=(*shape, model.nv)).astype(dtype)


def stepped(model: Model, q: Array, v: Array, tau: Array, integrator: str) -> tuple[Array, Array]:
    """The same trajectories, one step at a time by a kernel of a step; tau is (..., steps, nv)."""
    method, is_dry = integrator_of(integrator), bool(dry_friction.friction_rows(model))

    @kn.kernel
    def step(model: Model, q: Any, v: Any, modes: Any, t: Any, dt: Any, tau: Any) -> Any:
        state = State(q, v, (modes,) if is_dry else ())
        new = dry_friction.stepped(method, System(model, lambda model, t, q, v: tau), t, state, dt)
        return new.q, new.v, new.memory[0] if is_dry else modes

    qs, vs, modes = [q], [v], np.sign(v)
    for s in range(tau.shape[-2]):
        q, v, modes = step(model, q, v, modes, s * DT, DT, tau[..., s, :])
        qs.append(q)
        vs.append(v)
    return np.stack(qs, -2), np.stack(vs, -2)


def same(found: kn.simulation.Rollout, expected: tuple[Array, Array]) -> None:
    np.testing.assert_array_equal(found.q, expected[0])
    np.testing.assert_array_equal(found.v, expected[1])
    assert found.q.dtype == expected[0].dtype


@pytest.mark.parametrize("case", quick(CASES, [("floating", "rk4", np.float64)]), ids=str)
def test_bits_are_those_of_single_steps(case: tuple[str, str, Any]):
    name, integrator, dtype = case
    model, steps = MODELS[name], 9
    q, v = states(model, 21, dtype)
    tau = forces(model, 21, steps, dtype=dtype)
    found = kn.rollout(model, q, v, tau, DT, steps=steps, integrator=integrator)
    same(found, stepped(model, q, v, tau, integrator))
    assert found.times == pytest.approx(DT * np.arange(steps + 1), abs=1e-15)
    np.testing.assert_array_equal(found.final[0], found.q[:, -1])
    np.testing.assert_array_equal(found.final[1], found.v[:, -1])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_every_integrator_goes_through_native_code(integrator: str):
    """With its memory, if it has one: the steps of a simulation give the same up to rounding and its tolerance."""
    model, steps = kn.robots.load("double_pendulum"), 20
    q, v = states(model, 3)
    found = kn.rollout(model, q, v, None, DT, steps=steps, integrator=integrator)
    assert any(isinstance(slot.kernel, native_loop.Loop) for slot in kernels._slots.values(model))
    one = stepper(model, integrator_of(integrator))
    for k in range(3):
        state = one.start(0.0, q[k], v[k], DT)
        for s in range(steps):
            state = one.step(s * DT, state, DT)
        np.testing.assert_allclose(found.q[k, -1], state.q, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.v[k, -1], state.v, rtol=0, atol=1e-8)


@pytest.mark.parametrize("keep", quick([1, 2, 3, 5, 10, 11, 100], [1, 3, 10, 100]))
def test_every_so_many_states_are_kept_and_the_last(keep: int):
    q, v = states(ARM, 5)
    tau, steps = forces(ARM, 5, 10), 10
    every = kn.rollout(ARM, q, v, tau, DT, steps=steps)
    found = kn.rollout(ARM, q, v, tau, DT, steps=steps, save_every=keep)
    at = np.unique(np.append(np.arange(0, steps, keep), steps))
    same(found, (every.q[:, at], every.v[:, at]))
    np.testing.assert_array_equal(found.times, every.times[at])


def test_the_steps_may_be_cut_anywhere(monkeypatch: pytest.MonkeyPatch):
    """Long rollouts return to Python now and then."""
    q, v = states(ARM, 20)
    tau, steps = forces(ARM, 20, 11), 11
    expected = kn.rollout(ARM, q, v, tau, DT, steps=steps, save_every=3)
    for call in (1, 3_000, 10_000, 30_000):
        monkeypatch.setattr(trajectory_batches, "CALL", call)
        same(kn.rollout(ARM, q, v, tau, DT, steps=steps, save_every=3), (expected.q, expected.v))


@pytest.mark.parametrize("count", [1, 7, 64, 201])
def test_the_number_of_threads_changes_no_bit(count: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trajectory_batches, "WORTH", 1)
    q, v = states(FLOATING, count)
    tau = forces(FLOATING, count, 5)
    before = kn.compilation.get_threads()
    try:
        kn.compilation.set_threads(1)
        expected = kn.rollout(FLOATING, q, v, tau, DT, steps=5)
        for threads in (2, 3, 7):
            kn.compilation.set_threads(threads)
            same(kn.rollout(FLOATING, q, v, tau, DT, steps=5), (expected.q, expected.v))
    finally:
        kn.compilation.set_threads(before)


@pytest.mark.slow
def test_nan_stays_in_its_row():
    q, v = states(FLOATING, 20)
    expected = kn.rollout(FLOATING, q, v, None, DT, steps=5)
    q[13, -1] = np.nan
    v[4, 0] = np.inf
    with pytest.warns(
        RuntimeWarning, match=r"2 of 20 trajectories of .* began with a state that is not finite, the .*4"
    ):
        found = kn.rollout(FLOATING, q, v, None, DT, steps=5)
    others = np.delete(np.arange(20), [4, 13])
    same(found[others], (expected.q[others], expected.v[others]))
    assert np.isnan(found.v[13, -1]).any()
    assert not np.isfinite(found.v[4, -1]).all()


@pytest.mark.slow
def test_large_angles(monkeypatch: pytest.MonkeyPatch):
    """A wheel that has turned for long is as right as any other joint; the rest of the batch does not notice."""
    q, v = states(ARM, 12)
    steps = 20
    tau = np.zeros((12, steps, ARM.nv))
    expected = kn.rollout(ARM, q, v, tau, DT, steps=steps, integrator="euler")
    q[2, 1], v[2, 1] = 1e5 - 0.01, 3.0
    q[5, 0] = 3e6
    q[11, 3], v[11, 3] = -1e5 - 0.01, 3.0
    found = kn.rollout(ARM, q, v, tau, DT, steps=steps, save_every=2, integrator="euler")
    others = np.delete(np.arange(12), [2, 5, 11])
    np.testing.assert_array_equal(found.q[others], expected.q[others, ::2])
    by_steps = stepped(ARM, q, v, tau, "euler")
    np.testing.assert_allclose(found.q, by_steps[0][:, ::2], rtol=1e-15, atol=1e-12)
    np.testing.assert_allclose(found.v, by_steps[1][:, ::2], rtol=0, atol=1e-10)
    assert found.q[2, 0, 1] < 1e5 < found.q[2, -1, 1]
    assert found.q[11, 0, 3] < -1e5 < found.q[11, -1, 3]
    for call in (1, 10_000):
        monkeypatch.setattr(trajectory_batches, "CALL", call)
        same(kn.rollout(ARM, q, v, tau, DT, steps=steps, save_every=2, integrator="euler"), (found.q, found.v))


def test_states_forces_and_parameters_broadcast():
    @kn.kernel
    def hold(model: Model, q: Any, v: Any, stiffness: Any) -> Any:
        return -stiffness[0] * q - v

    q, _ = states(DOUBLE, 3)
    v, steps = forces(DOUBLE, 4), 6
    tau, stiffness = forces(DOUBLE, 4, steps), np.array([[1.0], [2.0]])[:, None, None]
    given = {"steps": steps, "controller": hold}
    found = kn.rollout(DOUBLE, q[:, None], v, tau, DT, parameters={"stiffness": stiffness}, **given)
    assert found.q.shape == (2, 3, 4, steps + 1, 2) == (*found.v.shape[:-1], 2)
    for i, j, k in np.ndindex(2, 3, 4):
        one = kn.rollout(DOUBLE, q[j], v[k], tau[k], DT, parameters={"stiffness": stiffness[i, 0, 0]}, **given)
        same(found[i, j, k], (one.q, one.v))


def test_forces_that_do_not_change():
    q, v = states(DOUBLE, 4)
    tau, steps = forces(DOUBLE, 4), 5
    for given in (tau[0], tau[:, None]):
        full = np.broadcast_to(given if given.ndim > 1 else given[None, None], (4, steps, 2))
        expected = kn.rollout(DOUBLE, q, v, full, DT, steps=steps)
        same(kn.rollout(DOUBLE, q, v, given, DT, steps=steps), (expected.q, expected.v))
    nothing, zeros = (kn.rollout(DOUBLE, q, v, x, DT, steps=steps) for x in (None, np.zeros(2)))
    np.testing.assert_allclose(nothing.v, zeros.v, rtol=0, atol=1e-12)


def test_a_batch_without_trajectories_and_a_rollout_without_steps():
    q, v = states(ARM, 3)
    empty = kn.rollout(ARM, q[:0], v[:0], None, DT, steps=4, save_every=2)
    assert empty.q.shape == (0, 3, 7)
    none = kn.rollout(ARM, q, v, None, DT, steps=0)
    same(none, (q[:, None], v[:, None]))
    np.testing.assert_array_equal(none.times, [0.0])


@pytest.mark.slow
def test_memory_is_used_again():
    q, v = states(ARM, 6)
    first = kn.rollout(ARM, q, v, None, DT, steps=8, save_every=4)
    expected = kn.rollout(ARM, *first.final, None, DT, steps=8, save_every=4, t0=0.008)
    again = kn.rollout(ARM, *first.final, None, DT, steps=8, save_every=4, t0=0.008, out=first)
    assert again.q is first.q
    same(again, (expected.q, expected.v))
    np.testing.assert_allclose(again.times, [0.008, 0.012, 0.016])
    with pytest.raises(ValueError, match=r"out\.q has shape \(6, 3, 7\) and dtype float64, and must have \(6, 9, 7\)"):
        kn.rollout(ARM, q, v, None, DT, steps=8, out=first)
    part = dataclasses.replace(first, q=np.empty((6, 6, 7))[:, ::2])
    with pytest.raises(ValueError, match=r"out\.q must be an array of its own"):
        kn.rollout(ARM, q, v, None, DT, steps=8, save_every=4, out=part)


def test_arguments_stay_as_they_are():
    q, v = states(ARM, 6)
    tau = forces(ARM, 6, 3)
    copies = [x.copy() for x in (q, v, tau)]
    kn.rollout(ARM, q, v, tau, DT, steps=3)
    for x, copy in zip((q, v, tau), copies, strict=True):
        np.testing.assert_array_equal(x, copy)


def test_plain_code_gives_the_same_up_to_rounding(monkeypatch: pytest.MonkeyPatch):
    q, v = states(FLOATING, 3)
    tau = forces(FLOATING, 3, 4)
    expected = kn.rollout(FLOATING, q, v, tau, DT, steps=4, integrator="heun")
    monkeypatch.setattr(kernels, "policy", "never")
    found = kn.rollout(FLOATING, q, v, tau, DT, steps=4, integrator="heun")
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", quick(["euler", "rk4"], ["euler"]))
def test_large_mechanisms_go_through_time_in_code_too(integrator: str, monkeypatch: pytest.MonkeyPatch):
    """Their loops are kept in it; it rounds differently from the code of one step."""
    monkeypatch.setattr(rolled_code, "BODIES", 10)
    model, steps = auto_tree(14, 2, 0.3, 0.98), 3
    q, v = states(model, 9)
    tau = forces(model, 9, steps)
    found = kn.rollout(model, q, v, tau, DT, steps=steps, save_every=2, integrator=integrator)
    for ours, theirs in zip((found.q, found.v), stepped(model, q, v, tau, integrator), strict=True):
        np.testing.assert_allclose(ours, theirs[:, [0, 2, 3]], rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_the_end_is_where_mujoco_arrives():
    """RK4 of a second, without contacts and damping: both are far below the error of the method itself."""
    mj = pytest.importorskip("mujoco")
    model = ARM.without_friction()
    theirs = mj.MjModel.from_xml_string(kn.formats.to_urdf(model, lossy=True))
    theirs.opt.integrator, theirs.opt.timestep = mj.mjtIntegrator.mjINT_RK4, DT
    theirs.opt.disableflags = int(mj.mjtDisableBit.mjDSBL_CONSTRAINT | mj.mjtDisableBit.mjDSBL_CONTACT)
    there, data = kn.formats.adapters.mujoco(model, theirs), mj.MjData(theirs)
    q, v = states(model, 2)
    found = kn.rollout(model, q, 0.1 * v, None, DT, steps=1000, save_every=1000, integrator="rk4")
    for k in range(2):
        mj.mj_resetData(theirs, data)
        data.qpos[:], data.qvel[:] = there.q_to(q[k]), there.v_to(q[k], 0.1 * v[k])
        mj.mj_step(theirs, data, 1000)
        end = there.q_from(data.qpos.copy())
        np.testing.assert_allclose(found.final[0][k], end, rtol=0, atol=1e-6)
