"""What force elements do to the bodies of a mechanism (notes 1.9, 2.17: Jᵀ f)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from knuckle.algorithms.kinematics.body_motions import positions, velocities
from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Frame, Model
from knuckle.model.elements import ForceElement
from knuckle.model.elements.joint_lines import JointState
from knuckle.model.elements.local_slopes import LocalSlopes
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Vector


class PlacedElement(NamedTuple):
    """An element, the frames that it acts on, ᶠX_0 of each and their velocities in their own coordinates, in space."""

    element: ForceElement
    frames: tuple[Frame, ...]
    X: list[Any]
    V: list[Any]
    model: Model

    def on_bodies(self, forces: Sequence[Any]) -> dict[int, Any]:
        """Forces on its frames as those on bodies, and on the base, in their coordinates."""
        F: dict[int, Any] = {}
        for frame, f in zip(self.frames, forces, strict=True):
            own = frame.X.T @ self.model.algebra.from_space(f)
            F[frame.body] = F.get(frame.body, self.model.zero_force) + own
        return F


def placed(model: Model, q: PerJoint, v: PerJoint | None = None) -> Iterator[PlacedElement]:
    """The elements of a mechanism in a state; without velocities where none are given."""
    if not model.elements:
        return
    X0, V0, named = positions(model, q), {} if v is None else velocities(model, q, v), model.frame_table
    to_space = model.algebra.to_space
    for element in model.elements:
        if element.wound_on:
            element = element.on_joints([_joint_state(model, q, name) for name in element.wound_on])
        frames = tuple(named[name] for name in element.frames)
        X = [to_space(f.X @ X0[f.body]) for f in frames]
        V = [to_space(f.X @ V0[f.body]) for f in frames] if V0 else []
        yield PlacedElement(element, frames, X, V, model)


def _joint_state(model: Model, q: PerJoint, name: str) -> JointState:
    """The joint that carries a body, of one variable, in a state."""
    frame = model.frame(name)
    i = frame.body
    joint, p = model.joints[i], model.joints[i].parent
    s: Any = model.algebra.to_space(frame.X @ (joint.type.subspace(q[i]) @ Vector((ONE,))))
    return JointState(name, model.base.name if p == ROOT else model.body_names[p], s, q[i][0])


def body_forces(model: Model, q: PerJoint, v: PerJoint) -> dict[int, Any]:
    """The force of all elements on each body that one acts on, and on the base, in their coordinates."""
    F: dict[int, Any] = {}
    for at in placed(model, q, v):
        for i, f in at.on_bodies(at.element.forces(at.X, at.V)).items():
            F[i] = F.get(i, model.zero_force) + f
    return F


def joint_forces(model: Model, q: PerJoint, forces: PerBody) -> dict[int, Vector]:
    """What forces on bodies are at the joints: Jᵀ f (notes 2.17), down the tree."""
    F = {i: forces.get(i, model.zero_force) for i in range(ROOT, model.nb)}
    tau: dict[int, Vector] = {}
    for i, p, joint in model.inward():
        tau[i] = joint.subspace(q[i]).T @ F[i]
        F[p] = F[p] + (joint.transform(q[i]) @ model.X_tree[i]).T @ F[i]
    return tau


def element_energy(model: Model, q: PerJoint) -> Any:
    """The energy that all elements store."""
    return sum((at.element.energy(at.X) for at in placed(model, q)), ZERO)


def local_slopes(model: Model, q: PerJoint, v: PerJoint) -> Iterator[tuple[list[dict[int, Vector]], LocalSlopes]]:
    """Of each element the directions of its springs and dampers as joint forces Jᵀg, and K and D along them.

    Σ Jᵀg K gᵀJ is the stiffness of the notes (2.75): −∂τ/∂q without the turning of forces, (∂Jᵀ/∂q) f.
    """
    for at in placed(model, q, v):
        slopes = at.element.local_slopes(at.X, at.V)
        yield [joint_forces(model, q, at.on_bodies(pulls)) for pulls in slopes.directions], slopes
