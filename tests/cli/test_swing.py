"""The integrator of the demo: its order, on the manifolds of rotations too."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.cli.swing import swing
from knuckle.joints import Free, Revolute, Spherical
from knuckle.model import Body, Model, TreeJoint
from knuckle.spatial import Transform
from knuckle.testing import general_chain, random_inertia

JOINTS = {
    "flat": (Revolute("y"), Revolute("x")),
    "rotations": (Spherical(), Spherical()),
    "free": (Free(), Spherical()),
}


@pytest.mark.parametrize("name", JOINTS)
def test_the_order_is_four(name: str):
    rng = np.random.default_rng(4)
    arm = Transform.translation((0.3, 0.1, -0.4))
    joints = tuple(TreeJoint(f"joint{i}", kind, i - 1, arm) for i, kind in enumerate(JOINTS[name]))
    model = Model(tuple(Body(f"body{i}", random_inertia(rng)) for i in range(2)), joints)
    q, v = kn.neutral(model), rng.standard_normal(model.nv)
    fine = swing(model, q, v, 0.4, 160)
    errors = []
    for steps in (10, 20):
        coarse = swing(model, q, v, 0.4, steps)
        errors.append(np.linalg.norm(kn.difference(model, fine.q[-1], coarse.q[-1])))
    order = np.log2(errors[0] / errors[1])
    assert 3.6 < order < 4.6, f"errors {errors}"


def test_energy_of_a_swing_adds_up():
    model = general_chain(3)
    motion = swing(model, np.array([0.1, 0.2, 0.3]), np.zeros(3), 0.1, 50)
    assert motion.t.shape == (51,)
    assert motion.kinetic[0] == 0.0
    assert motion.kinetic.max() > 0.0
    np.testing.assert_array_equal(motion.energy, motion.kinetic + motion.potential)
    assert motion.drift[0] == 0.0
    assert np.max(np.abs(motion.drift)) < 1e-8
