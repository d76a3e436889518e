"""Constraint forces T and active forces T_a of every joint."""

import numpy as np
import pytest

from knuckle.joints import Euler, Joint, RackAndPinion, Reversed, YawPitchRoll
from knuckle.spatial import Force, Motion, Vector

from .zoo import ZOO, close, matrix, state, stepped


def test_constraint_forces_do_no_work(joint: Joint, seed: int):
    """TᵀS = 0 (RBDA 3.33), and T has the other 6 − nv dimensions."""
    q, _ = state(joint, seed)
    T = joint.constraints(q)
    close(T.T @ joint.subspace(q), np.zeros((6 - joint.nv) * joint.nv))
    assert T.vector is Force
    assert len(T) == 6 - joint.nv
    assert np.linalg.matrix_rank(matrix(T)) == 6 - joint.nv


def test_active_forces_are_dual_to_the_motions(joint: Joint, seed: int):
    """T_aᵀS = 1 (RBDA 3.36), and T and T_a together are all forces."""
    q, _ = state(joint, seed)
    T, Ta = joint.constraints(q), joint.actuation(q)
    size = np.linalg.norm(matrix(Ta), 2) * np.linalg.norm(matrix(joint.subspace(q)), 2) if joint.nv else 1.0
    close(Ta.T @ joint.subspace(q), np.eye(joint.nv).ravel(), 1e-14 * max(1.0, size))
    assert Ta.vector is Force
    assert np.linalg.matrix_rank(np.hstack([matrix(T), matrix(Ta)])) == 6


def test_closed_constraint_forces_span_what_the_subspace_leaves(joint: Joint, seed: int):
    """The closed T and the one from the Householder factorisation of S are bases of one space."""
    q, _ = state(joint, seed)
    T, general = matrix(joint.constraints(q)), matrix(Joint.constraints(joint, q))
    rounding = 6 * np.finfo(float).eps * np.linalg.cond(matrix(joint.subspace(q))) if joint.nv else None
    assert np.linalg.matrix_rank(np.hstack([T, general]), rtol=rounding) == 6 - joint.nv


def test_joint_force_splits_into_active_and_constraint_parts(joint: Joint):
    """f_J = T_a τ + T λ gives Sᵀf_J = τ and the power τ·v (RBDA 3.34-3.38)."""
    q, v = state(joint, 5)
    rng = np.random.default_rng(9)
    tau, lam = (Vector(map(float, rng.standard_normal(n))) for n in (joint.nv, 6 - joint.nv))
    f = joint.actuation(q) @ tau + joint.constraints(q) @ lam
    S = joint.subspace(q)
    size = max(1.0, float(np.max(np.abs(matrix(joint.actuation(q))), initial=0.0)))
    close(S.T @ f, tau, 1e-12 * size)
    close([f.dot(S @ v)], [tau @ v], 1e-12 * size)


@pytest.mark.parametrize("name", ["yaw pitch roll", "euler zxz", "euler skew", "exponential"])
def test_ball_joints_have_constant_constraint_forces_though_their_subspace_varies(name: str):
    """T is the dual complement of S, not a rotated copy of it (RBDA 3.3, row C-10)."""
    joint = ZOO[name]
    for seed in range(3):
        assert joint.constraints(state(joint, seed)[0]) == joint.constraints(joint.neutral())
    assert joint.subspace(state(joint, 0)[0]) != joint.subspace(state(joint, 1)[0])


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
@pytest.mark.parametrize("joint", [YawPitchRoll(), Euler("zyx"), Euler("xyz"), YawPitchRoll().reversed()])
def test_motion_is_finite_where_angles_lock(joint: Joint, pitch: float):
    """At ±90° S has rank two; nothing in `motion` divides by what vanishes, and Ẋ = −v × X still holds."""
    q, v = Vector([0.3, pitch, -0.8]), Vector([0.5, -1.0, 2.0])
    X, S, vJ, cJ = joint.motion(q, v)
    assert np.linalg.matrix_rank(matrix(S), tol=1e-12) == 2
    for part in (X.E, vJ.components, cJ.components):
        assert np.all(np.isfinite(np.array(part, dtype=float)))
    moved = joint.transform(stepped(q, v))
    rates = [-(vJ.cross(X @ e)) for e in Motion.basis()]
    close([np.imag(complex(x)) / 1e-30 for e in Motion.basis() for x in (moved @ e).components], rates)


@pytest.mark.parametrize("second", [0.0, np.pi])
def test_motion_is_finite_where_a_proper_euler_sequence_locks(second: float):
    joint = Euler("zxz")
    _, S, vJ, cJ = joint.motion(Vector([0.3, second, -0.8]), Vector([0.5, -1.0, 2.0]))
    assert np.linalg.matrix_rank(matrix(S), tol=1e-12) == 2
    assert np.all(np.isfinite(np.array([*vJ.components, *cJ.components], dtype=float)))


def test_active_forces_grow_without_bound_towards_a_lock():
    """The moment that works on yaw alone is 1/cos(pitch): the price of the chart, not of the joint."""
    for gap in (1e-1, 1e-3, 1e-6):
        Ta = YawPitchRoll().actuation(Vector([0.0, np.pi / 2 - gap, 0.0]))
        assert np.linalg.norm(matrix(Ta)[:, 0]) == pytest.approx(1 / np.sin(gap), rel=1e-6)


def test_reversed_forces_carry_the_star(seed: int):
    """Table 4.2 with T → −X*T: as printed, without the star, TᵀS = 0 is lost (row C-18)."""
    joint = Reversed(RackAndPinion(0.4))
    q, _ = state(joint, seed)
    X, S, T = joint.transform(q), joint.subspace(q), joint.constraints(q)
    printed = [-(X @ Motion(f.angular, f.linear)) for f in joint.joint.constraints(q)]
    work = [sum(a * b for a, b in zip(t.components, s.components, strict=True)) for t in printed for s in S]
    assert max(map(abs, work)) > 1e-2
    close(T.T @ S, np.zeros(5))
