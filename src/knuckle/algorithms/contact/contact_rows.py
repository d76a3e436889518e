"""What contacts do to a mechanism: relative velocities, and the response to impulses (RBDA 11.23-11.36, 11.52-11.59).

A row is a direction at a point of two bodies: unit forces on both, equal and opposite, in body coordinates. The
response is found by the articulated bodies of the tree (notes, algorithm 10), along the paths that rows act on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from knuckle.algorithms.dynamics.inertia_inverse import Factors
from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.scalar import ONE, ZERO, sqrt
from knuckle.spatial import Force, Matrix, Vector
from knuckle.spatial.three import Vec3, cross


class UnitImpulse(NamedTuple):
    """A unit impulse: forces on bodies, in body coordinates, and at velocity variables of the tree (joint, number)."""

    forces: Mapping[int, Any]
    variables: Mapping[tuple[int, int], Any] = {}
    bodies: tuple[int, int] | None = None
    """the two bodies it acts between,"""
    wrench: Force | None = None
    """and its force on the first of them, in base coordinates"""

    def at(self, i: int, nv: int) -> Vector:
        """Its force at the variables of joint i."""
        return Vector(self.variables.get((i, k), ZERO) for k in range(nv))


class Roots(NamedTuple):
    """L and D^−½ of the inertia that each joint feels, H = LᵀDL of its own variables."""

    L: PerBody
    inverse: PerBody


def row(model: Model, X0: PerBody, first: int, second: int, point: Vec3, direction: Vec3) -> UnitImpulse:
    """A unit force along a direction at a point on the first body, and the opposite one on the second (11.31)."""
    return _between(X0, first, second, Force(cross(point, direction), direction))


def turning_row(model: Model, X0: PerBody, first: int, second: int, axis: Vec3) -> UnitImpulse:
    """A unit couple about an axis on the first body, and the opposite one on the second."""
    return _between(X0, first, second, Force(axis, (ZERO, ZERO, ZERO)))


def _between(X0: PerBody, first: int, second: int, f: Force) -> UnitImpulse:
    both = {first: X0[first] @ f} if first != ROOT else {}
    forces = {**both, second: -(X0[second] @ f)} if second != ROOT else both
    return UnitImpulse(forces, {}, (first, second), f)


def rate(V: PerBody, v: PerJoint, row: UnitImpulse) -> Any:
    """The relative velocity along a row: tᵀq̇ (11.24)."""
    on_bodies = sum((f.dot(V[i]) for i, f in row.forces.items()), ZERO)
    return on_bodies + sum((x * v[i][k] for (i, k), x in row.variables.items()), ZERO)


def roots(model: Model, factors: Factors) -> Roots:
    """The square roots that all rows share."""
    L, inverse = {}, {}
    for i, _, _ in model.outward():
        L[i], D = (factors.S[i].T @ factors.U[i] + Matrix.diagonal(model.rotor[i])).ldl()
        inverse[i] = [sqrt(ONE / d) for d in D]
    return Roots(L, inverse)


def whitened_row(model: Model, factors: Factors, roots: Roots, row: UnitImpulse) -> dict[int, Vector]:
    """y with yᵀy = tᵀH⁻¹t, for the force t of a row: what the articulated bodies leave of it at each joint."""
    X, S, U, Psi = factors
    B = {i: row.forces.get(i, model.zero_force) for i in range(ROOT, model.nb)}
    y: dict[int, Vector] = {}
    for i, p, joint in model.inward():
        left = S[i].T @ B[i] + row.at(i, joint.nv)
        B[p] = B[p] + X[i].T @ (B[i] - U[i] @ (Psi[i] @ left))
        z: list[Any] = []
        for line, value in zip(roots.L[i].rows, left, strict=True):
            z.append(value - sum((a * b for a, b in zip(line, z, strict=False)), ZERO))
        y[i] = Vector(value * d for value, d in zip(z, roots.inverse[i], strict=True))
    return y


def inner(model: Model, y: Mapping[int, Vector], z: Mapping[int, Vector]) -> Any:
    """yᵀz over all joints."""
    return sum((a * b for i in range(model.nb) for a, b in zip(y[i], z[i], strict=True)), ZERO)


def whitened_sum(model: Model, y: Sequence[Mapping[int, Vector]], impulses: Sequence[Any]) -> dict[int, list[Any]]:
    """z = Σ yₖλₖ at each joint: zᵀz is λᵀA λ."""
    return {
        i: [sum((x[i][k] * f for x, f in zip(y, impulses, strict=True)), ZERO) for k in range(joint.nv)]
        for i, _, joint in model.outward()
    }


def velocity_change(model: Model, factors: Factors, roots: Roots, z: Mapping[int, Sequence[Any]]) -> dict[int, Vector]:
    """H⁻¹ Σ tₖλₖ from the sum of whitened rows: the change of velocity that impulses bring (11.53)."""
    X, S, U, Psi = factors
    A: dict[int, Any] = {ROOT: model.zero_motion}
    change: dict[int, Vector] = {}
    for i, p, joint in model.outward():
        u: list[Any] = [value * d for value, d in zip(z[i], roots.inverse[i], strict=True)]
        for k in reversed(range(joint.nv)):
            for m in range(k):
                u[m] = u[m] - roots.L[i].rows[k][m] * u[k]
        change[i] = Vector(u) - Psi[i] @ (U[i].T @ (X[i] @ A[p]))
        A[i] = X[i] @ A[p] + S[i] @ change[i]
    return change
