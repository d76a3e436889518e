"""X_J, S, v_J and c_J of every joint belong together."""

import mpmath as mp
import numpy as np
import pytest

from knuckle.joints import Joint
from knuckle.scalar import Dual
from knuckle.spatial import Motion, Subspace, Transform, Vector

from ..seeds import quick
from .zoo import FEW, ZOO, close, columns, numbers, slope, state, stepped


def minus_cross(v: Motion, X: Transform) -> list[Motion]:
    """The columns of −v × X."""
    return [-v.cross(column) for column in columns(X)]


def test_transform_moves_with_the_joint_velocity(joint: Joint, seed: int):
    """Ẋ_J = −v_J × X_J, by a complex step: the test of any joint model (RBDA 2.45)."""
    q, v = state(joint, seed)
    X = joint.transform(stepped(q, joint.rate(q, v)))
    motion = joint.motion(q, v)
    close(slope(columns(X)), minus_cross(motion.v, motion.X))


@pytest.mark.parametrize("name", quick(ZOO, FEW))
def test_transform_moves_with_the_joint_velocity_to_forty_digits(name: str):
    """The same by central differences at a hundred digits.

    The axes of a joint are floats, so on a skew axis E is a rotation only to their rounding, and the law holds to that.
    """
    joint = ZOO[name]
    with mp.workdps(100):
        q, v = (Vector(map(mp.mpf, x)) for x in state(joint, 3))
        q, v = joint.normalized(q, v)
        h = mp.mpf(10) ** -25
        ahead, behind = (joint.transform(q + joint.rate(q, v) * s) for s in (h, -h))
        motion = joint.motion(q, v)
        E = motion.X.E
        skewness = max(abs(sum(E[i][k] * E[j][k] for k in range(3)) - (i == j)) for i in range(3) for j in range(3))
        gaps = [
            (a - b) / (2 * h) - c
            for A, B, C in zip(columns(ahead), columns(behind), minus_cross(motion.v, motion.X), strict=True)
            for a, b, c in zip(A.components, B.components, C.components, strict=True)
        ]
        assert max(map(abs, gaps)) <= max(mp.mpf(10) ** -40, 100 * skewness)
        assert skewness < 1e-14


def test_bias_is_the_rate_of_the_velocity(joint: Joint, seed: int):
    """c_J = v̊_J at constant v: the ring derivative is that of the components (RBDA 3.39-3.42)."""
    q, v = state(joint, seed)
    moved = joint.motion(stepped(q, joint.rate(q, v)), v)
    close(slope(moved.v), joint.motion(q, v).c)


def test_subspace_rate_is_the_rate_of_each_column(joint: Joint, seed: int):
    q, v = state(joint, seed)
    moved = joint.subspace(stepped(q, joint.rate(q, v)))
    close(slope(moved), joint.subspace_rate(q, v))


def test_subspace_rate_by_dual_numbers(joint: Joint):
    q, v = state(joint, 4)
    moved = joint.subspace(Vector(Dual(x, dx) for x, dx in zip(q, joint.rate(q, v), strict=True)))
    derivatives = [getattr(x, "derivative", 0.0) for column in moved for x in column.components]
    close(derivatives, joint.subspace_rate(q, v))


def test_closed_forms_agree_with_exact_differentiation(joint: Joint, seed: int):
    """What a joint overrides is what `Joint` would have derived from its transform alone."""
    q, v = state(joint, seed)
    close(joint.subspace(q), Joint.subspace(joint, q))
    close(joint.subspace_rate(q, v), Joint.subspace_rate(joint, q, v))
    close(joint.motion(q, v), Joint.motion(joint, q, v))


def test_motion_is_transform_subspace_and_their_products(joint: Joint, seed: int):
    q, v = state(joint, seed)
    X, S, vJ, cJ = joint.motion(q, v)
    close(X, joint.transform(q), 1e-15)
    close(S, joint.subspace(q), 1e-15)
    close(vJ, S @ v)
    close(cJ, joint.subspace_rate(q, v) @ v)
    assert isinstance(S, Subspace)
    assert S.vector is Motion
    assert len(S) == joint.nv == len(v)
    assert len(q) == joint.nq


def test_transform_is_a_rotation_and_a_shift(joint: Joint, seed: int):
    q, _ = state(joint, seed)
    E = numbers(joint.transform(q).E).reshape(3, 3)
    np.testing.assert_allclose(E @ E.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(E) == pytest.approx(1.0)


def test_resting_frames_coincide_where_a_joint_can():
    """F_s = F_p at the neutral position, "where possible": not on a spline, nor for a function that says otherwise."""
    elsewhere = ("spline", "function")
    for name, joint in ZOO.items():
        if not any(word in name for word in elsewhere):
            close(joint.transform(joint.neutral()), Transform(), 0.0)
