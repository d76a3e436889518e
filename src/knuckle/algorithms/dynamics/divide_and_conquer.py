"""Forward dynamics by divide and conquer (RBDA 7.4-7.5): bodies are joined pairwise, in any order.

A part of the mechanism has a handle on every body that still misses joints: a = Σ Φ f + b over its handles, each in
its body's own coordinates. Joining two parts eliminates the force of the joint between them; going back down gives it.
Cutting the tree in the middle each time makes the depth logarithmic. Every body needs an invertible inertia.

The joint's force follows from its motion subspace instead of its constraint forces: with Φ the mobility between its
ends, W = Φ⁻¹ − Φ⁻¹S(SᵀΦ⁻¹S)⁻¹SᵀΦ⁻¹ is the T(TᵀΦT)⁻¹Tᵀ of RBDA 7.57-7.63. That needs no T and no T_a, which grow without
bound near the singularities of a joint, and has a place for rotor inertia.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.spatial import Matrix, Vector


class Bearing(NamedTuple):
    """A joint between two parts, in successor coordinates: the transform to them, S, its rotor inertia, its bias
    acceleration and the force along its freedoms."""

    X: Matrix
    S: Matrix
    rotor: Matrix
    c: Vector
    tau: Vector


class Cut(NamedTuple):
    """How two halves were joined: at which joint, and what gives its force and acceleration from the gap."""

    A: Subassembly
    B: Subassembly
    joint: int
    Psi: dict[int, Matrix]
    Phi: Matrix
    D: Matrix


class Subassembly(NamedTuple):
    """Some connected bodies: mobilities between the handles, and their accelerations without handle forces."""

    Phi: dict[tuple[int, int], Matrix]
    b: dict[int, Vector]
    cut: Cut | None = None


def forward_dynamics(model: Model, q: PerJoint, v: PerJoint, tau: PerJoint, f_ext: PerBody) -> dict[int, Vector]:
    """The acceleration that the joint forces `tau` give, as `aba.forward_dynamics` finds it."""
    leaves, bearings = _prepare(model, q, v, tau, f_ext)
    whole = _join(model, leaves, bearings, frozenset(range(ROOT, model.nb)))
    none = {i: Vector.zero(model.algebra.dimension) for i in range(ROOT, model.nb)}
    return _accelerations(model, whole, bearings, none)


def _prepare(
    model: Model, q: PerJoint, v: PerJoint, tau: PerJoint, f_ext: PerBody
) -> tuple[dict[int, Subassembly], dict[int, Bearing]]:
    """Single bodies as parts, and the joints between them."""
    n = model.algebra.dimension
    V = {ROOT: model.zero_motion}
    leaves = {ROOT: Subassembly({(ROOT, ROOT): Matrix.zero(n, n)}, {ROOT: -Vector(model.g.components)})}
    bearings = {}
    for i, p, joint in model.outward():
        XJ, S, vJ, cJ = joint.motion(q[i], v[i])
        X = XJ @ model.X_tree[i]
        V[i] = X @ V[p] + vJ
        c = Vector((cJ + V[i].cross(vJ)).components)
        bearings[i] = Bearing(X.matrix, S.matrix, Matrix.diagonal(model.rotor[i]), c, tau[i])
        Phi, f = model.I[i].inverse.matrix, f_ext[i] - V[i].cross(model.I[i] @ V[i])
        leaves[i] = Subassembly({(i, i): Phi}, {i: Phi @ Vector(f.components)})
    return leaves, bearings


def _join(
    model: Model, leaves: dict[int, Subassembly], bearings: dict[int, Bearing], bodies: frozenset[int]
) -> Subassembly:
    """The part made of `bodies`, from two halves joined at the cut that divides them best."""
    if len(bodies) == 1:
        return leaves[next(iter(bodies))]
    below = {i: bodies.intersection(model.subtree(i)) for i in bodies if i != ROOT and model.parents[i] in bodies}
    s = min(below, key=lambda i: abs(2 * len(below[i]) - len(bodies)))
    A, B = (_join(model, leaves, bearings, half) for half in (bodies - below[s], below[s]))
    return _assemble(A, B, s, model.parents[s], bearings[s], _loose_ends(model, bodies))


def _loose_ends(model: Model, bodies: frozenset[int]) -> set[int]:
    """The bodies with a joint that leaves `bodies`: only their handles are kept."""
    edges = [(i, p) for i, p in enumerate(model.parents) if (i in bodies) != (p in bodies)]
    return {end for edge in edges for end in edge if end in bodies}


def _assemble(A: Subassembly, B: Subassembly, s: int, p: int, bearing: Bearing, keep: Collection[int]) -> Subassembly:
    """Φ' = Φ − Ψ W Ψᵀ and b' = b + Ψ f, Ψ = Φ_ks on B and −Φ_kp Xᵀ on A (RBDA 7.57-7.63)."""
    X = bearing.X
    Psi = {**{k: -(A.Phi[k, p] @ X.T) for k in A.b}, **{k: B.Phi[k, s] for k in B.b}}
    Phi = (X @ A.Phi[p, p] @ X.T + B.Phi[s, s]).inverse()
    D = (bearing.S.T @ Phi @ bearing.S + bearing.rotor).inverse()
    cut = Cut(A, B, s, Psi, Phi, D)
    W = Phi - Phi @ bearing.S @ D @ bearing.S.T @ Phi
    f, _ = _joint_force(cut, bearing, bearing.c + X @ A.b[p] - B.b[s])
    free, known = {**A.b, **B.b}, {**A.Phi, **B.Phi}
    kept = [k for k in free if k in keep]
    nothing = Matrix.zero(Phi.nrows, Phi.nrows)
    mobilities = {(k, m): known.get((k, m), nothing) - Psi[k] @ W @ Psi[m].T for k in kept for m in kept}
    return Subassembly(mobilities, {k: free[k] + Psi[k] @ f for k in kept}, cut)


def _joint_force(cut: Cut, bearing: Bearing, gap: Vector) -> tuple[Vector, Vector]:
    """The joint's force f and acceleration: f = Φ⁻¹(S a + gap) with Sᵀ f = τ − ρ a."""
    a = cut.D @ (bearing.tau - bearing.S.T @ (cut.Phi @ gap))
    return cut.Phi @ (bearing.S @ a + gap), a


def _accelerations(
    model: Model, part: Subassembly, bearings: dict[int, Bearing], f: dict[int, Vector]
) -> dict[int, Vector]:
    """Joint accelerations in a part under the handle forces f: the joint of its cut first, then the halves."""
    if part.cut is None:
        return {}
    A, B, s, Psi, _, _ = part.cut
    p = model.parents[s]
    X = bearings[s].X
    gap = bearings[s].c + X @ A.b[p] - B.b[s]
    for k in Psi:
        gap = gap - Psi[k].T @ f[k]
    force, a = _joint_force(part.cut, bearings[s], gap)
    f = {**f, s: f[s] + force, p: f[p] - X.T @ force}
    return {s: a, **_accelerations(model, A, bearings, f), **_accelerations(model, B, bearings, f)}
