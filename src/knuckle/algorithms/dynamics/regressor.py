"""τ as a linear function of the inertias: the regressor of recursive Newton-Euler (RBDA 9.7)."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.types import PerJoint
from knuckle.model import ROOT, Model
from knuckle.model.inertia_parameters import unit_inertias
from knuckle.spatial import Vector


def regressor(model: Model, q: PerJoint, v: PerJoint, a: PerJoint) -> list[dict[int, Vector]]:
    """Columns of Y, by joint: what each parameter of each body, alone and of unit size, asks of the joints.

    τ = Σ S_jᵀ (I_i a_i + v_i ×* I_i v_i) over the bodies i that joint j moves (RBDA table 5.1) is linear in I_i.
    """
    V, A = {ROOT: model.zero_motion}, {ROOT: -model.g}
    X, S, columns = {}, {}, []
    for i, p, joint in model.outward():
        XJ, S[i], vJ, cJ = joint.motion(q[i], v[i])
        X[i] = XJ @ model.X_tree[i]
        V[i] = X[i] @ V[p] + vJ
        A[i] = X[i] @ A[p] + S[i] @ a[i] + cJ + V[i].cross(vJ)
    for i in range(model.nb):
        for I in unit_inertias(model.algebra):
            F: Any = I @ A[i] + V[i].cross(I @ V[i])
            column = {j: Vector.zero(len(S[j])) for j in S}
            for j in model.ancestors(i):
                column[j] = S[j].T @ F
                F = X[j].T @ F
            columns.append(column)
    return columns
