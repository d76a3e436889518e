"""Mechanisms that nothing holds (RBDA 9.3 to 9.5): where the algorithms for floating bases serve, and how they are fed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from knuckle.algorithms import floating
from knuckle.algorithms.jacobian import pose
from knuckle.errors import ModelError
from knuckle.joints import Free
from knuckle.model import ROOT, Frame, Model
from knuckle.spatial import Matrix, Vector

from .function import Array, function
from .kinematics import Expression, to_expression


def limbs_of(model: Model) -> Model | None:
    """The bodies beyond the floating base, with the base as theirs; None if something else is tied to the ground.

    The first joint must be free, without rotors, and the only one at the ground; no joint may follow others.
    """
    if not model.joints or model.couplings:
        return None
    first, *others = model.joints
    if type(first.kind) is not Free or any(first.rotor_inertia) or any(joint.parent == ROOT for joint in others):
        return None
    joints = tuple(dataclasses.replace(joint, parent=joint.parent - 1) for joint in others)
    return model.replace(base=model.bodies[0], bodies=model.bodies[1:], joints=joints, frames=(), loops=())


class Afloat:
    """A state of a mechanism with a floating base, as the algorithms for it want it.

    They work in an inertial frame that moves with the base's origin at this instant: its speed is in no product, and
    costs neither operations nor digits (RBDA 10.1).
    """

    def __init__(
        self, model: Model, limbs: Model, Q: Any, V: Any, base_force: Vector, f_ext: Mapping[int, Any]
    ) -> None:
        turning = model.algebra.Motion.zero().angular
        v0 = model.algebra.Motion.of(V[0])
        self.spin, self.travel = type(v0)(v0.angular, turning), type(v0)(turning, v0.linear)
        self.limbs, self.Q, self.V = limbs, Q[1:], V[1:]
        self.g = model.joints[0].kind.transform(Q[0]) @ model.X_tree[0] @ model.g
        self.f_ext = {i - 1: f for i, f in f_ext.items()}
        self.f_ext[ROOT] = self.f_ext[ROOT] + model.algebra.Force.of(base_force)

    def forward_dynamics(self, tau: Any) -> dict[int, Vector]:
        """The accelerations of all joints, the free one first, for the forces `tau` of the others (RBDA table 9.4)."""
        a0, a = floating.forward_dynamics(self.limbs, self.spin, self.g, self.Q, self.V, tau, self.f_ext)
        return self._numbered(a0, a)

    def inverse_dynamics(self, a: Any) -> tuple[dict[int, Vector], dict[int, Vector]]:
        """The base's acceleration by number 0, and the forces of the other joints by theirs (RBDA table 9.6)."""
        a0, tau = floating.inverse_dynamics(self.limbs, self.spin, self.g, self.Q, self.V, a, self.f_ext)
        return self._numbered(a0, {}), {i + 1: x for i, x in tau.items()}

    def _numbered(self, a0: Any, a: dict[int, Vector]) -> dict[int, Vector]:
        """Seen from the ground again: v̇ has −ω × v besides, since v is in coordinates that turn."""
        return {0: Vector((a0 - self.spin.cross(self.travel)).components), **{i + 1: x for i, x in a.items()}}


@function(q="q", loops=True)
def floating_jacobian(model: Model, q: ArrayLike, frame: str, expressed_in: Expression = "body") -> Array:
    """J^fl (..., 6, nv − 6): how a frame moves with the joints while the floating base recoils (RBDA example 9.4).

    With no momentum the twist of the frame is J^fl q̇, for the velocities q̇ of the joints after the free one. An
    impulse between the bodies changes it by J^fl Δq̇. Gravity and where the mechanism is do not matter.

    Raises:
        ModelError: the mechanism is not one that floats: one free joint first, and nothing else on the ground.
    """
    limbs, place, Q = limbs_of(model), model.frame(frame), model.positions(q)
    if limbs is None:
        raise ModelError(
            "a floating Jacobian is one of a mechanism whose first joint is free, and no other on the ground; "
            'kn.load(..., base="floating") makes such a one'
        )
    if place.body == ROOT:
        raise ValueError(f"frame {frame!r} is on the ground, which does not recoil")
    to = to_expression(model, pose(model, Q, place), expressed_in)
    J = floating.jacobian(limbs, Q[1:], Frame(place.name, place.body - 1, place.X))
    columns = (column for i in range(limbs.nb) for column in to @ J[i])
    return Matrix.columns((column.components for column in columns), model.algebra.dimension)
