"""Robots with added loops against Pinocchio's constraintDynamics: accelerations and constraint forces to 1e-8."""

import sysconfig
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import knuckle as kn
from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.joints import Fixed, Spherical
from knuckle.model import LoopJoint

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
CASES = {
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "fixed"),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", "floating"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "floating"),
    "panda": ("panda_description/urdf/panda.urdf", "fixed"),
}


def load(name: str) -> tuple[kn.Model, pin.Model]:
    path, base = CASES[name]
    model = kn.load(ROBOTS / path, base=base, mimic=False).without_friction()
    root = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    theirs = pin.buildModelFromUrdf(str(ROBOTS / path), *root)
    theirs.armature[:] = 0
    return model, theirs


@pytest.mark.parametrize("dimension", [6, 3])
@pytest.mark.parametrize("name", CASES)
def test_constraint_dynamics(name: str, dimension: int):
    model, theirs = load(name)
    rng = np.random.default_rng(dimension)
    q, v = kn.random_configuration(model, rng), rng.standard_normal(model.nv)
    if model.joint_names[0] == "floating_base":
        q[4:7] = rng.uniform(-1, 1, 3)
    tau = rng.standard_normal(model.nv)
    there = kn.formats.adapters.pinocchio(model, theirs)
    leaves = [i for i in range(model.nb) if not model.children(i)]
    s, p = leaves[-1], leaves[0] if len(leaves) > 1 else -1
    kind = Fixed() if dimension == 6 else Spherical()
    X = positions(model, model.positions(q.tolist()))
    at_s = kn.spatial.Transform(kn.spatial.rotation.rx(0.3), (0.1, -0.2, 0.05))
    at_p = at_s @ X[s] @ X[p].inverse()
    closed = model.replace(loops=(LoopJoint("tie", kind, p, s, at_p, at_s),))
    K = kn.loops.jacobian(closed, q)
    v = v - np.linalg.pinv(K) @ (K @ v)

    def placement(at: kn.spatial.Transform) -> pin.SE3:
        return pin.SE3(np.array(at.E, float).T, np.array(at.r, float))

    def joint(body: int) -> int:
        if body < 0:
            return 0
        return 1 if model.joint_names[body] == "floating_base" else theirs.getJointId(model.joint_names[body])

    kindred = pin.ContactType.CONTACT_6D if dimension == 6 else pin.ContactType.CONTACT_3D
    tie = pin.RigidConstraintModel(kindred, theirs, joint(s), placement(at_s), joint(p), placement(at_p), pin.LOCAL)
    data = theirs.createData()
    ties, tie_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    ties.append(tie)
    tie_data.append(tie.createData())
    pin.initConstraintDynamics(theirs, data, ties, tie_data)
    settings = pin.ProximalSettings(1e-14, 1e-14, 1e-12, 200)
    pin_q = there.q_to(q)
    a = pin.constraintDynamics(theirs, data, pin_q, there.v_to(q, v), there.tau_to(q, tau), ties, tie_data, settings)
    wanted = there.a_from(pin_q, there.v_to(q, v), a)
    ours = kn.forward_dynamics(closed, q, v, tau)
    assert np.abs(ours - wanted).max() <= 1e-8 * (1 + np.abs(wanted).max())
    lam = kn.loops.forces(closed, q, v, tau)
    force = tie_data[0].contact_force  # on the first joint, in its constraint frame: linear part first
    theirs_lam = np.concatenate([force.angular, force.linear]) if dimension == 6 else force.linear
    if np.linalg.matrix_rank(K, tol=1e-9) == len(K):
        assert np.abs(lam - theirs_lam).max() <= 1e-8 * (1 + np.abs(theirs_lam).max())
    else:  # the fingers of a hand tied together: forces across the hand are not determined, what they do is
        assert name == "panda"
        assert np.abs(K.T @ (lam - theirs_lam)).max() <= 1e-8 * (1 + np.abs(theirs_lam).max())
        assert np.linalg.norm(lam) <= np.linalg.norm(theirs_lam) * (1 + 1e-9)
