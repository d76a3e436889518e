"""The slopes of the Lagrangian L = T − U: momenta and generalised forces, in one pass out and one in."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.spatial import Matrix, Vector


def slopes(model: Model, q: PerJoint, v: PerJoint, f_ext: PerBody) -> tuple[dict[int, Vector], dict[int, Vector]]:
    """∂T/∂v, and ∂T/∂q + the force of gravity and of `f_ext`, by joint, of the bodies: no rotors, no joint springs.

    A joint that moves with S δ changes V = X V_p + S v of all bodies outward of it by (X V_p) × S δ + S̊(δ) v. What
    that does to T is the product with the momentum h of these bodies together.
    """
    V, G, h, F = {ROOT: model.zero_motion}, {ROOT: model.g}, {ROOT: model.zero_force}, {ROOT: model.zero_force}
    X, S, W, p, s = {}, {}, {}, {}, {}
    for i, k, joint in model.outward():
        XJ, S[i], vJ, _ = joint.motion(q[i], v[i])
        X[i] = XJ @ model.X_tree[i]
        W[i] = X[i] @ V[k]
        V[i] = W[i] + vJ
        G[i] = X[i] @ G[k]
        h[i] = model.I[i] @ V[i]
        F[i] = model.I[i] @ G[i] + f_ext[i]
    for i, k, joint in model.inward():
        p[i] = S[i].T @ h[i]
        s[i] = W[i].cross(S[i]).T @ h[i] + _bending(joint, q[i], v[i], h[i]) + S[i].T @ F[i]
        h[k] = h[k] + X[i].T @ h[i]
        F[k] = F[k] + X[i].T @ F[i]
    return p, s


def _bending(joint: Any, q: Vector, v: Vector, h: Any) -> Vector:
    """h · S̊(eₖ) v for every k: nothing where S is constant."""
    units = Matrix.identity(joint.nv).rows
    return Vector(h.dot(joint.subspace_rate(q, Vector(e)) @ v) for e in units)
