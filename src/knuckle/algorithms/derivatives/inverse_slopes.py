"""The derivatives of inverse dynamics, in body coordinates (Singh, Russell, Wensing 2022).

Variable k of joint j moves all bodies beyond it like one, by the column s of S_j. Of each of these bodies the velocity
changes by Ψ̇ and the acceleration by Ψ̈ + Ψ̇ × v_i, the same Ψ̇ and Ψ̈ for all; so does its force, by I_i Ψ̈ + 2B_i Ψ̇.
Composite bodies have the sums of I and of 2B, and the recursion has the shape of the composite-rigid-body algorithm.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.spatial import Matrix, Subspace, Vector

Blocks = dict[tuple[int, int], Matrix]
"""A matrix over the tree's joints, by its blocks that are not zero."""


class BodySlopes(NamedTuple):
    """What the outward loop leaves: transforms, S, ∂S/∂q; forces, inertias and 2B of the bodies; changes of motion.

    Attributes:
        P: Ψ̇ = ∂v_i/∂q_i.
        R: Ψ̈ = ∂a_i/∂q_i − Ψ̇ × v_i.
        W: ∂a_i/∂v_i − S × v_i.
    """

    X: dict[int, Any]
    S: dict[int, Subspace]
    dS: dict[int, list[Subspace]]
    F: dict[int, Any]
    I: dict[int, Any]
    B: dict[int, Any]
    P: dict[int, Subspace]
    R: dict[int, Subspace]
    W: dict[int, Subspace]

    def without_accelerations(self, joints: Iterable[int], motion: Any) -> BodySlopes:
        """The same with Ψ̈ and W zero at some joints."""
        still = {i: Subspace.zero(motion, len(self.S[i])) for i in joints}
        return self._replace(R={**self.R, **still}, W={**self.W, **still})


class InverseSlopes(NamedTuple):
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a = H by their blocks."""

    q: Blocks
    v: Blocks
    a: Blocks


def body_slopes(model: Model, q: PerJoint, v: PerJoint, a: PerJoint, f_ext: PerBody) -> BodySlopes:
    """The outward loop of RNEA (RBDA 5.14-5.16), and how its motions change along the variables of each joint."""
    V, A = {ROOT: model.zero_motion}, {ROOT: -model.g}
    F, I = {ROOT: model.zero_force}, {ROOT: model.algebra.Inertia.zero()}
    X, S, dS, P, R, W, B = {}, {}, {}, {}, {}, {}, {ROOT: model.algebra.BodyCoriolis.zero()}
    for i, p, joint in model.outward():
        XJ, S[i], vJ, cJ = joint.motion(q[i], v[i])
        dS[i], dv, da, dc = joint.slopes(q[i], v[i], a[i])
        X[i] = XJ @ model.X_tree[i]
        Vp, Ap = X[i] @ V[p], X[i] @ A[p]
        V[i] = Vp + vJ
        A[i] = Ap + S[i] @ a[i] + cJ + V[i].cross(vJ)
        P[i] = Vp.cross(S[i]) + dv
        R[i] = Ap.cross(S[i]) + Vp.cross(P[i]) + V[i].cross(dv) + da
        W[i] = (V[i] + Vp).cross(S[i]) + dc
        I[i], B[i] = model.I[i], model.I[i].coriolis(V[i])
        F[i] = model.I[i] @ A[i] + V[i].cross(B[i].momentum) - f_ext[i]
    return BodySlopes(X, S, dS, F, I, B, P, R, W)


def joint_forces(model: Model, bodies: BodySlopes, a: PerJoint) -> tuple[dict[int, Vector], dict[int, Any]]:
    """The inward loop of RNEA (RBDA 5.19, 5.20): τ, and the forces on composite bodies."""
    F, tau = dict(bodies.F), {}
    for i, p, _ in model.inward():
        tau[i] = bodies.S[i].T @ F[i] + model.rotor[i] * a[i]
        F[p] = F[p] + bodies.X[i].T @ F[i]
    return tau, F


def joint_slopes(model: Model, bodies: BodySlopes, F: PerBody) -> InverseSlopes:
    """What moves composite bodies, under forces F, changes at the joints on the way to the base and at their own."""
    X, S, P, R, W = bodies.X, bodies.S, bodies.P, bodies.R, bodies.W
    I, B = dict(bodies.I), dict(bodies.B)
    dq, dv, H = {}, {}, {}
    for i, p, _ in model.inward():
        by_a, by_v, by_q = I[i] @ S[i], I[i] @ W[i] + B[i] @ S[i], I[i] @ R[i] + B[i] @ P[i]
        H[i, i] = S[i].T @ by_a + Matrix.diagonal(model.rotor[i])
        dv[i, i] = S[i].T @ by_v
        dq[i, i] = S[i].T @ by_q + Matrix.columns((dS.T @ F[i] for dS in bodies.dS[i]), len(S[i]))
        by_q, turned = by_q + S[i].cross(F[i]), B[i].T @ S[i]
        j = i
        while model.parents[j] != ROOT:
            by_a, by_v, by_q, turned = X[j].T @ by_a, X[j].T @ by_v, X[j].T @ by_q, X[j].T @ turned
            j = model.parents[j]
            H[j, i], dv[j, i], dq[j, i] = S[j].T @ by_a, S[j].T @ by_v, S[j].T @ by_q
            H[i, j] = H[j, i].T
            dv[i, j] = by_a.T @ W[j] + turned.T @ S[j]
            dq[i, j] = by_a.T @ R[j] + turned.T @ P[j]
        I[p] = I[p] + X[i].T @ I[i] @ X[i]
        B[p] = B[p] + X[i].T @ B[i] @ X[i]
    return InverseSlopes(dq, dv, H)


def with_blocks(blocks: Blocks, more: Blocks) -> Blocks:
    """The sum of two matrices, of which the second has no blocks that the first has not."""
    return {key: block + more[key] if key in more else block for key, block in blocks.items()}
