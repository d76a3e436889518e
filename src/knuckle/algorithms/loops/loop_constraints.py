"""Joints that close loops: K, k and δ, the constraints on the variables of the tree (RBDA 8.2 to 8.7, table 8.4).

Everything is relative to the nearest common ancestor of a loop's two bodies: K v and K a + … depend on the joints
around the loop only, and a mechanism that travels far loses no digits here (RBDA 10.1).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from knuckle.algorithms.types import PerJoint
from knuckle.model import LoopJoint, Model
from knuckle.spatial import Matrix, Subspace, Vector

from .constraint_rank import length, openness, reach, sizes_along, sizes_of


class LoopGeometry(NamedTuple):
    """A loop joint: ˢX_ᵖ between its frames, how far it is from closing, and its constraint and active forces."""

    X: Any
    delta: Vector
    T: Subspace
    T_a: Subspace
    q: Vector


def closure(model: Model, q: PerJoint, loop: LoopJoint) -> LoopGeometry:
    """ˢX_ᵖ (RBDA 8.24), δ and T (8.25-8.27, table 8.1), and the loop joint's own position."""
    Xs, Xp = loop.X_successor, loop.X_predecessor
    ours, theirs = _around(model, loop)
    for j in ours:
        Xs = Xs @ model.joints[j].type.transform(q[j]) @ model.X_tree[j]
    for j in theirs:
        Xp = Xp @ model.joints[j].type.transform(q[j]) @ model.X_tree[j]
    X = Xs @ Xp.inverse()
    delta, T = loop.type.loop(X)
    ql = loop.type.locate(X)
    return LoopGeometry(X, delta, T, loop.type.actuation(ql), ql)


def loop_jacobian(model: Model, q: PerJoint, loop: LoopJoint, X: Any, T: Subspace) -> dict[int, Matrix]:
    """Tᵀ(J_s − J_p) by its nonzero blocks, for forces T in the successor's frame (RBDA 8.17-8.20)."""
    K: dict[int, Matrix] = {}
    ours, theirs = _around(model, loop)
    F = loop.X_successor.T @ T
    for j in ours:
        K[j] = F.T @ model.joints[j].type.subspace(q[j])
        F = (model.joints[j].type.transform(q[j]) @ model.X_tree[j]).T @ F
    F = loop.X_predecessor.T @ (X.T @ T)
    for j in theirs:
        K[j] = -(F.T @ model.joints[j].type.subspace(q[j]))
        F = (model.joints[j].type.transform(q[j]) @ model.X_tree[j]).T @ F
    return K


def loop_sizes(
    model: Model, q: PerJoint, loop: LoopJoint, at: LoopGeometry, T: Subspace
) -> tuple[dict[int, Matrix], Vector]:
    """The sizes of the terms of `loop_jacobian`, by the same blocks; and for its own T, how far open each row is."""
    ours, theirs = _around(model, loop)
    arm_s = length(loop.X_successor)
    moved = loop.type.transform(at.q)
    arm_p = length(loop.X_predecessor) + length(moved)
    F = sizes_of(T, moved)
    blocks = {
        **sizes_along(model, q, ours, [(n + arm_s * f, f) for n, f in F]),
        **sizes_along(model, q, theirs, [(n + arm_p * f, f) for n, f in F]),
    }
    around = arm_s + arm_p + reach(model, q, ours) + reach(model, q, theirs)
    return blocks, openness(at.delta, sizes_of(at.T, moved), around)


class LoopMotion(NamedTuple):
    """How a loop joint moves: Tᵀ(v_J − σ), which should be zero, and k (RBDA 8.15)."""

    error_rate: Vector
    k: Vector


def loop_motion(model: Model, q: PerJoint, v: PerJoint, g: PerJoint, loop: LoopJoint, at: LoopGeometry) -> LoopMotion:
    """k with K a = k, for any joint: T of which may change, and which may move by a law of time.

    The loop joint has v_J = S v_l + σ and v̇_J = S a_l + c_J + v_s × v_J, and Tᵀ takes S away:
    k = Tᵀ(c_J + v_s × v_J − a_s + a_p) for the accelerations of the bodies without a. Joints that follow others have
    the acceleration g then (RBDA 8.42).
    """
    ours, theirs = _around(model, loop)
    Vs, As = (loop.X_successor @ x for x in _bodies(model, q, v, g, ours))
    Vp, Ap = (at.X @ (loop.X_predecessor @ x) for x in _bodies(model, q, v, g, theirs))
    sigma = loop.type.motion(at.q, Vector.zero(loop.type.nv)).v
    own = loop.type.motion(at.q, at.T_a.T @ (Vs - Vp - sigma))
    return LoopMotion(at.T.T @ (Vs - Vp - sigma), at.T.T @ (own.c + Vs.cross(Vs - Vp) - As + Ap))


def corrected(k: Any, rate: Any, error: Any, time: float | None) -> Any:
    """k − 2α ė − β² e with α = β = 1/T: errors decay in the time T; k itself if none is given (RBDA 8.21-8.23)."""
    return k if time is None else k - (rate * (2 / time) + error * (1 / time**2))


def _around(model: Model, loop: LoopJoint) -> tuple[list[int], list[int]]:
    """The joints from the successor and from the predecessor up to where their ways to the base meet."""
    ours, theirs = model.ancestors(loop.successor), model.ancestors(loop.predecessor)
    shared = set(ours) & set(theirs)
    return [j for j in ours if j not in shared], [j for j in theirs if j not in shared]


def _bodies(model: Model, q: PerJoint, v: PerJoint, g: PerJoint, path: list[int]) -> tuple[Any, Any]:
    """Velocity and acceleration, without that of the variables, of the first body of a path that begins at rest."""
    V, A = model.zero_motion, model.zero_motion
    for j in reversed(path):
        XJ, S, vJ, cJ = model.joints[j].type.motion(q[j], v[j])
        X = XJ @ model.X_tree[j]
        V = X @ V + vJ
        A = X @ A + S @ g[j] + cJ + V.cross(vJ)
    return V, A
