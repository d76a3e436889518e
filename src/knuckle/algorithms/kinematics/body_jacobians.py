"""The Jacobian of all bodies and its rate, put together from the base outward (notes 2.1-2.3, algorithms 1 and 2)."""

from __future__ import annotations

from knuckle.algorithms.types import PerJoint
from knuckle.model import ROOT, Model
from knuckle.spatial import Subspace

Blocks = dict[int, dict[int, Subspace]]
"""For each body the columns of the joints that move it, in its own coordinates."""


def body_jacobians(model: Model, q: PerJoint) -> Blocks:
    """J_i = ⁱX_λ J_λ, and S_i for its own joint (notes 2.6, algorithm 1)."""
    J: Blocks = {ROOT: {}}
    for i, p, joint in model.outward():
        X = joint.transform(q[i]) @ model.X_tree[i]
        J[i] = {j: X @ S for j, S in J[p].items()} | {i: joint.subspace(q[i])}
    return J


def body_jacobian_rates(model: Model, q: PerJoint, v: PerJoint) -> tuple[Blocks, Blocks]:
    """(J, J̇): J̇_i = ⁱX_λ J̇_λ − v_J × ⁱX_λ J_λ, and S̊_i for its own joint (notes 2.13, algorithm 2)."""
    J: Blocks = {ROOT: {}}
    R: Blocks = {ROOT: {}}
    for i, p, joint in model.outward():
        XJ, S, vJ, _ = joint.motion(q[i], v[i])
        X = XJ @ model.X_tree[i]
        J[i] = {j: X @ column for j, column in J[p].items()} | {i: S}
        R[i] = {j: X @ R[p][j] - vJ.cross(J[i][j]) for j in J[p]} | {i: joint.subspace_rate(q[i], v[i])}
    return J, R
