"""Mechanisms that nothing holds (RBDA 9.3 to 9.5): where algorithms for floating bases serve, and what they get."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from knuckle.algorithms.dynamics import floating_base
from knuckle.algorithms.kinematics.jacobians import pose
from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.engine.calls.function import Array, function
from knuckle.errors import ModelError
from knuckle.model import ROOT, Frame, Model
from knuckle.public_names import public
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix, Vector

from .base_frame import floats
from .kinematics import ExpressedIn, to_expression


def limbs_of(model: Model) -> Model | None:
    """The bodies beyond the floating base, with the base as theirs; None for a mechanism that is no such tree.

    The free joint must have no rotors, no joint may follow others, and no line may have armature.
    """
    if not floats(model) or model.ties_branches or any(x is not ZERO for x in model.rotor[0]):
        return None
    joints = tuple(dataclasses.replace(joint, parent=joint.parent - 1) for joint in model.joints[1:])
    contact = model.contact.with_bodies(lambda name: None if name == model.base.name else name)
    return model.replace(
        base=model.bodies[0], bodies=model.bodies[1:], joints=joints, frames=(), loops=(), contact=contact, elements=()
    )


class _Adrift(NamedTuple):
    """The floating base at an instant: its turning and its travelling, gravity, and the forces on all bodies.

    The algorithms get an inertial frame that moves with the base's origin at this instant: how fast it travels is in no
    product, and costs neither operations nor digits (RBDA 10.1).
    """

    spin: Any
    travel: Any
    g: Any
    f_ext: dict[int, Any]

    @classmethod
    def of(cls, model: Model, Q: PerJoint, V: PerJoint, tau0: Vector, f_ext: PerBody) -> _Adrift:
        motion = model.algebra.Motion
        v0, nothing = motion.of(V[0]), motion.zero()
        g = model.joints[0].type.transform(Q[0]) @ model.X_tree[0] @ model.g
        forces = {i - 1: f for i, f in f_ext.items()}
        forces[ROOT] = forces[ROOT] + model.algebra.Force.of(tau0)
        return cls(motion(v0.angular, nothing.linear), motion(nothing.angular, v0.linear), g, forces)

    def rate(self, a0: Any) -> Vector:
        """v̇ of the free joint: seen from the ground it has −ω × v besides, v being in coordinates that turn."""
        return Vector((a0 - self.spin.cross(self.travel)).components)


def forward_dynamics(
    model: Model, limbs: Model, Q: PerJoint, V: PerJoint, tau: PerJoint, f_ext: PerBody
) -> dict[int, Vector]:
    """The accelerations of all joints, the free one being number 0 (RBDA table 9.4)."""
    base = _Adrift.of(model, Q, V, tau[0], f_ext)
    a0, a = floating_base.forward_dynamics(
        limbs, base.spin, base.g, _after(model, Q), _after(model, V), _after(model, tau), base.f_ext
    )
    return {0: base.rate(a0), **{i + 1: x for i, x in a.items()}}


def inverse_dynamics(
    model: Model, limbs: Model, Q: PerJoint, V: PerJoint, tau0: Vector, A: PerJoint, f_ext: PerBody
) -> tuple[Vector, dict[int, Vector]]:
    """v̇ of the free joint under the force `tau0`, and the forces of the other joints (RBDA table 9.6)."""
    base = _Adrift.of(model, Q, V, tau0, f_ext)
    a0, tau = floating_base.inverse_dynamics(
        limbs, base.spin, base.g, _after(model, Q), _after(model, V), _after(model, A), base.f_ext
    )
    return base.rate(a0), {i + 1: x for i, x in tau.items()}


def _after(model: Model, parts: PerJoint) -> dict[int, Vector]:
    """What belongs to the joints after the free one, by their numbers in the limbs."""
    return {i - 1: parts[i] for i in range(1, model.nb)}


@public
@function(q="q", loops=True)
def floating_jacobian(model: Model, q: ArrayLike, frame: str, expressed_in: ExpressedIn = "body") -> Array:
    """J^fl (..., 6, nv − 6): how a frame moves with the joints while the floating base recoils (RBDA example 9.4).

    With no momentum the twist of the frame is J^fl q̇, for the velocities q̇ of the joints after the free one. An
    impulse between the bodies changes it by J^fl Δq̇. Gravity and where the mechanism is do not matter.

    Raises:
        ModelError: the mechanism is not one that floats: one free joint first, and nothing else on the ground.
    """
    limbs, place, Q = limbs_of(model.without_couplings()), model.frame(frame), model.positions(q)
    if limbs is None:
        raise ModelError(
            "a floating Jacobian is one of a mechanism whose first joint is free, and no other on the ground; "
            'kn.load(..., base="floating") makes such a one'
        )
    if place.body == ROOT:
        raise ValueError(f"frame {frame!r} is on the ground, which does not recoil")
    to = to_expression(model, pose(model, Q, place), expressed_in)
    J = floating_base.jacobian(limbs, _after(model, Q), Frame(place.name, place.body - 1, place.X))
    columns = model.columns(q, {i + 1: to @ part for i, part in J.items()}, model.zero_motion)
    return Matrix.columns((column.components for column in columns[6:]), model.algebra.dimension)
