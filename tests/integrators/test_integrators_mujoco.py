"""The same motion by MuJoCo: RK4 on both sides, no contact, no damping."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.formats import adapters, to_mjcf
from knuckle.integrators import RungeKutta4
from knuckle.simulation.steps.stepper import stepper

from ..seeds import quick

mujoco = pytest.importorskip("mujoco")

DT, STEPS = 1e-3, 1000


@pytest.mark.parametrize("name", quick(["arm", "quadruped", "humanoid"], ["quadruped"]))
def test_a_second_of_motion(name: str):
    """Both round differently in 10⁴ operations a step; the motions are far from chaotic within a second."""
    model = kn.robots.load(name).without_friction()
    theirs = mujoco.MjModel.from_xml_string(to_mjcf(model, lossy=True))
    theirs.opt.integrator, theirs.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, DT
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    there, data = adapters.mujoco(model, theirs), mujoco.MjData(theirs)

    rng = np.random.default_rng(0)
    q, v = kn.random_configuration(model, rng), 0.5 * rng.normal(size=model.nv)
    data.qpos[:], data.qvel[:] = there.q_to(q), there.v_to(q, v)
    stepping = stepper(model, RungeKutta4())
    state = stepping.start(0.0, q, v, DT)
    for k in range(STEPS):
        mujoco.mj_step(theirs, data)
        state = stepping.step(k * DT, state, DT)

    assert np.abs(kn.difference(model, q, state.q)).max() > 1.0, "nothing moved"
    np.testing.assert_allclose(kn.difference(model, state.q, there.q_from(data.qpos)), 0.0, atol=1e-9)
    np.testing.assert_allclose(there.v_from(data.qpos, data.qvel), state.v, rtol=0, atol=1e-8)
