"""Equalities alone are closed loops: the same accelerations and forces as loop joints have (RBDA chapter 8)."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Fixed, Spherical
from knuckle.testing import random_tree
from knuckle.testing.loops.linkages import LINKAGES, four_bar

METHODS = ["dense", "dual", "iterative"]
C = kn.constraints


def moving(model: kn.Model, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A velocity that the loops allow."""
    K, v = kn.loops.jacobian(model, q), rng.standard_normal(model.nv)
    return v - np.linalg.pinv(K, rcond=1e-8) @ (K @ v)


@pytest.mark.parametrize("name", sorted(set(LINKAGES) - {"ladder"}))
def test_loop_joints_are_kept(name: str):
    """Without any constraint beside them, loop joints do what `forward_dynamics` and `constraint_forces` say."""
    made, rng = LINKAGES[name](), np.random.default_rng(1)
    model, q = made.model, made.q
    v, tau = moving(model, q, rng), rng.standard_normal(model.nv)
    condition = np.linalg.cond(kn.mass_matrix(model.without_loops(), q))
    wanted = kn.forward_dynamics(model, q, v, tau, stabilization=0.1)
    for method in ("dense", "dual"):
        found = kn.constraints.dynamics(model, q, v, tau, [], method=method, stabilization=0.1)
        assert found.solved
        assert np.abs(found.a - wanted).max() <= 1e-12 * condition * (1 + np.abs(wanted).max())
        lam = kn.loops.forces(model, q, v, tau, stabilization=0.1)
        assert np.abs(found.multipliers - lam).max() <= 1e-11 * condition * (1 + np.abs(lam).max())


def test_iterative_loops():
    made, rng = LINKAGES["Stewart"](), np.random.default_rng(1)
    v, tau = moving(made.model, made.q, rng), rng.standard_normal(made.model.nv)
    found = kn.constraints.dynamics(made.model, made.q, v, tau, [], method="iterative")
    wanted = kn.forward_dynamics(made.model, made.q, v, tau)
    assert found.solved
    assert np.abs(found.a - wanted).max() <= 1e-7 * (1 + np.abs(wanted).max())


@pytest.mark.parametrize("method", METHODS)
def test_a_planar_loop_by_two_directions(method):
    """The notes' four-bar (2.91): a point kept in the two directions across its axis. Three would be one too many."""
    made, rng = four_bar(), np.random.default_rng(2)
    model, q = made.model, made.q
    tree, (loop,) = model.without_loops(), model.loops
    v, tau = moving(model, q, rng), rng.standard_normal(3)
    wanted = kn.forward_dynamics(model, q, v, tau)
    ends = [tree.body_names[body] for body in (loop.successor, loop.predecessor)]
    places = [tuple(map(float, X.r)) for X in (loop.X_successor, loop.X_predecessor)]
    for along in (((1, 0, 0), (0, 0, 1)), np.eye(3)):
        pin = C.Point(*ends, *places, along=along)
        found = kn.constraints.dynamics(tree, q, v, tau, [pin], method=method)
        assert found.solved
        assert np.abs(found.a - wanted).max() <= 1e-9 * (1 + np.abs(wanted).max())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["spherical", "fixed"])
def test_points_and_poses_are_loop_joints(kind: str, seed: int):
    """On random trees that are closed where they are: `Point` is a ball joint, `Pose` a weld, with the same wrench."""
    rng = np.random.default_rng([seed, 9])
    tree = random_tree(rng, 6, floating=True)
    first, last = tree.body_names[2], tree.body_names[-1]
    q, tau = kn.random_configuration(tree, rng), rng.standard_normal(tree.nv)
    there = np.linalg.inv(kn.pose(tree, q, first)) @ kn.pose(tree, q, last)
    at = kn.spatial.Transform.of(there[:3, :3].T.tolist(), there[:3, 3].tolist())
    joint = Spherical() if kind == "spherical" else Fixed()
    loop = kn.model.LoopJoint("loop", joint, 2, tree.nb - 1, X_predecessor=at)
    model = tree.replace(loops=(loop,))
    v = moving(model, q, rng)
    constraint = C.Point(last, first, on=tuple(there[:3, 3])) if kind == "spherical" else C.Pose(last, there, first)
    wanted = kn.forward_dynamics(model, q, v, tau)
    condition = np.linalg.cond(kn.mass_matrix(tree, q)) * np.linalg.cond(kn.loops.jacobian(model, q))
    limit = 1e-13 * max(condition, 1e3)
    found = kn.constraints.dynamics(tree, q, v, tau, [constraint])
    assert found.solved
    assert np.abs(found.a - wanted).max() <= limit * (1 + np.abs(wanted).max())
    forces = kn.loops.jacobian(model, q).T @ kn.loops.forces(model, q, v, tau)
    assert np.abs(found.forces - forces).max() <= limit * (1 + np.abs(forces).max())
    for method in ("dual", "kkt"):
        a = kn.constraints.acceleration(tree, q, v, tau, constraints=(constraint,), method=method)
        assert np.abs(a - wanted).max() <= 10 * limit * (1 + np.abs(wanted).max())


def test_loops_and_constraints_together():
    """A crank that may not pass a stop: the loop stays closed, and the stop pushes through it."""
    made = four_bar()
    model, q = made.model, made.q
    tau = np.array([0.0, 0.0, -5.0])
    stop = C.JointPosition(model.joint_names[0], float(q[0]), bound=">=")
    free = kn.forward_dynamics(model, q, np.zeros(3), tau)
    if free[0] > 0:
        tau = -tau
        free = kn.forward_dynamics(model, q, np.zeros(3), tau)
    assert free[0] < 0
    found = kn.constraints.dynamics(model, q, np.zeros(3), tau, [stop])
    assert found.solved
    assert np.abs(found.a).max() < 1e-9
    assert found.multipliers[-1] > 0
    assert np.abs(kn.loops.jacobian(model, q) @ found.a).max() < 1e-9
