"""The whole mechanism in maximal coordinates (RBDA 3.65-3.74): an oracle for forward dynamics with any joints.

Six accelerations per body and one force per joint constraint, in base coordinates, all unknown at once:

    [I    P T] [ a ]   [P T_a τ − p        ]
    [TᵀPᵀ  0 ] [−λ ] = [Tᵀ(c_J + v_s × v_J)]

P has a column of blocks for each joint: 1 at the body it carries, −1 at the body that carries it. Dense matrices and
no recursion over forces or inertias; of the library only the joints are used, by X_J, v_J, c_J, T and T_a.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from knuckle.joints import Joint
from knuckle.model import ROOT, Model
from knuckle.spatial import Matrix, Vector

from .serial_chain import Array, numbers


@dataclass(frozen=True)
class MaximalSolution:
    """What equation 3.74 gives, in base coordinates."""

    a: Array
    """The rates of the velocity variables (nv,)."""
    bodies: Array
    """The spatial acceleration of each body (nb, 6), gravity included."""
    joints: Array
    """The force through each joint (nb, 6): active and constraint forces, without what a rotor takes."""


class JointInBase(NamedTuple):
    """One joint in base coordinates: X from base to successor, T, T_a and the velocity-product acceleration."""

    X: Array
    v: Array
    T: Array
    T_a: Array
    c: Array


def forward_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | None = None
) -> MaximalSolution:
    """The accelerations and joint forces of a tree under the joint forces `tau` and a wrench on each body.

    Damping, friction and springs of the joints are left out; gravity acts on each body as a force.
    """
    if model.loops or model.couplings or model.algebra.dimension != 6:
        raise ValueError(f"{model.name} has loops or couplings or is planar: this oracle is for trees in space")
    nb, nv = model.nb, model.nv
    joints = in_base(model, q, v)
    wrench = np.zeros((nb, 6)) if f_ext is None else np.asarray(f_ext, dtype=float)
    a_g = np.concatenate([np.zeros(3), model.gravity])
    mass, force = np.zeros((6 * nb, 6 * nb)), np.zeros(6 * nb)
    P = np.zeros((6 * nb, 6 * nb))
    for i, (parent, joint) in enumerate(zip(model.parents, joints, strict=True)):
        own = _rows(i)
        I = joint.X.T @ array(model.I[i].matrix) @ joint.X
        mass[own, own] = I
        force[own] = I @ a_g + joint.X.T @ wrench[i] + cross(joint.v).T @ (I @ joint.v)
        P[own, own] = np.eye(6)
        if parent != ROOT:
            P[_rows(parent), own] = -np.eye(6)
    T, T_a = _diagonal([joint.T for joint in joints]), _diagonal([joint.T_a for joint in joints])
    c = np.concatenate([joint.c for joint in joints]) if joints else np.zeros(0)
    rotors = np.diag(np.concatenate([numbers(rotor) for rotor in model.rotor])) if joints else np.zeros((0, 0))
    # a rotor takes ρ q̈ of the joint force, and q̈ = T_aᵀ(Pᵀa − c)
    geared = P @ T_a @ rotors @ T_a.T
    K = T.T @ P.T
    system = np.block([[mass + geared @ P.T, K.T], [K, np.zeros((len(K), len(K)))]])
    given = np.concatenate([force + P @ (T_a @ np.asarray(tau, dtype=float)) + geared @ c, T.T @ c])
    x = np.linalg.solve(system, given)
    a, lam = x[: 6 * nb], -x[6 * nb :]
    qdd = T_a.T @ (P.T @ a - c)
    transmitted = T_a @ (np.asarray(tau, dtype=float) - rotors @ qdd) + T @ lam
    return MaximalSolution(qdd.reshape(nv), a.reshape(nb, 6), transmitted.reshape(nb, 6))


def in_base(model: Model, q: ArrayLike, v: ArrayLike) -> list[JointInBase]:
    positions, velocities = (Vector(np.asarray(x, dtype=float).tolist()) for x in (q, v))
    Q, V = model.positions(positions), model.velocities(positions, velocities)
    done: dict[int, JointInBase] = {}
    for i, parent, kind in model.outward():
        before = done.get(parent)
        X_parent = np.eye(6) if before is None else before.X
        done[i] = one_joint(kind, Q[i], V[i], array(model.X_tree[i].matrix) @ X_parent, before)
    return list(done.values())


def one_joint(kind: Joint, q: Vector, v: Vector, X_predecessor: Array, before: JointInBase | None) -> JointInBase:
    XJ, _, vJ, cJ = kind.motion(q, v)
    X = array(XJ.matrix) @ X_predecessor
    back = np.linalg.inv(X)
    v_J, c_J = back @ numbers(vJ.components), back @ numbers(cJ.components)
    velocity = v_J if before is None else before.v + v_J
    T, T_a = (X.T @ array(forces.matrix) for forces in (kind.constraints(q), kind.actuation(q)))
    return JointInBase(X, velocity, T, T_a, c_J + cross(velocity) @ v_J)


def _rows(i: int) -> slice:
    return slice(6 * i, 6 * i + 6)


def array(A: Matrix) -> Array:
    return np.array([numbers(row) for row in A.rows]).reshape(A.nrows, A.ncols)


def cross(v: Array) -> Array:
    """v×, the matrix of the cross product of motions (RBDA 2.31); −(v×)ᵀ is that of forces."""
    w, o = np.cross(np.eye(3), v[:3]), np.zeros((3, 3))
    return np.block([[w, o], [np.cross(np.eye(3), v[3:]), w]])


def _diagonal(blocks: list[Any]) -> Array:
    columns = np.cumsum([0, *(block.shape[1] for block in blocks)])
    total = np.zeros((6 * len(blocks), columns[-1]))
    for i, block in enumerate(blocks):
        total[_rows(i), columns[i] : columns[i + 1]] = block
    return total
