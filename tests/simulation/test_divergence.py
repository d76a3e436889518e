"""Motions that do not stay finite: said, counted, timed, and no slower than others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls import numpy_arrays
from knuckle.integrators import BDF1
from knuckle.testing import auto_tree, random_state

Array = np.ndarray[Any, Any]
ARM = kn.robots.load("arm").without_friction()
DT = 1e-3


@kn.kernel
def push(model: Any, v: Any, gain: Any) -> Any:
    return gain * v  # pulls where it is negative: too much of it in a step of a millisecond explodes


def policy(model: Any, t: float, q: Array, v: Array) -> Array:
    return -5.0 * v


@pytest.fixture
def no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """No state is computed by itself, outside of native code."""

    def fails(*_: Any) -> Any:
        raise AssertionError("a state left native code")

    monkeypatch.setattr(numpy_arrays, "_state_by_state", fails)


def exploding(count: int) -> tuple[Array, Array, Array]:
    """States of which every third explodes, by its gain."""
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, count, 7))
    gain = np.where(np.arange(count) % 3 == 1, -5.0, 0.0)[:, None] * np.ones(7)
    return q, v, gain


def first_bad(q: Array, v: Array) -> Array:
    """The first of states (..., K, n) that is not finite; K if all are."""
    fine = np.isfinite(q).all(-1) & np.isfinite(v).all(-1)
    return np.where(fine.all(-1), fine.shape[-1], np.argmin(fine, axis=-1))


@pytest.mark.usefixtures("no_python")
def test_a_policy_that_explodes_stays_in_native_code_and_is_reported():
    """What the page on rollouts once showed: none of 500 is finite after 20 steps."""
    rng = np.random.default_rng(0)
    q0 = rng.normal(size=(500, 7))
    with pytest.warns(
        RuntimeWarning, match=r"500 of 500 trajectories of arm diverged, the first one, \[\d+\], at t = 0"
    ):
        found = kn.rollout(ARM, q0, None, None, DT, steps=20, controller=policy, integrator="euler")
    assert not found.finite.any()
    np.testing.assert_allclose(found.diverged_at, DT * first_bad(found.q, found.v), rtol=1e-12)


@pytest.mark.usefixtures("no_python")
@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("integrator", ["euler", "rk4", "heun"])
def test_each_trajectory_has_its_time(integrator: str, dtype: Any):
    q, v, gain = (x.astype(dtype) for x in exploding(30))
    given = {"controller": push, "integrator": integrator, "steps": 60}
    with pytest.warns(RuntimeWarning, match="10 of 30 trajectories of arm diverged"):
        every = kn.rollout(ARM, q, v, None, DT, parameters={"gain": gain}, **given, t0=2.0)
    first = first_bad(every.q, every.v)
    np.testing.assert_array_equal(every.finite, gain[:, 0] == 0)
    np.testing.assert_allclose(every.diverged_at[~every.finite], 2.0 + DT * first[~every.finite], rtol=1e-12)
    with pytest.warns(RuntimeWarning, match="10 of 30"):  # as exactly where only the ends are kept
        ends = kn.rollout(ARM, q, v, None, DT, parameters={"gain": gain}, save_every=60, **given, t0=2.0)
    np.testing.assert_array_equal(ends.diverged_at, every.diverged_at)
    calm = kn.rollout(
        ARM, q[every.finite], v[every.finite], None, DT, parameters={"gain": 0 * gain[0]}, **given, t0=2.0
    )
    np.testing.assert_array_equal(every.q[every.finite], calm.q)


@pytest.mark.slow
def test_the_earliest_is_named_by_its_index():
    q, v, gain = exploding(12)
    gain[7] *= 40
    with pytest.warns(RuntimeWarning) as said:
        found = kn.rollout(
            ARM, q.reshape(3, 4, 7), v.reshape(3, 4, 7), None, DT, steps=60, controller=push,
            parameters={"gain": gain.reshape(3, 4, 7)},
        )  # fmt: skip
    first = np.unravel_index(np.nanargmin(found.diverged_at), (3, 4))
    assert tuple(first) == (1, 3)
    message = str(said[0].message)
    assert (
        f"4 of 12 trajectories of arm diverged, the first one, [1, 3], at t = {found.diverged_at[1, 3]:.9g} s"
        in message
    )
    assert 'integrator="implicit"' in message
    with pytest.warns(RuntimeWarning, match="the trajectory of arm diverged at t = "):
        kn.rollout(ARM, q[7], v[7], None, DT, steps=60, controller=push, parameters={"gain": gain[7]})


def test_silence_where_all_is_well():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kn.rollout(ARM, exploding(9)[0], None, None, DT, steps=50)
    assert found.finite.all()
    assert found.diverged_at.shape == (9,)


def test_a_state_that_is_given_as_nan_is_told_apart():
    q, v, gain = exploding(6)
    v[3, 2] = np.inf
    with pytest.warns(RuntimeWarning) as said:
        found = kn.rollout(ARM, q, v, None, DT, steps=40, controller=push, parameters={"gain": gain}, t0=1.0)
    messages = [str(one.message) for one in said]
    assert messages[0] == "1 of 6 trajectories of arm began with a state that is not finite, the first one, [3]"
    assert messages[1].startswith("2 of 6 trajectories of arm diverged")
    assert found.diverged_at[3] == 1.0


def test_equations_without_solution_are_said_once():
    q, v, _ = exploding(4)
    with pytest.warns(RuntimeWarning) as said:
        found = kn.rollout(ARM, q, 30 * v, None, 0.5, steps=2, integrator=BDF1(iterations=1))
    (message,) = [str(one.message) for one in said]
    assert message.startswith(
        "BDF1 did not solve its equations to 1e-10 in 4 of 4 trajectories of arm, the first one, "
    )
    assert not found.finite.any()


@pytest.mark.slow
def test_large_mechanisms_are_timed_too():
    model = auto_tree(64, 2, 0.3, 0.98)
    q = np.stack([random_state(model, k).q for k in range(4)])
    tau = np.zeros((4, 3, model.nv))
    tau[2, 1] = np.nan
    with pytest.warns(
        RuntimeWarning, match=r"1 of 4 trajectories of .* diverged, the first one, \[2\], at t = 0.002 s"
    ):
        found = kn.rollout(model, q, None, tau, DT, steps=3, save_every=3, integrator="euler")
    np.testing.assert_array_equal(found.finite, [True, True, False, True])


# the kin: batches of a user's function, and one simulation


@pytest.mark.usefixtures("no_python")
@pytest.mark.parametrize("bad", [1e9, 1e300, np.nan, np.inf])
def test_rows_of_a_kernel_that_are_beyond_meaning_stay_in_native_code(bad: float):
    @kn.kernel
    def energy(model: Any, q: Any, v: Any) -> Any:
        return kn.kinetic_energy(model, q, v) + kn.potential_energy(model, q)

    q, v, _ = exploding(300)
    expected = energy(ARM, q, v)
    q[::2, 3] = bad
    found = energy(ARM, q, v)
    np.testing.assert_array_equal(found[1::2], expected[1::2])
    np.testing.assert_array_equal(np.isnan(found[::2]), bad != 1e9)


def test_a_simulation_says_what_may_help():
    with pytest.warns(
        RuntimeWarning, match=r"the simulation of arm diverged at t = .*\. A shorter dt or .*\"implicit\""
    ):
        motion = kn.simulate(ARM, None, np.ones(7), 0.1, controller=push, parameters={"gain": -5.0 * np.ones(7)})
    assert motion.reason == "diverged"
    assert np.isfinite(motion.q).all()
