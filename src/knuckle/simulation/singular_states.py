"""Why a simulation cannot go on from a state: coordinates or a mass matrix that are singular there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.functions import mass_matrix
from knuckle.functions.loops.dense_constraints import spanning_tree
from knuckle.model import Model
from knuckle.spatial import Vector

Array = NDArray[Any]

DEPENDENT = 1e-6
"""Motions of a joint whose smallest singular value is this part of the largest are dependent."""
SINGULAR = 1e12
"""The condition from which a mass matrix, scaled to ones on its diagonal, is singular."""
LARGE = 1000
"""So many freedoms are too many to look at the eigenvalues of H."""


def singular_joints(model: Model, q: Array, least: float = DEPENDENT) -> list[str]:
    """The joints of several freedoms whose S loses a rank at q, or nearly (singular values below `least`)."""
    names: list[str] = []
    for joint, part in zip(model.joints, model.q_slices, strict=True):
        if joint.type.nv < 2:
            continue
        S = joint.type.subspace(Vector(q[part].tolist())).matrix
        sizes = np.linalg.svd(np.array([[float(x) for x in row] for row in S.rows]), compute_uv=False)
        if not sizes[-1] > least * sizes[0]:
            names.append(joint.name)
    return names


def singularity(model: Model, t: float, q: Array) -> str:
    """What is singular at q, as the end of a sentence; nothing, if nothing is."""
    if not np.isfinite(q).all():
        return ""
    now = model.at_time(t)
    if joints := singular_joints(now, q):
        names = " and ".join(map(repr, joints))
        return (
            f"; the motions that the coordinates of joint {names} stand for are dependent here: no dynamics holds in "
            "such a place (kn.joints.Spherical turns without one)"
        )
    if not 0 < model.nv <= LARGE:
        return ""
    H = mass_matrix(spanning_tree(now), q)
    size = np.sqrt(np.abs(np.diag(H)))
    if not np.isfinite(H).all() or not size.all() or np.linalg.cond(H / np.outer(size, size)) > SINGULAR:
        return "; the mass matrix is singular here: some motion meets no inertia, and its acceleration is undefined"
    return ""
