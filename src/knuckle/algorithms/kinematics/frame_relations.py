"""Conditions on where one frame is in another: φ(X) = 0 or φ(X) ≥ 0, differentiated twice in time (notes 2.89-2.93).

A condition is a function of ᶠX_o, from the other frame to this one. Its Jacobian and its acceleration follow by exact
differentiation, so that Ġ_m (notes 2.93) holds for any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import Frame, Model
from knuckle.scalar import Dual, parts
from knuckle.spatial import Force, Matrix, Motion, Subspace, Transform, Vector
from knuckle.spatial.three import Mat3, Vec3, add, cross, matmul, neg, skew, tmatvec

Condition = Callable[[Transform], Iterable[Any]]


class FrameRelation(NamedTuple):
    """φ, φ̇, φ̈ without the acceleration of the variables, and the forces on both bodies of unit multipliers (G_mᵀ)."""

    error: Vector
    rate: Vector
    bias: Vector
    on: Subspace
    against: Subspace


class Bodies(NamedTuple):
    """ⁱX_0, velocity and acceleration of every body, the velocity variables having no acceleration."""

    X: PerBody
    V: PerBody
    A: PerBody


def relation(bodies: Bodies, frame: Frame, other: Frame, condition: Condition) -> FrameRelation:
    """The condition on ᶠX_o for a state of the bodies.

    The frames move with w = v_f − v_o against each other, and ẇ = a_f − a_o − v_f × w (RBDA 2.45, 8.15).
    """
    Xo = other.X @ bodies.X[other.body]
    X = frame.X @ bodies.X[frame.body] @ Xo.inverse()
    Vf, Af = frame.X @ bodies.V[frame.body], frame.X @ bodies.A[frame.body]
    Vo, Ao = X @ (other.X @ bodies.V[other.body]), X @ (other.X @ bodies.A[other.body])
    w = Vf - Vo
    error, rate, bias = _in_time(condition, X, w, Af - Ao - Vf.cross(w))
    T = _forces(condition, X)
    return FrameRelation(error, rate, bias, frame.X.T @ T, -(other.X.T @ (X.T @ T)))


def _in_time(condition: Condition, X: Transform, w: Motion, dw: Motion) -> tuple[Vector, Vector, Vector]:
    """φ, φ̇ and φ̈ while the frames move with w, which changes by ẇ: Ẋ and Ẍ as derivatives of the entries of X."""
    dE, dr = _rate(X.E, w)
    ddE = [add(*pair) for pair in zip(matmul(skew(neg(w.angular)), dE), _rate(X.E, dw)[0], strict=True)]
    ddr = add(tmatvec(X.E, cross(w.angular, w.linear)), _rate(X.E, dw)[1])
    twice = [parts(y) for y in condition(_with(_second, X, (dE, ddE), (dr, ddr)))]
    now = [(*parts(value), parts(rate)[1]) for value, rate in twice]
    return Vector(x for x, _, _ in now), Vector(x for _, x, _ in now), Vector(x for _, _, x in now)


def _forces(condition: Condition, X: Transform) -> Subspace:
    """T with φ̇ = Tᵀ w, one force in frame coordinates for each condition."""
    rates = [_rate(X.E, e) for e in Motion.basis()]
    slopes = [[parts(y)[1] for y in condition(_with(Dual, X, (dE,), (dr,)))] for dE, dr in rates]
    return Subspace(Force, (Force(row[:3], row[3:]) for row in zip(*slopes, strict=True)))  # type: ignore[arg-type]


def _rate(E: Mat3, w: Motion) -> tuple[Mat3, Vec3]:
    """Ė = −ω×E and ṙ = Eᵀv (RBDA 2.45)."""
    return matmul(skew(neg(w.angular)), E), tmatvec(E, w.linear)


def _with(dual: Callable[..., Any], X: Transform, dE: Any, dr: Any) -> Transform:
    """X with its derivatives in its entries."""
    E = tuple(tuple(dual(*entry) for entry in zip(*rows, strict=True)) for rows in zip(X.E, *dE, strict=True))
    return Transform(E, tuple(dual(*entry) for entry in zip(X.r, *dr, strict=True)))  # type: ignore[arg-type]


def _second(x: Any, dx: Any, ddx: Any) -> Dual:
    """A number with its first and second derivative in time."""
    return Dual(Dual(x, dx), Dual(dx, ddx))


def rows(model: Model, q: PerJoint, body: int, forces: Subspace) -> dict[int, Matrix]:
    """Fᵀ J_body by its nonzero blocks, for forces on a body in its coordinates (notes 2.94: G_m J_mr)."""
    K: dict[int, Matrix] = {}
    F = forces
    for j in model.ancestors(body):
        K[j] = F.T @ model.joints[j].type.subspace(q[j])
        F = (model.joints[j].type.transform(q[j]) @ model.X_tree[j]).T @ F
    return K
