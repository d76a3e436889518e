"""Where everything is: poses of the bodies, of shapes and of frames, as homogeneous 4x4 arrays, spatial and planar."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from knuckle.functions import body_poses
from knuckle.model import ROOT, Model

from .triangles import Array


def poses(model: Model, q: ArrayLike) -> Array:
    """The poses (..., 1 + nb, 4, 4) of the base and the bodies; body i is entry i + 1, the base entry 0."""
    moving = in_space(np.asarray(body_poses(model, np.asarray(q, float)), float)) if model.nb else None
    batch = np.shape(q)[:-1]
    base = np.broadcast_to(np.eye(4), (*batch, 1, 4, 4))
    return base.copy() if moving is None else np.concatenate([base, moving], axis=-3)


def in_space(T: Array) -> Array:
    """Planar poses (..., 3, 3) as poses (..., 4, 4) in the xy plane; spatial ones as they are."""
    if T.shape[-1] == 4:
        return T
    out = np.broadcast_to(np.eye(4), (*T.shape[:-2], 4, 4)).copy()
    out[..., :2, :2], out[..., :2, 3] = T[..., :2, :2], T[..., :2, 2]
    return out


def matrix(X: Any) -> Array:
    """The homogeneous matrix of the frame that a transform `X` leads to, spatial or planar."""
    return in_space(np.array([[float(x) for x in row] for row in X.homogeneous.rows]))


def frames(model: Model) -> tuple[tuple[str, int, Array], ...]:
    """(name, body, pose in the body) of the base, the bodies and the added frames."""
    own = [(body.name, i, np.eye(4)) for i, body in enumerate((model.base, *model.bodies), ROOT)]
    return (*own, *((frame.name, frame.body, matrix(frame.X)) for frame in model.frames))


def quaternions(R: Array) -> Array:
    """(w, x, y, z) of rotation matrices (..., 3, 3): the eigenvector of Bar-Itzhack's symmetric matrix K.

    Good at every angle, and for matrices that are rotations only up to rounding.
    """
    R = np.asarray(R, float)
    K = np.empty((*R.shape[:-2], 4, 4))
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (tuple(R[..., i, j] for j in range(3)) for i in range(3))
    K[..., 0, 0], K[..., 1, 1], K[..., 2, 2], K[..., 3, 3] = xx + yy + zz, xx - yy - zz, yy - xx - zz, zz - xx - yy
    for i, j, x in (
        (0, 1, zy - yz),
        (0, 2, xz - zx),
        (0, 3, yx - xy),
        (1, 2, xy + yx),
        (1, 3, xz + zx),
        (2, 3, yz + zy),
    ):
        K[..., i, j] = K[..., j, i] = x
    p = np.linalg.eigh(K)[1][..., -1]
    return np.where(p[..., :1] < 0, -p, p)


def upright(model: Model) -> Array:
    """The pose that turns the model's vertical, against gravity, to +z; none if there is no gravity."""
    g = np.array([float(x) for x in model.gravity])
    T = np.eye(4)
    length = np.linalg.norm(g)
    if length > 0:
        up, z = -g / length, np.array([0.0, 0.0, 1.0])
        axis, c = np.cross(up, z), float(up @ z)
        if c < -1 + 1e-12:
            T[:3, :3] = np.diag([1.0, -1.0, -1.0])
        else:
            x, y, w = axis
            K = np.array([[0, -w, y], [w, 0, -x], [-y, x, 0]])
            T[:3, :3] = np.eye(3) + K + K @ K / (1 + c)
    return T
