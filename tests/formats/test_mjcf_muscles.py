"""MuJoCo's muscles at tendons, and its fixed tendons: lengths, moment arms, forces and motions as MuJoCo has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle import elements
from knuckle.elements import ConstantTension, JointLine, Line, MujocoMuscle, MuscleLaw, Spring, Winding
from knuckle.errors import ModelError

from .mjcf_muscle_arm import MUSCLE_ARM

mujoco: Any = pytest.importorskip("mujoco")


@pytest.fixture(scope="module")
def there() -> Any:
    return mujoco.MjModel.from_xml_string(MUSCLE_ARM)


@pytest.fixture(scope="module")
def model() -> kn.Model:
    return kn.formats.read_mjcf(MUSCLE_ARM)


def jacobian(there: Any, data: Any) -> np.ndarray[Any, Any]:
    dense = np.zeros((there.ntendon, there.nv))
    if np.size(data.ten_J) == dense.size:
        return np.reshape(data.ten_J, dense.shape)
    rows = zip(there.ten_J_rownnz, there.ten_J_rowadr, strict=True)
    for t, (count, first) in enumerate(rows):
        dense[t, there.ten_J_colind[first : first + count]] = data.ten_J[first : first + count]
    return dense


def test_what_comes_over(model: kn.Model):
    laws = {x.name: type(x.law).__name__ for x in model.elements if isinstance(x, (Line, JointLine))}
    assert laws == {
        **dict.fromkeys(("deltoid", "latissimus", "brachialis", "triceps short_muscle"), "MujocoMuscle"),
        **dict.fromkeys(("biceps", "triceps long"), "MujocoMuscle"),
        **dict.fromkeys(("triceps short", "link"), "Spring"),
    }
    assert not [note for note in model.provenance.notes if note.level == "warning"]
    back = kn.formats.read_mjcf(kn.formats.to_mjcf(model))
    assert back.elements == model.elements
    assert kn.formats.read_json(kn.formats.to_json(model)) == model


def test_lengths_arms_and_forces(there: Any, model: kn.Model):
    data, rng = mujoco.MjData(there), np.random.default_rng(3)
    tendon = [there.tendon(x.name.removesuffix("_muscle")).id for x in model.elements]
    for _ in range(6):
        q, v, a = rng.uniform([-1.2, 0.1], [1.4, 2.2]), rng.standard_normal(2), rng.uniform(0, 1, 6)
        data.qpos[:], data.qvel[:], data.act[:], data.ctrl[:] = q, v, a, rng.uniform(-0.2, 1.2, 6)
        mujoco.mj_forward(there, data)
        assert elements.lengths(model, q) == pytest.approx(data.ten_length[tendon], abs=1e-9)
        assert elements.moment_arms(model, q) == pytest.approx(-jacobian(there, data)[tendon], abs=1e-9)
        assert elements.rates(model, q, v) == pytest.approx(data.ten_velocity[tendon], abs=1e-9)
        force = -there.actuator_gear[:, 0] * data.actuator_force
        pulls = [isinstance(getattr(x, "law", None), MuscleLaw) for x in model.elements]
        assert elements.tensions(model, q, v, a)[pulls] == pytest.approx(force, rel=1e-9)
        excited = [x.law for x in model.elements if isinstance(x, Line) and isinstance(x.law, MujocoMuscle)]
        rates = [law.activation_rate(u, z) for law, u, z in zip(excited, data.ctrl, a, strict=True)]
        assert rates == pytest.approx(data.act_dot, rel=1e-12)
        activated = elements.with_activations(model, a)
        assert kn.forward_dynamics(activated, q, v, np.zeros(2)) == pytest.approx(data.qacc, rel=1e-9)


def test_motions_are_mujocos(there: Any, model: kn.Model):
    """Control in is excitation: the same Runge-Kutta steps, with activations in every stage."""
    data, U = mujoco.MjData(there), np.random.default_rng(1).uniform(0, 1, (60, 6))
    data.qpos[:] = 0.2, 0.9
    for u in U:
        data.ctrl[:] = u
        mujoco.mj_step(there, data)
    here = kn.rollout(model, [0.2, 0.9], None, None, 0.002, steps=60, excitations=U, integrator="rk4")
    assert here.q[-1] == pytest.approx(data.qpos, abs=1e-9)
    assert here.v[-1] == pytest.approx(data.qvel, abs=1e-8)
    assert here.activations[-1] == pytest.approx(data.act, abs=1e-12)


def test_lines_on_joints_are_refused_where_there_are_none(model: kn.Model):
    with pytest.raises(ModelError, match="wound"):
        model.replace(elements=(JointLine("x", (Winding("world", 1.0),), Spring(1.0)),))
    with pytest.raises(ValueError, match="law"):
        JointLine("x", (Winding("forearm", 1.0),), "spring")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="coefficient"):
        Winding("forearm", "much")  # type: ignore[arg-type]
    held = model.replace(elements=(JointLine("x", (Winding("forearm", 2.0),), ConstantTension(3.0)),))
    assert elements.joint_forces(held, [0.1, 0.2], [0.0, 0.0]) == pytest.approx([0.0, -6.0], abs=1e-14)
