"""Rollouts with deformable bodies: each trajectory is that of `kn.simulate`, to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn

E = kn.elements
STEP = 5e-3
Q = np.array([[0.3], [1.0], [-0.7]])
PULLS = np.array([[[0.5]], [[0.0]], [[-1.0]]])


def flail(height: float | None = None) -> kn.Model:
    """An arm with a soft block at its end, that may touch a floor."""
    b = kn.Builder("flail")
    if height is not None:
        b.ground(height=height)
    b.body("arm", joint=kn.joints.Revolute("y"), inertia=kn.model.solid_box(1.0, (0.02, 0.02, 0.3), at=(0, 0, -0.15)))
    mesh = E.box_mesh((0.1, 0.1, 0.2), (1, 1, 2))
    b.deformable(
        "block", mesh, material=E.NeoHookean(2e4, 0.3), density=500.0, damping=0.01, on="arm", at=(0, 0, -0.4),
        attach={"arm": mesh.where(lambda x, y, z: z > 0.0999)},
    )  # fmt: skip
    return b.build()


@kn.kernel
def held_up(model: Any, q: Any, v: Any, gain: Any) -> Any:
    return -gain * q - 0.1 * v


def must_be_the_same(many: Any, motions: list[Any]) -> None:
    for k, motion in enumerate(motions):
        for name in ("q", "v", "tau", "energy", "kinetic_energy"):
            assert np.array_equal(getattr(many, name)[k], getattr(motion, name)), name
            assert np.array_equal(getattr(many[k], name), getattr(motion, name)), name
        assert np.array_equal(many.nodes("block")[k], motion.nodes("block"))
        assert np.array_equal(many.node_velocities("block")[k], motion.node_velocities("block"))


def test_trajectories_are_those_of_simulations() -> None:
    model = flail()
    many = kn.rollout(model, Q, None, PULLS, STEP, steps=7, save_every=3)
    each = [
        kn.simulate(model, q, None, 7 * STEP, dt=STEP, save_every=3, controller=f[0])
        for q, f in zip(Q, PULLS, strict=True)
    ]
    must_be_the_same(many, each)
    assert many.nodes("block").shape == (3, 4, 12, 3)
    assert many[1:].nodes("block").shape == (2, 4, 12, 3)
    assert np.array_equal(many[many.q[:, 0, 0] > 0].nodes("block"), many.nodes("block")[:2])


def test_on_a_floor_and_on_threads() -> None:
    model = flail(-0.5)
    before = kn.compilation.get_threads()
    try:
        kn.compilation.set_threads(2)
        many = kn.rollout(model, Q[:2], None, None, STEP, steps=40, save_every=20)
    finally:
        kn.compilation.set_threads(before)
    must_be_the_same(many, [kn.simulate(model, q, None, 40 * STEP, dt=STEP, save_every=20) for q in Q[:2]])
    assert many.nodes("block")[..., 2].min() > -0.5 - 1e-4


def test_kernels_forces_of_every_step_and_functions() -> None:
    """Kernels with parameters of each trajectory; arrays over time; Python's functions, held in a step."""
    model, gains, steps = flail(), np.array([[1.0], [20.0], [3.0]]), 4
    many = kn.rollout(model, Q, None, None, STEP, steps=steps, controller=held_up, parameters={"gain": gains})
    each = [
        kn.simulate(model, q, None, steps * STEP, dt=STEP, controller=held_up, parameters={"gain": gain})
        for q, gain in zip(Q, gains, strict=True)
    ]
    must_be_the_same(many, each)
    pushes = np.random.default_rng(0).normal(size=(3, steps, 1))
    given = kn.rollout(model, Q, None, pushes, STEP, steps=steps)
    asked: list[float] = []

    def told(model: Any, t: float, q: Any) -> Any:
        asked.append(t)
        return pushes[:, round(t / STEP)]

    same = kn.rollout(model, Q, None, None, STEP, steps=steps, controller=told)
    assert np.array_equal(asked, STEP * np.arange(steps))
    assert np.array_equal(given.q, same.q)
    assert np.array_equal(given.tau, same.tau)
    assert np.array_equal(given.nodes("block"), same.nodes("block"))
    assert not np.array_equal(given.q, kn.rollout(model, Q, None, pushes[:, :1], STEP, steps=steps).q)
    wrench = np.zeros((1, 6))
    wrench[0, 3] = 2.0
    pushed = kn.rollout(model, Q, None, None, STEP, steps=2, external_forces=lambda model: wrench)
    alone = kn.simulate(model, Q[2], None, 2 * STEP, dt=STEP, external_forces=wrench)
    assert np.array_equal(pushed.q[2], alone.q)


def test_actuators() -> None:
    """Constant controls, of each trajectory its own; those that change are refused."""
    servo = kn.actuators.position_servo("servo", "arm_joint", kp=5.0, kv=0.1)
    model, u = flail().replace(actuators=(servo,)), np.array([[[0.4]], [[-0.3]]])
    many = kn.rollout(model, Q[:2], None, None, STEP, steps=3, controls=u)
    must_be_the_same(many, [kn.simulate(model, Q[k], None, 3 * STEP, dt=STEP, controls=u[k, 0]) for k in (0, 1)])
    for text, controls in (
        ("applied_controls is given for every step", np.zeros((3, 1))),
        ("controls that are a function", lambda model, q: -q),
    ):
        with pytest.raises(kn.ModelError, match=text):
            kn.rollout(model, Q, None, None, STEP, steps=3, controls=controls)


def test_files_keep_the_nodes(tmp_path: Path) -> None:
    many = kn.rollout(flail(), Q, None, None, STEP, steps=2)
    many.save(tmp_path / "many.npz")
    again = kn.simulation.Rollout.load(tmp_path / "many.npz")
    assert np.array_equal(again.nodes("block"), many.nodes("block"))
    assert np.array_equal(again.energy, many.energy)


def test_what_diverges_does_not_disturb_the_others() -> None:
    model, q = flail(), np.array([[0.3], [np.nan]])
    with pytest.warns(RuntimeWarning, match="1 of 2 trajectories of flail began with a state that is not finite"):
        many = kn.rollout(model, q, None, None, STEP, steps=2)
    assert np.isnan(many.energy[1]).all()
    assert list(many.finite) == [True, False]
    assert np.array_equal(many.q[0], kn.simulate(model, q[0], None, 2 * STEP, dt=STEP).q)


def test_what_is_refused() -> None:
    model = flail()

    def heavier(model: Any, mass: Any) -> Any:
        return model

    sampled = kn.SampledController(lambda model, q: -q, period=STEP)
    for text, options in (
        ("model_fn", {"model_fn": heavier, "parameters": {"mass": 1.0}}),
        ("a sampled controller", {"controller": sampled}),
        ("save_contacts", {"save_contacts": True}),
        (
            "gain is given for every step",
            {"controller": held_up, "parameters": {"gain": np.ones((2, 1))}, "time_varying": ["gain"]},
        ),
    ):
        with pytest.raises(kn.ModelError, match=text):
            kn.rollout(model, None, None, None, STEP, steps=2, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"dt=-0\.005 must be above zero"):
        kn.rollout(model, None, None, None, -STEP, steps=2)
    with pytest.raises(kn.ModelError, match="rollout_gradient knows no deformable bodies"):
        kn.rollout_gradient(model, kn.kernel(lambda model, q: q[0]), np.zeros(1), np.zeros(1), None, STEP, steps=2)
