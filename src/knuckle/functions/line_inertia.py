"""What the armature of lines and joints adds to the equation of motion: a JᵀJ to H and a Jᵀ J̇v to C, with l̇ = J v.

A mass a that moves as fast as a line grows, such as the rotor of a winch: its kinetic energy is a l̇²/2. So do rotors of
joints that are elements (`JointSpring`), with the joint's variable for l. H is then no longer that of the tree, and
algorithms that go from body to body give way to matrices (`Model.ties_branches`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from knuckle.algorithms.elements import element_forces
from knuckle.errors import ModelError
from knuckle.joints.composed.driven import Driven, Prescribed
from knuckle.model import ROOT, Model
from knuckle.scalar import ZERO
from knuckle.spatial import Matrix, Vector

from .configuration import velocity_to_qdot
from .derivatives.dual_jacobians import along, derivative_of


class LineInertia(NamedTuple):
    """The armature of a line, and J = ∂l/∂q over the velocity variables."""

    armature: Any
    row: Vector


def line_inertias(model: Model, q: Any) -> list[LineInertia]:
    """Of all lines with armature."""
    if not any(element.armature for element in model.elements):
        return []
    _must_not_be_driven(model)
    Q, found = model.positions(q), list[LineInertia]()
    for at in element_forces.placed(model, Q):
        for armature, pulls in at.element.inertias(at.X) if at.element.armature else ():
            F = at.on_bodies([-f for f in pulls])
            found.append(LineInertia(armature, model.forces(q, element_forces.joint_forces(model, Q, F))))
    return found


def line_rates(model: Model, q: Any, v: Any) -> list[Vector]:
    """J̇ of each line, while the mechanism moves with v."""
    moving = along(Vector(q), velocity_to_qdot.reference(model, Vector(q), Vector(v)))
    return [derivative_of(line.row) for line in line_inertias(model, moving)]


def added_inertia(model: Model, q: Any) -> Matrix:
    """Σ a JᵀJ."""
    return _sum(model, ((line.armature * line.row, line.row) for line in line_inertias(model, q)))


def added_coriolis(model: Model, q: Any, v: Any) -> Matrix:
    """Σ a Jᵀ J̇: the rate of Σ a JᵀJ less twice this is skew."""
    lines = zip(line_inertias(model, q), line_rates(model, q, v), strict=True)
    return _sum(model, ((line.armature * line.row, rate) for line, rate in lines))


def added_force(model: Model, q: Any, v: Any, a: Any = None) -> Vector:
    """Σ a Jᵀ (J q̈ + J̇v); without acceleration, if none is given."""
    total = Vector.zero(model.nv)
    for line, rate in zip(line_inertias(model, q), line_rates(model, q, v), strict=True):
        growth = rate @ Vector(v) if a is None else line.row @ Vector(a) + rate @ Vector(v)
        total = total + (line.armature * growth) * line.row
    return total


def line_energy(model: Model, q: Any, v: Any) -> Any:
    """Σ a l̇²/2."""
    rates = ((line.armature, line.row @ Vector(v)) for line in line_inertias(model, q))
    return sum((a * rate * rate / 2 for a, rate in rates), ZERO)


def moved_by_lines(model: Model) -> list[frozenset[int]]:
    """For each line with armature the velocity variables that make it longer or shorter."""
    named, moved = model.frame_table, list[frozenset[int]]()
    for element in model.elements:
        if element.armature:
            bodies = {named[name].body for name in element.frames}
            moved.append(frozenset(k for body in bodies for i in _up_to(model, body) for k in model.variables(i)))
    return moved


def must_have_no_armature(model: Model, what: str) -> None:
    """An error where lines have armature, for what goes from body to body and does not know it."""
    names = [element.name for element in model.elements if element.armature]
    if names:
        raise ModelError(f"{what} do not know the armature of lines, and {model.name} has some ({', '.join(names)})")


def _must_not_be_driven(model: Model) -> None:
    driven = [joint.name for joint in model.joints if isinstance(joint.type, (Driven, Prescribed))]
    if driven:
        must_have_no_armature(model, f"joints that move by a law of time ({', '.join(driven)})")


def _up_to(model: Model, body: int) -> list[int]:
    path = list[int]()
    while body != ROOT:
        path.append(body)
        body = model.parents[body]
    return path


def _sum(model: Model, pairs: Any) -> Matrix:
    total: list[list[Any]] = [[ZERO] * model.nv for _ in range(model.nv)]
    for left, right in pairs:
        for i, x in enumerate(left):
            for j, y in enumerate(right):
                total[i][j] = total[i][j] + x * y
    return Matrix(total, model.nv)
