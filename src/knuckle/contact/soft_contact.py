"""Soft contact of a mechanism in a state: its places, the forces there, and their joint forces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from knuckle.algorithms.contact.soft_laws import (
    LAWS,
    Rubbing,
    SoftSurface,
    Squeeze,
    gripped,
    regularized,
    squeezed,
)
from knuckle.algorithms.kinematics.body_motions import positions, velocities
from knuckle.errors import ModelError
from knuckle.model import ROOT, Model
from knuckle.model.contact import CompliantContacts
from knuckle.scalar import ZERO, constant
from knuckle.spatial import Force, Vector
from knuckle.spatial.three import ZERO3, Mat3, Vec3, add, cross, dot, matvec, scale, sub, tmatvec

from .contact_pairs import ContactPair
from .contact_terms import Candidate, candidates


class Touch(NamedTuple):
    """A place at which soft shapes may touch: how fast the gap opens, and the velocity across, on the first body."""

    at: Candidate
    surface: SoftSurface
    rate: Any
    slip: Vec3
    turn: Mat3
    """From base axes to those of the second body, in which springs are"""

    @property
    def normal(self) -> Vec3:
        """The normal in the axes of the second body."""
        return matvec(self.turn, self.at.place.normal)

    @property
    def carried(self) -> Vec3:
        """The velocity across in the axes of the second body."""
        return matvec(self.turn, self.slip)


def places_in(model: Model, contacts: CompliantContacts, q: Any, v: Any) -> tuple[Mapping[int, Any], list[Touch]]:
    """ⁱX_0 of the bodies, and all places in a state."""
    at, moving = model.positions(q), model.velocities(q, v)
    X0 = positions(model, at)
    V = {i: X0[i].inv @ x for i, x in velocities(model, at, moving).items()}
    places: list[Touch] = []
    for candidate in candidates(model, X0):
        pair, (_, p, n) = candidate.pair, candidate.place
        motion = V[pair.first] - V[pair.second]
        u = add(motion.linear, cross(motion.angular, p))
        rate = dot(n, u)
        surface = soft_surface(contacts, model, pair)
        places.append(Touch(candidate, surface, rate, sub(u, scale(rate, n)), X0[pair.second].E))
    return X0, places


def soft_surface(contacts: CompliantContacts, model: Model, pair: ContactPair) -> SoftSurface:
    """What holds for a pair of shapes; an error where its surfaces are rigid."""
    surface = pair.surface
    for name, unit in (("stiffness", "N/m"), ("damping", "N s/m")):
        if getattr(surface, name) is None:
            bodies = " and ".join(map(repr, pair.names(model)))
            raise ModelError(
                f"soft contact of {bodies} needs the {name} of their surfaces, and {surface.name!r} has none: give "
                f"one of the surfaces, or their pair, {name}=… in {unit}"
            )
    assert surface.stiffness is not None
    if constant(surface.stiffness) is ZERO:
        bodies = " and ".join(map(repr, pair.names(model)))
        raise ModelError(f"soft contact of {bodies}: the stiffness of {surface.name!r} is 0, and must be above 0")
    mu = 0.0 if contacts.friction is None else surface.friction
    return SoftSurface(surface.stiffness, constant(surface.damping), constant(mu), contacts.depth, contacts.across)


def spring_count(model: Model, contacts: CompliantContacts) -> int:
    """How many springs there are: one at each place with friction."""
    if contacts.friction != "spring":
        return 0
    places = places_in(model, contacts, Vector(model.start), Vector.zero(model.nv))[1]
    return sum(has_spring(contacts, touch.surface) for touch in places)


def has_spring(contacts: CompliantContacts, surface: SoftSurface) -> bool:
    """Whether a place has a spring."""
    return contacts.friction == "spring" and surface.friction is not ZERO


class PlaceForce(NamedTuple):
    """What acts at a place: the law's parts, and the whole force on the first body in base axes."""

    squeeze: Squeeze
    grip: Rubbing
    force: Vec3


def force_at(contacts: CompliantContacts, touch: Touch, spring: Vec3) -> PlaceForce:
    """The force at a place; `spring` in the axes of the second body."""
    surface, place = touch.surface, touch.at.place
    squeeze = squeezed(LAWS[contacts.law], surface, place.gap, touch.rate)
    grip = Rubbing(ZERO3, 0.0)
    if has_spring(contacts, surface):
        grip = gripped(surface, squeeze, tmatvec(touch.turn, spring), touch.slip)
    elif surface.friction is not ZERO:
        grip = Rubbing(regularized(surface.friction, squeeze.force, touch.slip, contacts.slip_speed), 0.0)
    return PlaceForce(squeeze, grip, add(scale(squeeze.force, place.normal), grip.force))


def springs_of(contacts: CompliantContacts, places: list[Touch], springs: Any) -> list[Vec3]:
    """The spring of each place, from all of them in a row; none where there is none."""
    each, k = list[Vec3](), 0
    for touch in places:
        if springs is None or not has_spring(contacts, touch.surface):
            each.append(ZERO3)
            continue
        each.append((springs[k], springs[k + 1], springs[k + 2]))
        k += 3
    return each


def joint_forces(model: Model, q: Any, X0: Mapping[int, Any], places: list[Touch], forces: list[Vec3]) -> Any:
    """τ of forces at places: Tλ (11.34), down the tree."""
    F = {i: model.zero_force for i in range(ROOT, model.nb)}
    for (pair, place), f in ((touch.at, f) for touch, f in zip(places, forces, strict=True)):
        wrench = Force(cross(place.point, f), f)
        F[pair.first] = F[pair.first] + X0[pair.first] @ wrench
        F[pair.second] = F[pair.second] - X0[pair.second] @ wrench
    at, tau = model.positions(q), dict[int, Any]()
    for i, p, joint in model.inward():
        tau[i] = joint.subspace(at[i]).T @ F[i]
        F[p] = F[p] + (joint.transform(at[i]) @ model.X_tree[i]).T @ F[i]
    return model.forces(q, tau)
