"""MuJoCo's actuators with states and with transmissions of several directions: forces, rates and steps are MuJoCo's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.formats import read_mjcf, to_mjcf

from .mjcf_driven import DRIVEN

mujoco: Any = pytest.importorskip("mujoco")


@pytest.fixture(scope="module")
def driven() -> kn.Model:
    return read_mjcf(DRIVEN)


def ours(d: Any) -> tuple[Any, Any, Any]:
    """q, v and τ of actuators of a state of MuJoCo's, whose first joint is free."""
    R = kn.lie_groups.quaternion_to_matrix(d.qpos[3:7])
    v, tau = (np.concatenate([x[3:6], R.T @ x[:3], x[6:]]) for x in (d.qvel, d.qfrc_actuator))
    return np.concatenate([d.qpos[3:7], d.qpos[:3], d.qpos[7:]]), v, tau


def differences(text: str, model: kn.Model) -> tuple[float, float, float]:
    """How far rates of states, forces and joint forces are from MuJoCo's, in some states and under some controls."""
    m = mujoco.MjModel.from_xml_string(text)
    d, rng, worst = mujoco.MjData(m), np.random.default_rng(0), np.zeros(3)
    for _ in range(10):
        d.qpos[:], d.qvel[:], d.ctrl[:] = rng.normal(size=m.nq), rng.normal(size=m.nv), 2 * rng.normal(size=m.nu)
        mujoco.mj_normalizeQuat(m, d.qpos)
        d.act[:] = 0.3 * rng.normal(size=m.na)
        mujoco.mj_forward(m, d)
        q, v, tau = ours(d)
        states, with_states = d.act.copy(), [x for x in model.actuators if x.dynamics is not None]
        inputs = [u for x, u in zip(model.actuators, d.ctrl, strict=True) if x.dynamics is not None]
        for k, (x, u) in enumerate(zip(with_states, inputs, strict=True)):
            assert x.dynamics is not None
            if x.dynamics.is_early:
                states[k] = x.dynamics.after(x.followed(u, d.act[k]), d.act[k], m.opt.timestep)
        f = kn.actuators.forces(model, q, v, d.ctrl, states)
        found = (
            np.abs(kn.actuators.state_rates(model, d.ctrl, d.act) - d.act_dot).max(),
            np.abs(f - d.actuator_force).max(),
            np.abs(kn.actuators.joint_forces(model, q, v, d.ctrl, states) - tau).max(),
        )
        assert np.abs(d.act_dot).min() > 1e-3
        worst = np.maximum(worst, found)
    return worst[0], worst[1], worst[2]


def test_forces_and_rates_are_mujocos(driven: kn.Model):
    assert len(driven.actuators) == 19
    assert not [note for note in driven.provenance.notes if "ignored as an actuator" in note.text]
    assert max(differences(DRIVEN, driven)) < 1e-12


def test_what_is_written_is_what_was_read(driven: kn.Model):
    text = to_mjcf(driven, lossy=True)
    assert max(differences(text, driven)) < 1e-12
    assert read_mjcf(text).actuators == driven.actuators
    assert kn.formats.read_json(kn.formats.to_json(driven)).actuators == driven.actuators


@pytest.mark.slow
def test_steps_are_mujocos():
    """Semi-implicit Euler under integrators and filters, step by step, where MuJoCo steps so too."""
    head, tail = DRIVEN.split("<actuator>")
    kept = [
        line for line in tail.splitlines() if any(f'name="{x}"' in line for x in ("integrator", "filter", "cylinder"))
    ]
    text = "\n".join([head, "<actuator>", *kept, "</actuator></mujoco>"])
    model, m = read_mjcf(text), mujoco.MjModel.from_xml_string(text)
    assert m.na == 3
    d, rng = mujoco.MjData(m), np.random.default_rng(1)
    d.qvel[6:], u = 0.3 * rng.normal(size=m.nv - 6), 0.3 * rng.normal(size=m.nu)
    d.ctrl[:], d.act[:] = u, a = u, 0.2 * rng.normal(size=m.na)
    q, v, _ = ours(d)
    found = kn.rollout(
        model, q, v, None, m.opt.timestep, steps=20, integrator="euler", contacts=False, controls=u, actuator_states0=a
    )
    for _ in range(20):
        mujoco.mj_step(m, d)
    np.testing.assert_allclose(found.actuator_states[-1], d.act, rtol=1e-12)
    assert np.abs(found.actuator_states[-1] - a).max() > 1e-2
    assert np.abs(found.q[-1, 7:] - d.qpos[7:]).max() < 2e-3  # quaternions and the base are stepped in another way
