"""Rotations and rigid motions as arrays: exponentials, logarithms and conversions, as `kn.lie_groups`."""

from .lie_arrays import (
    exp_quaternion,
    exp_se3,
    exp_so3,
    log_quaternion,
    log_se3,
    log_so3,
    matrix_to_quaternion,
    matrix_to_rpy,
    multiply_quaternions,
    quaternion_to_matrix,
    rpy_to_matrix,
)

__all__ = [
    "exp_quaternion",
    "exp_se3",
    "exp_so3",
    "log_quaternion",
    "log_se3",
    "log_so3",
    "matrix_to_quaternion",
    "matrix_to_rpy",
    "multiply_quaternions",
    "quaternion_to_matrix",
    "rpy_to_matrix",
]
