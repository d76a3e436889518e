"""What a rollout gives: indices, trajectories, forces, energies, files, pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.model.edit import attach
from knuckle.simulation.rollout import rollout_forces
from knuckle.spatial import Inertia

Array = np.ndarray[Any, Any]
ARM = kn.robots.load("double_pendulum")
DT = 1e-3
rng = np.random.default_rng(0)
Q, V = rng.normal(size=(2, 6, ARM.nv))
REST, TAU = rng.normal(size=(40, ARM.nv)), rng.normal(size=(6, 40, ARM.nv))


@kn.kernel
def spring(model: Any, t: Any, q: Any, v: Any, stiffness: Any, rest: Any) -> Any:
    return stiffness * (rest - q) - 0.1 * v + t * v


def with_payload(model: kn.Model, mass: Any, along: Any) -> kn.Model:
    point = Inertia.of(mass[0], (0.0, 0.0, -0.1 * along), ((0.0, 0.0, 0.0),) * 3)
    return attach(model, model.body_names[-1], point)


def pulled(keep: int = 1, **changes: Any) -> kn.simulation.Rollout:
    given: dict[str, Any] = {
        "controller": spring,
        "parameters": {"stiffness": 3.0, "rest": REST},
        "time_varying": ["rest"],
    }
    return kn.rollout(ARM, Q, V, TAU, DT, steps=40, save_every=keep, **given | changes)


def expected_forces(found: kn.simulation.Rollout, keep: int) -> Array:
    """The forces of `pulled` in the states that were kept."""
    at = np.minimum(np.arange(0, 40 + keep, keep), 40)
    held = np.minimum(at, 39)
    force = TAU[:, held] + 3.0 * (REST[held] - found.q) - 0.1 * found.v
    return force + (DT * at)[:, None] * found.v


# one of them


def test_one_trajectory_is_a_trajectory():
    found = pulled()
    for k, one in enumerate(found):
        assert isinstance(one, kn.Trajectory)
        np.testing.assert_array_equal(one.q, found.q[k])
        np.testing.assert_array_equal(one.v, found.v[k])
        np.testing.assert_array_equal(one.times, found.times)
        np.testing.assert_allclose(one.energy, found.energy[k], rtol=1e-12)
        assert (one.integrator, one.dt, one.reason) == (found.integrator, DT, "finished")
    assert len(found) == 6
    alone = kn.simulate(ARM, Q[2], V[2], 0.04, controller=TAU[2, 0])
    assert kn.rollout(ARM, Q[2], V[2], TAU[2, 0], duration=0.04)[()].q == pytest.approx(alone.q, abs=1e-12)


def test_indices_choose_trajectories_and_nothing_else():
    q = Q.reshape(2, 3, -1)
    found = kn.rollout(ARM, q, None, TAU.reshape(2, 3, 40, -1), DT, steps=40)
    assert isinstance(found[1, 2], kn.Trajectory)
    for key in (1, slice(None, 1), (slice(None), 2), (..., 0), np.array([True, False]), [1, 0, 1]):
        some = found[key]
        assert isinstance(some, kn.simulation.Rollout)
        assert some.batch == np.empty((2, 3))[key].shape
        index = np.arange(6).reshape(2, 3)[key]
        np.testing.assert_array_equal(some.q, found.q.reshape(6, 41, -1)[index])
        np.testing.assert_array_equal(some.tau, found.tau.reshape(6, 41, -1)[index])
        np.testing.assert_allclose(some.energy, found.energy.reshape(6, 41)[index], rtol=1e-13)
    np.testing.assert_array_equal(found[..., 1][1].tau, found[1, 1].tau)
    assert [one.q[0].tolist() for one in found.trajectories()] == Q.tolist()
    with pytest.raises(IndexError):
        found[1, 2, 0]
    with pytest.raises(IndexError, match="adds no axes"):
        found[:, None]
    with pytest.raises(TypeError, match=r"rollout\[\(\)\] is the trajectory"):
        len(kn.rollout(ARM, Q[0], steps=1))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_a_trajectory_that_diverged_there_is_what_was_finite():
    gain = np.where(np.arange(6) == 4, -1e6, 3.0)[:, None] * np.ones(ARM.nv)
    found = pulled(parameters={"stiffness": gain, "rest": REST})
    one = found[4]
    assert one.reason == "diverged"
    assert one.message == f"at t = {found.diverged_at[4]:.9g} s: the state was no longer finite"
    assert np.isfinite(one.q).all()
    assert one.times[-1] == pytest.approx(found.diverged_at[4] - DT)
    assert found[found.finite].batch == (5,)
    assert "diverged: 1, the first at t = " in repr(found)
    begun = kn.rollout(ARM, [[np.nan, 0.0]], steps=2)
    with pytest.raises(ValueError, match="began with a state that is not finite"):
        begun[0]


# quantities


@pytest.mark.parametrize("keep", [1, 4, 7, 40])
def test_forces_of_a_kernel_and_those_that_were_given(keep: int):
    found = pulled(keep)
    np.testing.assert_allclose(found.tau, expected_forces(found, keep), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[3].tau, found.tau[3], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[1:3].tau, found.tau[1:3], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("keep", [1, 7, 40])
def test_forces_of_a_python_function_are_those_that_it_said(keep: int):
    """It may have a mind of its own: asked again, it would say something else."""
    said: list[Array] = []

    def moody(model: Any, q: Array) -> Array:
        said.append(rng.normal(size=q.shape))
        return said[-1]

    found = kn.rollout(ARM, Q, V, TAU, DT, steps=40, save_every=keep, controller=moody)
    assert len(said) == 40
    rows = np.minimum(np.arange(0, 40 + keep, keep), 39)
    np.testing.assert_allclose(found.tau, np.stack([said[k] + TAU[:, k] for k in rows], 1), rtol=1e-14)
    np.testing.assert_array_equal(found[2].tau, found.tau[2])
    again = kn.rollout(ARM, Q, V, TAU, DT, steps=40, save_every=keep, controller=moody, out=found)
    assert again.tau is found.acting.saved_forces


def test_long_sequences_are_not_held_for_a_few_states():
    found = pulled(keep=40)
    assert found.acting is not None
    assert max(x.array.shape[-2] for x in found.acting.inputs.values()) == 2
    assert rollout_forces.FEW <= 40 / 2


@pytest.mark.parametrize("number", [True, False])
def test_a_trajectory_of_its_own_mechanism_has_its_energies(number: bool):
    masses = np.array([[0.1], [1.0], [3.0]])
    given = {"mass": masses, "along": 1.5 if number else np.array(1.5)}
    found = kn.rollout(ARM, Q[:3], None, None, DT, steps=30, model_fn=with_payload, parameters=given)
    for k, mass in enumerate(masses):
        model = with_payload(ARM, mass.tolist(), 1.5)
        one = found[k]
        assert one.model.content_hash == model.content_hash
        np.testing.assert_allclose(found.kinetic_energy[k], kn.kinetic_energy(model, one.q, one.v), rtol=1e-12)
        np.testing.assert_allclose(found.potential_energy[k], one.potential_energy, rtol=1e-12)


# files


@pytest.mark.parametrize("suffix", [".npz", ".nc"])
def test_all_of_it_is_saved_and_loaded(suffix: str, tmp_path: Path):
    if suffix == ".nc":
        pytest.importorskip("xarray")
        pytest.importorskip("netCDF4")
    found = kn.rollout(ARM, Q.reshape(2, 3, -1), V.reshape(2, 3, -1), TAU[:4:3, None], DT, steps=40, save_every=7)
    path = tmp_path / f"many{suffix}"
    found.save(path)
    loaded = kn.simulation.Rollout.load(path)
    for name in ("times", "q", "v", "tau", "diverged_at"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(found, name))
    np.testing.assert_allclose(loaded.energy, found.energy, rtol=1e-13)
    assert (loaded.integrator, loaded.dt, loaded.batch) == (found.integrator, found.dt, (2, 3))
    np.testing.assert_array_equal(loaded[1, 2].tau, found[1, 2].tau)
    assert loaded.model.content_hash == ARM.content_hash
    with pytest.raises(ValueError, match="holds 'knuckle rollout 1', and should hold 'knuckle trajectory 1'"):
        kn.Trajectory.load(path)


def test_a_file_holds_the_parameters_of_mechanisms_and_asks_for_their_function(tmp_path: Path):
    given = {"mass": np.array([[0.1], [1.0]]), "along": 1.0}
    found = kn.rollout(ARM, Q[:2], None, None, DT, steps=5, model_fn=with_payload, parameters=given)
    found.save(tmp_path / "payloads.npz")
    with pytest.raises(TypeError, match=r"payloads.npz was computed with model_fn=with_payload, .*: give model_fn="):
        kn.simulation.Rollout.load(tmp_path / "payloads.npz")
    loaded = kn.simulation.Rollout.load(tmp_path / "payloads.npz", model_fn=with_payload)
    np.testing.assert_allclose(loaded.energy, found.energy, rtol=1e-14)
    assert loaded[1].model.content_hash == found[1].model.content_hash
    with pytest.raises(ValueError, match=r"many.csv: a rollout is saved as .npz or"):
        found.save(tmp_path / "many.csv")


def test_xarray_names_the_axes():
    pytest.importorskip("xarray")
    data = pulled(keep=10).to_xarray()
    assert data["q"].dims == ("trajectory", "time", "position")
    assert data["kinetic_energy"].dims == ("trajectory", "time")
    assert data["q"].attrs["units"] == "rad"
    assert np.isnan(data["diverged_at"]).all()


# to look at


@pytest.mark.slow
def test_many_trajectories_are_drawn(tmp_path: Path):
    pytest.importorskip("matplotlib")
    found = pulled(keep=4)
    figure = found.plot(tmp_path / "many.png")
    assert (tmp_path / "many.png").stat().st_size > 10_000
    assert figure.get_suptitle() == f"{ARM.name}: 6 trajectories"
    middle = [line for line in figure.axes[0].lines if line.get_label() == ARM.joint_names[0]]
    np.testing.assert_allclose(middle[0].get_ydata(), np.median(found.q[..., 0], axis=0))
    one = found.plot(tmp_path / "v.png", what=["v"], joints=[ARM.joint_names[1]])
    assert len(one.axes) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_finite_is_left_out_of_the_picture(tmp_path: Path):
    pytest.importorskip("matplotlib")
    gain = np.where(np.arange(6) == 4, -1e6, 3.0)[:, None] * np.ones(ARM.nv)
    found = pulled(parameters={"stiffness": gain, "rest": REST})
    figure = found[4:5].plot(tmp_path / "some.png", what=["q"])
    (line,) = [line for line in figure.axes[0].lines if line.get_label() == ARM.joint_names[0]]
    assert np.isfinite(line.get_ydata()[: len(found[4])]).all()


def test_a_few_are_replayed_side_by_side(tmp_path: Path):
    found = pulled(keep=4)
    page = kn.viewer.replay_html(found[:3], tmp_path / "few.html").read_text("utf-8")
    assert "3 robots, 0.04 s" in page
    assert f"{ARM.nb} bodies" in kn.viewer.replay_html(found[2], tmp_path / "one.html").read_text("utf-8")
    many = kn.rollout(ARM, np.zeros((40, ARM.nq)), steps=1)
    with pytest.raises(
        ValueError, match=r"this rollout has 40 trajectories, and a scene at most 32 robots: .* rollout\[:4\]"
    ):
        kn.viewer.replay_html(many, tmp_path / "many.html")
