"""Energy, centre of mass and momentum (RBDA 2.67, 9.3, example 9.3)."""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.elements.element_forces import element_energy
from knuckle.algorithms.kinematics.body_motions import positions, velocities
from knuckle.algorithms.types import PerBody, PerJoint
from knuckle.model import ROOT, Model
from knuckle.scalar import ZERO


def kinetic_energy(model: Model, q: PerJoint, v: PerJoint) -> Any:
    """½ Σ v·Iv, and ½ ρ v² of the rotors; added up from the leaves of the tree to its root, from little to much."""
    V = velocities(model, q, v)
    beyond: dict[int, Any] = dict.fromkeys(V, ZERO)
    for i, p, _ in model.inward():
        beyond[p] = beyond[p] + (beyond[i] + model.I[i].kinetic_energy(V[i]))
    return beyond[ROOT] + sum(((v[i] * rotor @ v[i]) / 2 for i, rotor in enumerate(model.rotor)), ZERO)


def potential_energy(model: Model, q: PerJoint) -> Any:
    """−Σ m g·c, ½ k d² of the joint springs and what force elements store; no height is that of the base's origin."""
    gravity = -_dot(model.g.linear, first_moment(model, q))
    springs = sum((k @ (d * d) / 2 for _, k, d in spring_displacements(model, q)), ZERO)
    return gravity + springs + element_energy(model, q)


def first_moment(model: Model, q: PerJoint) -> tuple[Any, ...]:
    """Σ m c in base coordinates."""
    X0 = positions(model, q)
    moments = [(X0[i].inv @ I).first_moment for i, I in enumerate(model.I)]
    nothing = (ZERO,) * len(model.g.linear)
    return tuple(sum(column, ZERO) for column in zip(nothing, *moments, strict=True))


def total_mass(model: Model) -> Any:
    """The mass of all moving bodies."""
    return sum((I.mass for I in model.I), ZERO)


def center_of_mass(model: Model, q: PerJoint) -> tuple[Any, ...]:
    """The centre of mass of the moving bodies in base coordinates."""
    m = total_mass(model)
    return tuple(x / m for x in first_moment(model, q))


def momentum(model: Model, q: PerJoint, v: PerJoint) -> Any:
    """Σ I v in base coordinates, about the base's origin. Rotors that only turn count for nothing (RBDA 9.28)."""
    X0, V = positions(model, q), velocities(model, q, v)
    return _total(model, {i: X0[i].inv @ (I @ V[i]) for i, I in enumerate(model.I)})


def spring_displacements(model: Model, q: PerJoint) -> list[tuple[int, Any, Any]]:
    """(joint, stiffness, displacement from rest) of the joints that have a spring."""
    return [(i, k, model.joints[i].type.difference(rest, q[i])) for i, k, rest in model.springs]


def _total(model: Model, forces: PerBody) -> Any:
    return sum(forces.values(), model.zero_force)


def _dot(a: tuple[Any, ...], b: tuple[Any, ...]) -> Any:
    return sum((x * y for x, y in zip(a, b, strict=True)), ZERO)
