"""Joining articulated bodies across a joint, in all the ways of RBDA chapter 7.

An articulated body answers a force f at its handle with f = IA a + pA, or a = Φ f + b (RBDA 7.2, 7.3). The first form
exists only for handles with all their freedoms; the second always. Inertias and forces are typed; the Φ forms use
dense 6x6 matrices and vectors of components.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from knuckle.spatial import Matrix, Subspace, Vector


class Inertial(NamedTuple):
    """f = I a + p."""

    I: Any
    p: Any


class Mobile(NamedTuple):
    """a = Φ f + b, by components."""

    Phi: Matrix
    b: Vector


def join(first: Inertial, second: Inertial, S: Subspace, c: Any, tau: Vector) -> Inertial:
    """The standard formulae: body 1 with body 2 hung on it by a joint (RBDA 7.18-7.20, table 7.2)."""
    U = second.I @ S
    D = (S.T @ U).inverse()
    I = second.I - U.dyadic(D)
    p = second.p + I @ c + U @ (D @ (tau - S.T @ second.p))
    return Inertial(first.I + I, first.p + p)


def join_by_mobility(first: Mobile, second: Mobile, T: Matrix, T_a: Matrix, c: Vector, tau: Vector) -> Mobile:
    """Variant 1: in terms of Φ and the constraint forces; works for handles without full freedom (table 7.2)."""
    Phi, active = first.Phi + second.Phi, T_a @ tau
    Y = (T.T @ Phi @ T).inverse()
    z = T.T @ (c + first.b - second.b - Phi @ active)
    return Mobile(
        first.Phi - first.Phi @ T @ Y @ T.T @ first.Phi,
        first.b - first.Phi @ active - first.Phi @ (T @ (Y @ z)),
    )


def join_by_constraint(first: Inertial, second: Inertial, T: Matrix, T_a: Matrix, c: Vector, tau: Vector) -> Inertial:
    """Variant 2: inertias and the constraint forces (table 7.2); I and p by components here."""
    mobility = second.I.inverse()
    W = (T.T @ mobility @ T).inverse()
    z = T.T @ (c - mobility @ (T_a @ tau - second.p))
    return Inertial(first.I + T @ W @ T.T, first.p + T_a @ tau + T @ (W @ z))


def glue(first: Inertial, second: Inertial) -> Inertial:
    """Two handles welded together (RBDA figure 7.2)."""
    return Inertial(first.I + second.I, first.p + second.p)


def project(H_inverse: Matrix, C: Vector, J: Matrix, J_dot_v: Vector) -> Mobile:
    """The projection method for any number of stacked handles: Φ = J H⁻¹ Jᵀ, b = J̇v − J H⁻¹ C (RBDA 7.5-7.13)."""
    return Mobile(J @ H_inverse @ J.T, J_dot_v - J @ (H_inverse @ C))


def inertial(body: Mobile) -> Inertial:
    """IA = Φ⁻¹ and pA = −IA b, by components, for a handle with all its freedoms (RBDA 7.3)."""
    I = body.Phi.inverse()
    return Inertial(I, -(I @ body.b))


class TwoHandles(NamedTuple):
    """[a1; a2] = [Φ1 Φ12; Φ21 Φ2] [f1; f2] + [b1; b2] (RBDA 7.4)."""

    Phi1: Matrix
    Phi12: Matrix
    Phi2: Matrix
    b1: Vector
    b2: Vector


def join_two_handles(A: TwoHandles, B: TwoHandles, T: Matrix, c: Vector) -> TwoHandles:
    """Handle 2 of A joined to handle 1 of B; the outer handles remain (RBDA 7.57-7.63). Active forces are in b."""
    W = T @ (T.T @ (A.Phi2 + B.Phi1) @ T).inverse() @ T.T
    beta = c - B.b1 + A.b2
    Phi21, Phi43 = A.Phi12.T, B.Phi12.T
    return TwoHandles(
        A.Phi1 - A.Phi12 @ W @ Phi21,
        A.Phi12 @ W @ B.Phi12,
        B.Phi2 - Phi43 @ W @ B.Phi12,
        A.b1 - A.Phi12 @ (W @ beta),
        B.b2 + Phi43 @ (W @ beta),
    )
