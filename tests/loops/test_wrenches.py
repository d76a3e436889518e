"""Loop joint wrenches: what the loop joints transmit, put on the bodies of the tree, moves them as the loops do."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.algorithms.loops.loop_constraints import closure
from knuckle.testing import JOINTS
from knuckle.testing.loops.linkages import LINKAGES, Linkage

from ..seeds import FEW_JOINTS, quick
from .oracle import allowed


def on_bodies(model: kn.Model, q: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """f_ext of the wrenches: on the successor, and the other way round on the predecessor."""
    f = np.zeros((model.nb, 6))
    for loop, wrench in zip(model.loops, wrenches, strict=True):
        F = kn.spatial.Force.of(wrench.tolist())
        X = closure(model, model.positions(q.tolist()), loop).X
        if loop.successor >= 0:
            f[loop.successor] += np.array((loop.X_successor.T @ F).components, float)
        if loop.predecessor >= 0:
            f[loop.predecessor] -= np.array((loop.X_predecessor.T @ (X.T @ F)).components, float)
    return f


def must_move_alike(made: Linkage, rng: np.random.Generator, tolerance: float) -> None:
    model, q = made.model, made.q
    v, tau, f = allowed(model, q, rng), rng.standard_normal(model.nv), rng.standard_normal((model.nb, 6))
    own = rng.standard_normal(sum(loop.type.nv for loop in model.loops))
    wrenches = kn.loops.wrenches(model, q, v, tau, f, own)
    assert wrenches.shape == (len(model.loops), 6)
    opened = kn.forward_dynamics(model.without_loops(), q, v, tau, f + on_bodies(model, q, wrenches))
    closed = kn.forward_dynamics(model, q, v, tau + kn.loops.active_jacobian(model, q).T @ own, f)
    assert np.abs(opened - closed).max() <= tolerance * (1 + np.abs(closed).max())


@pytest.mark.parametrize("name", sorted(LINKAGES))
def test_linkages(name: str, rng: np.random.Generator):
    must_move_alike(LINKAGES[name](), rng, 1e-10)


@pytest.mark.parametrize("one_loop", quick(sorted(JOINTS), FEW_JOINTS), indirect=True)
def test_every_joint_type(one_loop: Linkage, rng: np.random.Generator):
    condition = np.linalg.cond(kn.mass_matrix(one_loop.model.without_loops(), one_loop.q))
    must_move_alike(one_loop, rng, 1e-12 * condition)


def test_constraint_forces_do_no_work():
    """P11: λᵀK v = 0, and the wrench of a pin has no moment about it."""
    made, rng = LINKAGES["four-bar"](), np.random.default_rng(0)
    v = allowed(made.model, made.q, rng)
    wrench = kn.loops.wrenches(made.model, made.q, v, rng.standard_normal(3))[0]
    assert abs(wrench[1]) < 1e-12
    lam = kn.loops.forces(made.model, made.q, v, np.zeros(3))
    assert abs(lam @ kn.loops.jacobian(made.model, made.q) @ v) < 1e-12 * np.abs(lam).max()


def test_a_motor_at_the_pin_is_felt_there():
    """T_a τ_l is part of the wrench: its moment about the pin."""
    made = LINKAGES["four-bar"]()
    zero = np.zeros(3)
    wrench = kn.loops.wrenches(made.model, made.q, zero, zero, tau_loop=[0.3])[0]
    assert wrench[1] == pytest.approx(0.3, abs=1e-12)
