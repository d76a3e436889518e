"""Rotations and rigid motions as arrays: exponentials, logarithms and conversions (RBDA 2.8, 4.5; notes 1.1).

A rotation matrix R has the axes of the turned frame as its columns: R p are the coordinates before the turn of what has
the coordinates p after it. Quaternions are (w, x, y, z), twists (ω, v), and poses are homogeneous matrices, as those of
`kn.pose`. Inside a kernel the same functions take and give vectors and matrices of scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.arrays.base import must_end_in
from knuckle.public_names import public_in
from knuckle.scalar import is_inside
from knuckle.spatial import Matrix, Motion, Transform, Vector, lie, rotation
from knuckle.spatial.three import Mat3, transpose

Array: TypeAlias = NDArray[Any]

ORTHOGONAL = 1e-4
"""How far RᵀR of a rotation matrix may be from 1."""


@public_in("lie_groups")
def exp_so3(phi: ArrayLike) -> Array:
    """R (..., 3, 3) of the rotation vector φ (..., 3): the matrix exponential of φ×, exact through zero."""
    return _applied("phi", phi, (3,), lambda x: transpose(rotation.exp((x[0], x[1], x[2]))), (3, 3))


@public_in("lie_groups")
def log_so3(R: ArrayLike) -> Array:
    """The rotation vector φ (..., 3) of R (..., 3, 3), no longer than π: exp_so3(log_so3(R)) = R."""
    return _applied("R", _rotations("R", R), (3, 3), lambda x: rotation.log(_turned(x)), (3,))


@public_in("lie_groups")
def exp_se3(d: ArrayLike) -> Array:
    """The pose T (..., 4, 4) after the twist d = (ω, v) (..., 6), in body coordinates, for a unit of time."""
    return _applied("d", d, (6,), lambda x: _pose(lie.exp(Motion.of(tuple(x)))), (4, 4))


@public_in("lie_groups")
def log_se3(T: ArrayLike) -> Array:
    """The twist (ω, v) (..., 6) that leads to the pose T (..., 4, 4) in a unit of time: exp_se3(log_se3(T)) = T."""

    def twist(x: Sequence[Any]) -> Any:
        rows = [x[4 * k : 4 * k + 4] for k in range(3)]
        R = tuple(value for row in rows for value in row[:3])
        return lie.log(Transform(_turned(R), (rows[0][3], rows[1][3], rows[2][3]))).components

    return _applied("T", _poses("T", T), (4, 4), twist, (6,))


@public_in("lie_groups")
def quaternion_to_matrix(p: ArrayLike) -> Array:
    """R (..., 3, 3) of a quaternion (..., 4), which need not have length 1."""
    return _applied("p", _quaternions("p", p), (4,), lambda x: transpose(rotation.from_quaternion(_four(x))), (3, 3))


@public_in("lie_groups")
def matrix_to_quaternion(R: ArrayLike) -> Array:
    """A quaternion (..., 4) of length 1 of R (..., 3, 3); p and −p are the same rotation, and one of them is given."""
    return _applied("R", _rotations("R", R), (3, 3), lambda x: rotation.to_quaternion(_turned(x)), (4,))


@public_in("lie_groups")
def exp_quaternion(phi: ArrayLike) -> Array:
    """The quaternion (..., 4) of a rotation vector (..., 3)."""
    return _applied("phi", phi, (3,), lambda x: rotation.quaternion_exp((x[0], x[1], x[2])), (4,))


@public_in("lie_groups")
def log_quaternion(p: ArrayLike) -> Array:
    """The rotation vector (..., 3) of a quaternion (..., 4), no longer than π: the shorter way."""

    def vector(x: Sequence[Any]) -> Any:
        return rotation.quaternion_log(rotation.normalized(_four(x)))

    return _applied("p", _quaternions("p", p), (4,), vector, (3,))


@public_in("lie_groups")
def multiply_quaternions(p: ArrayLike, q: ArrayLike) -> Array:
    """The product p q (..., 4): turn by p, then by q in the turned frame. Batch axes broadcast."""
    if is_inside():
        both = *_entries(p), *_entries(q)
    else:
        a, b = _array("p", p, (4,)), _array("q", q, (4,))
        both = np.concatenate(np.broadcast_arrays(a, b), axis=-1)
    return _applied("p and q", both, (8,), lambda x: rotation.multiply(_four(x[:4]), _four(x[4:])), (4,))


@public_in("lie_groups")
def rpy_to_matrix(rpy: ArrayLike) -> Array:
    """R (..., 3, 3) of roll, pitch and yaw (..., 3) as URDF has them: Rz(yaw) Ry(pitch) Rx(roll)."""
    return _applied("rpy", rpy, (3,), lambda x: transpose(rotation.from_rpy(x[0], x[1], x[2])), (3, 3))


@public_in("lie_groups")
def matrix_to_rpy(R: ArrayLike) -> Array:
    """Roll, pitch and yaw (..., 3) of R (..., 3, 3); at a pitch of ±90° the yaw is 0."""
    return _applied("R", _rotations("R", R), (3, 3), lambda x: rotation.to_rpy(_turned(x)), (3,))


# texts


def _four(x: Sequence[Any]) -> rotation.Quaternion:
    return x[0], x[1], x[2], x[3]


def _turned(x: Sequence[Any]) -> Mat3:
    """E = Rᵀ of the nine entries of R, row by row."""
    return (x[0], x[3], x[6]), (x[1], x[4], x[7]), (x[2], x[5], x[8])


def _pose(X: Transform) -> tuple[tuple[Any, ...], ...]:
    rows = tuple((*row, r) for row, r in zip(transpose(X.E), X.r, strict=True))
    return *rows, (0.0, 0.0, 0.0, 1.0)


# arrays


def _applied(
    name: str, value: Any, shape: tuple[int, ...], text: Callable[[Sequence[Any]], Any], result: tuple[int, ...]
) -> Any:
    """A text over scalars on the last axes of an array, or inside a kernel on a vector or matrix."""
    if is_inside():
        found = text(_entries(value))
        return Matrix(found, result[-1]) if len(result) == 2 else Vector(found)
    array = _array(name, value, shape)
    batch = array.shape[: array.ndim - len(shape)]
    flat = np.moveaxis(array.reshape(*batch, -1), -1, 0)
    found = text(list(flat))
    scalars = [x for row in found for x in row] if len(result) == 2 else list(found)
    out = np.empty((*batch, len(scalars)), array.dtype)
    for k, x in enumerate(scalars):
        out[..., k] = float(x) if not isinstance(x, np.ndarray) and not np.ndim(x) else x
    return out.reshape(*batch, *result)


def _entries(value: Any) -> list[Any]:
    if isinstance(value, Matrix):
        return [x for row in value.rows for x in row]
    return [x for row in value for x in (row if isinstance(row, (tuple, list, Vector)) else (row,))]


def _array(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} holds {array.dtype}, and must hold real numbers")
    must_end_in(name, array.shape, shape)
    return array if array.dtype == np.float32 else array.astype(float, copy=False)


def _rotations(name: str, value: Any) -> Any:
    """Rotation matrices, or an error for others. NaN passes."""
    if is_inside():
        return value
    R = _array(name, value, (3, 3))
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2), initial=0.0)
    if np.any(off > ORTHOGONAL):
        raise ValueError(f"{name} is no rotation matrix: RᵀR is off 1 by {np.nanmax(off):.3g}")
    if np.any(np.linalg.det(R) < 0):
        raise ValueError(f"{name} is a reflection (its determinant is −1), and no rotation matrix")
    return R


def _poses(name: str, value: Any) -> Any:
    if is_inside():
        return value
    T = _array(name, value, (4, 4))
    _rotations(f"the rotation of {name}", T[..., :3, :3])
    if np.any(np.abs(T[..., 3, :] - (0, 0, 0, 1)) > ORTHOGONAL):
        raise ValueError(f"{name} is no pose: its last row is (0, 0, 0, 1) in homogeneous matrices")
    return T


def _quaternions(name: str, value: Any) -> Any:
    if is_inside():
        return value
    p = _array(name, value, (4,))
    if not p.any(axis=-1).all():
        raise ValueError(f"{name} is a quaternion (w, x, y, z), and all of it is 0: no rotation")
    return p
