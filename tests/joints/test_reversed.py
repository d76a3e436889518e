"""Polarity reversal (RBDA table 4.2): the same joint seen from the other body."""

import numpy as np
import pytest

from knuckle.joints import (
    Composite,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    Planar,
    PlanarLocal,
    Prismatic,
    RackAndPinion,
    Reversed,
    Revolute,
    SplineCurve,
    Universal,
)
from knuckle.spatial import Force, Vector

from .zoo import SKEW, ZOO, close, control_frames, matrix, state


def test_reversed_twice_is_the_joint(joint: Joint, seed: int):
    twice = joint.reversed().reversed()
    assert twice == joint or joint == Reversed(Revolute(SKEW))  # which comes back without its wrapper
    q, v = state(joint, seed)
    close(twice.motion(q, v), joint.motion(q, v), 1e-15)


def test_reversed_transform_is_the_inverse(joint: Joint, seed: int):
    q, _ = state(joint, seed)
    X, R = joint.transform(q), joint.reversed().transform(q)
    close(R, X.inverse())
    close((R @ X).E, np.eye(3).ravel())
    close((R @ X).r, np.zeros(3))


def test_reversed_motion_is_minus_the_motion_from_the_other_side(joint: Joint, seed: int):
    """S, v_J and c_J become −ᵖX_s S, −ᵖX_s v_J and −ᵖX_s c_J, in the same variables."""
    q, v = state(joint, seed)
    X, S, vJ, cJ = joint.motion(q, v)
    other = joint.reversed().motion(q, v)
    close(other.S, [-(X.inv @ s) for s in S])
    close(other.v, -(X.inv @ vJ))
    close(other.c, -(X.inv @ cJ))
    close(joint.reversed().rate(q, v), joint.rate(q, v))


def test_power_does_not_depend_on_the_side(joint: Joint, seed: int):
    """A force f from predecessor to successor is −f from successor to predecessor: Sᵀf and f·v_J stay."""
    q, v = state(joint, seed)
    f = Force.of(map(float, np.random.default_rng(seed).standard_normal(6)))
    X, S, vJ, _ = joint.motion(q, v)
    _, R, vR, _ = joint.reversed().motion(q, v)
    f_back = -(X.inv @ f)
    close(R.T @ f_back, S.T @ f)
    close([vR.dot(f_back)], [vJ.dot(f)])


def test_reversed_forces_span_the_same_forces_from_the_other_side(joint: Joint, seed: int):
    q, _ = state(joint, seed)
    X, other = joint.transform(q), joint.reversed()
    carried = matrix(joint.constraints(q).brought_back(X))
    assert np.linalg.matrix_rank(np.hstack([carried, matrix(other.constraints(q))]), tol=1e-9) == 6 - joint.nv
    size = max(1.0, float(np.max(np.abs(matrix(other.actuation(q))), initial=0.0)))
    close(other.actuation(q).T @ other.subspace(q), np.eye(joint.nv).ravel(), 1e-12 * size)


def test_reversed_coordinates_are_those_of_the_joint(joint: Joint, seed: int):
    q, v = state(joint, seed)
    other = joint.reversed()
    assert (other.q_units, other.v_units) == (joint.q_units, joint.v_units)
    close(other.integrate(q, v), joint.integrate(q, v))
    close(other.difference(q, joint.integrate(q, v * 0.1)), v * 0.1)
    close(other.neutral(), joint.neutral())


def test_rack_and_pinion_from_the_pinion():
    """ᵖv_J = (0, 0, 1, r, −r q, 0) q̇ (example 4.6), and the reversed joint moves with minus that."""
    joint, q, v = RackAndPinion(0.4).reversed(), 0.7, 1.3
    close(joint.motion(Vector([q]), Vector([v])).v, np.array([0, 0, -1, -0.4, 0.4 * q, 0]) * v)
    close(joint.motion(Vector([q]), Vector([v])).c, -np.array([0, 0, 0, 0, -0.4, 0]) * v * v)


@pytest.mark.parametrize("joint", [Revolute(SKEW), Prismatic(SKEW), Helical(SKEW, 0.2), Cylindrical(SKEW), Fixed()])
def test_joints_on_an_axis_reverse_by_their_axis(joint: Joint, seed: int):
    """No wrapper is needed, and the result is what the wrapper would give."""
    q, v = state(joint, seed)
    other, wrapped = joint.reversed(), Reversed(joint)
    assert type(other) is type(joint)
    close(other.motion(q, v), wrapped.motion(q, v))


@pytest.mark.parametrize("normal", ["z", SKEW])
def test_planar_joints_are_each_others_reverse(normal: object, seed: int):
    """Translations in the successor are minus the translations of the reversed joint in its predecessor."""
    q, _ = state(Planar(normal), seed)  # type: ignore[arg-type]
    close(PlanarLocal(normal).transform(-q), Planar(normal).reversed().transform(q))  # type: ignore[arg-type]


def test_symmetrical_joints_allow_the_same_motions_from_both_sides(joint: Joint, seed: int):
    """A symmetrical joint reaches the inverse of every place it reaches; the others miss some (RBDA 4.1.4)."""
    q, _ = state(joint, seed)
    back = joint.transform(q).inverse()
    if joint.symmetrical:
        close(joint.transform(joint.locate(back)), back)


@pytest.mark.parametrize(
    "joint",
    [RackAndPinion(0.4), Universal(), SplineCurve(control_frames(4)), Composite((Revolute("x"), Prismatic("y")))],
)
def test_asymmetrical_joints_miss_the_way_back(joint: Joint):
    assert not joint.symmetrical
    assert not joint.reversed().symmetrical
    back = joint.transform(state(joint, 1)[0]).inverse()
    delta, _ = joint.loop(back)
    assert max(map(abs, delta)) > 1e-3


def test_which_joints_are_symmetrical():
    symmetrical = {name for name, joint in ZOO.items() if joint.symmetrical}
    assert {"revolute skew", "helical z", "planar z", "spherical", "euler zxz", "free", "reversed free"} <= symmetrical
    assert not symmetrical & {"rack z", "universal xy", "euler skew", "spline curve", "composite RP", "own"}
    assert Free().reversed() != Free()
