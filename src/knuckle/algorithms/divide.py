"""Forward dynamics by divide and conquer (RBDA 7.4-7.5): bodies are joined pairwise, in any order.

Everything is in base coordinates. A part of the mechanism has a handle on every body that still misses joints:
a = Σ Φ f + b over its handles. Joining two parts eliminates the joint's constraint force; going back down gives it.
Cutting the tree in the middle each time makes the depth logarithmic. Every body needs an invertible inertia.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from knuckle.model import ROOT, Model
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix, Subspace, Vector

from .types import PerBody, PerJoint


class Bearing(NamedTuple):
    """A joint between its parts: the forces it transmits (T), their compliance, and how it accelerates by itself."""

    T: Matrix
    compliance: Matrix
    c: Vector


class Part(NamedTuple):
    """Some connected bodies: mobilities between the handles, and their accelerations without handle forces."""

    Phi: dict[tuple[int, int], Matrix]
    b: dict[int, Vector]
    halves: tuple[Part, Part] | None = None
    joint: int = ROOT
    Psi: Any = None
    Y: Any = None


def forward_dynamics(model: Model, q: PerJoint, v: PerJoint, tau: PerJoint, f_ext: PerBody) -> dict[int, Vector]:
    """The acceleration that the joint forces `tau` give, as `aba.forward_dynamics` finds it."""
    leaves, bearings, active = _prepare(model, q, v, tau, f_ext)
    whole = _join(model, leaves, bearings, frozenset(range(ROOT, model.nb)))
    f = {i: Vector.zero(model.algebra.dimension) for i in range(ROOT, model.nb)}
    a = _accelerations(model, whole, bearings, f)
    return {
        i: active[i].T @ (a[i] - a[p] - bearings[i].c) if len(q[i]) or len(v[i]) else Vector()
        for i, p, _ in model.outward()
    }


def _prepare(model: Model, q: PerJoint, v: PerJoint, tau: PerJoint, f_ext: PerBody) -> tuple[Any, ...]:
    """Leaves of the assembly, bearings and active-force bases, all in base coordinates."""
    X0, V = {ROOT: model.algebra.Transform.identity()}, {ROOT: model.still}
    force = {ROOT: model.no_force}
    bearings, active = {}, {}
    for i, p, joint in model.outward():
        X0[i] = joint.transform(q[i]) @ model.X_tree[i] @ X0[p]
        _, _, vJ, cJ = joint.motion(q[i], v[i])
        vJ, cJ = X0[i].inv @ vJ, X0[i].inv @ cJ
        V[i] = V[p] + vJ
        Ta = X0[i].inv @ joint.actuation(q[i])
        I = X0[i].inv @ model.I[i]
        force[i] = X0[i].inv @ f_ext[i] - V[i].cross(I @ V[i]) + Ta @ tau[i]
        force[p] = force[p] - Ta @ tau[i]
        geared = [k for k, rotor in enumerate(model.rotor[i]) if rotor is not ZERO]
        T = (X0[i].inv @ joint.constraints(q[i])).join(Subspace(Ta.vector, (Ta[k] for k in geared)))
        slack = [ZERO] * (len(T) - len(geared)) + [1 / model.rotor[i][k] for k in geared]
        bearings[i] = Bearing(T.matrix, Matrix.diagonal(slack), Vector((cJ + V[i].cross(vJ)).components))
        active[i] = Ta.matrix
    n = model.algebra.dimension
    leaves = {ROOT: Part({(ROOT, ROOT): Matrix.zero(n, n)}, {ROOT: -Vector(model.g.components)})}
    for i, I in enumerate(model.I):
        Phi = (X0[i].inv @ I).matrix.inverse()
        leaves[i] = Part({(i, i): Phi}, {i: Phi @ Vector(force[i].components)})
    return leaves, bearings, active


def _join(model: Model, leaves: dict[int, Part], bearings: dict[int, Bearing], bodies: frozenset[int]) -> Part:
    """The part made of `bodies`, from two halves joined at the cut that divides them best."""
    if len(bodies) == 1:
        return leaves[next(iter(bodies))]
    below = {i: bodies.intersection(model.subtree(i)) for i in bodies if i != ROOT and model.parents[i] in bodies}
    cut = min(below, key=lambda i: abs(2 * len(below[i]) - len(bodies)))
    A = _join(model, leaves, bearings, bodies - below[cut])
    B = _join(model, leaves, bearings, below[cut])
    return _assemble(A, B, cut, model.parents[cut], bearings[cut], _needed(model, bodies))


def _needed(model: Model, bodies: frozenset[int]) -> set[int]:
    """The bodies with a joint that leaves `bodies`: only their handles are kept."""
    edges = [(i, p) for i, p in enumerate(model.parents) if (i in bodies) != (p in bodies)]
    return {end for edge in edges for end in edge if end in bodies}


def _assemble(A: Part, B: Part, s: int, p: int, bearing: Bearing, keep: Iterable[int]) -> Part:
    """Φ' = Φ − Ψ W Ψᵀ and b' = b + Ψ W (c + b_p − b_s), Ψ = Φ_ks on B and −Φ_kp on A (RBDA 7.57-7.63)."""
    T = bearing.T
    Psi = {**{k: -A.Phi[k, p] for k in A.b}, **{k: B.Phi[k, s] for k in B.b}}
    Y = (T.T @ (A.Phi[p, p] + B.Phi[s, s]) @ T + bearing.compliance).inverse()
    W = T @ Y @ T.T
    relative = W @ (bearing.c + A.b[p] - B.b[s])
    free = {**A.b, **B.b}
    kept = [k for k in free if k in keep]
    n = T.nrows
    Phi = {}
    for k in kept:
        for m in kept:
            joint = A.Phi.get((k, m)) or B.Phi.get((k, m)) or Matrix.zero(n, n)
            Phi[k, m] = joint - Psi[k] @ W @ Psi[m].T
    b = {k: free[k] + Psi[k] @ relative for k in kept}
    return Part(Phi, b, (A, B), s, Psi, Y)


def _accelerations(model: Model, part: Part, bearings: dict[int, Bearing], f: dict[int, Vector]) -> dict[int, Vector]:
    """Body accelerations under the handle forces f: the joint's force first, then the halves."""
    if part.halves is None:
        ((i, b),) = part.b.items()
        return {i: part.Phi[i, i] @ f[i] + b}
    A, B = part.halves
    s, bearing = part.joint, bearings[part.joint]
    p = model.parents[s]
    gap = bearing.c + A.b[p] - B.b[s]
    for k in part.Psi:
        gap = gap - part.Psi[k].T @ f[k]
    transmitted = bearing.T @ (part.Y @ (bearing.T.T @ gap))
    f = {**f, s: f[s] + transmitted, p: f[p] - transmitted}
    return {**_accelerations(model, A, bearings, f), **_accelerations(model, B, bearings, f)}
