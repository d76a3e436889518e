"""Rotations and rigid motions as arrays: against SciPy, their own laws, and inside kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import knuckle as kn
from knuckle import lie_groups as lie

rng = np.random.default_rng(0)
PHI = rng.normal(size=(3, 4, 3)) * np.array([1e-9, 1e-3, 0.3, 0.9])[:, None]
R = Rotation.from_rotvec(PHI.reshape(-1, 3)).as_matrix().reshape(3, 4, 3, 3)
TWISTS = rng.normal(size=(5, 6))


def hat(d: Any) -> Any:
    x, y, z = d[:3]
    return np.block([[np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), d[3:, None]], [np.zeros((1, 4))]])


def test_so3_is_scipys():
    assert lie.exp_so3(PHI) == pytest.approx(R, abs=1e-15)
    assert lie.log_so3(R) == pytest.approx(PHI, abs=1e-14)
    assert lie.log_so3(lie.exp_so3([np.pi, 0, 0])) == pytest.approx([np.pi, 0, 0])


def test_se3_is_the_matrix_exponential():
    T = lie.exp_se3(TWISTS)
    assert pytest.approx(np.array([expm(hat(d)) for d in TWISTS]), abs=1e-13) == T
    assert lie.log_se3(T) == pytest.approx(TWISTS, abs=1e-13)


def test_quaternions_and_matrices_are_one_another():
    p = lie.matrix_to_quaternion(R)
    assert np.linalg.norm(p, axis=-1) == pytest.approx(1.0)
    assert lie.quaternion_to_matrix(3.0 * p) == pytest.approx(R, abs=1e-14)
    assert lie.log_quaternion(lie.exp_quaternion(PHI)) == pytest.approx(PHI, abs=1e-14)
    product = lie.multiply_quaternions(p, p[0, 0])
    assert lie.quaternion_to_matrix(product) == pytest.approx(R @ R[0, 0], abs=1e-14)


def test_roll_pitch_and_yaw_are_urdfs():
    angles = rng.uniform(-1.5, 1.5, size=(6, 3))
    assert lie.rpy_to_matrix(angles) == pytest.approx(Rotation.from_euler("xyz", angles).as_matrix(), abs=1e-14)
    assert lie.matrix_to_rpy(lie.rpy_to_matrix(angles)) == pytest.approx(angles, abs=1e-13)


def test_the_pose_of_a_frame_is_such_a_pose():
    arm = kn.robots.load("arm")
    T = kn.pose(arm, rng.normal(size=(2, 7)), "tool0")
    assert lie.exp_se3(lie.log_se3(T)) == pytest.approx(T, abs=1e-13)


def test_precision_follows_the_array_and_kernels_take_them():
    assert lie.exp_so3(np.float32([1, 2, 3])).dtype == np.float32

    pendulum = kn.robots.load("pendulum")

    @kn.kernel
    def alone(model: kn.Model, q: Any) -> Any:
        return lie.exp_so3([q[0], 0.5 * q[0], 0.0 * q[0]])

    assert alone(pendulum, np.array([0.3])) == pytest.approx(lie.exp_so3([0.3, 0.15, 0.0]), abs=1e-15)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: lie.log_so3(2 * np.eye(3)), "R is no rotation matrix: RᵀR is off 1 by 3"),
        (lambda: lie.matrix_to_quaternion(-np.eye(3)), "R is a reflection"),
        (lambda: lie.exp_so3(np.zeros(4)), "phi has shape"),
        (lambda: lie.quaternion_to_matrix([0, 0, 0, 0]), "no rotation"),
        (lambda: lie.log_se3(np.ones((4, 4))), "the rotation of T"),
    ],
)
def test_what_is_no_rotation_is_said(call: Any, complaint: str):
    with pytest.raises(ValueError, match=complaint):
        call()
