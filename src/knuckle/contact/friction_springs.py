"""The springs of friction through a step: how far slipping has carried them, and what is left of them at its end.

Within a step that began at t₀ a spring has moved by ∫ s dt, s being the velocity across. The integral is taken along
the cubic through both states with their velocities, by Simpson's rule: its error is of the fifth order in the step, so
that a spring that sticks keeps the order of an integrator up to the fourth, and any integrator has it as a function of
its own state. Springs are in the axes of the second body.

Where the stiffness across grows with the depth, what a spring stores would grow with it, out of nothing. So a contact
that is pressed deeper keeps the force of its spring, not the way (Mindlin and Deresiewicz 1953): K x moves with K ẋ.
One that gets shallower keeps the way.
"""

from __future__ import annotations

from typing import Any

from knuckle.algorithms.contact.soft_laws import LAWS, carried_over, relaxed, squeezed
from knuckle.engine.calls.function import kernel
from knuckle.functions.configuration import alongside, difference, difference_rate, has_charts, integrate
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.scalar import less, minimum, select
from knuckle.spatial import Vector
from knuckle.spatial.three import Vec3, add, matvec, scale

from .soft_contact import Touch, force_at, has_spring, joint_forces, places_in, springs_of

CLOSED = 1e-12
"""The part of the depth at the end of a step that stands for the moment when the gap closed."""


@kernel
def begun_springs(model: Model, t: Any, q: Any, v: Any, *, contacts: CompliantContacts) -> Any:
    """What a step has to know of its beginning: gap, normal and velocity across (7) of each spring."""
    places = places_in(model.at_time(t), contacts, q, v)[1]
    return Vector(
        x for touch in _with_springs(contacts, places) for x in (touch.at.place.gap, *touch.normal, *touch.carried)
    )


@kernel
def soft_force(model: Model, t: Any, q: Any, v: Any, *, contacts: CompliantContacts) -> Any:
    """τ of soft contact without springs."""
    now = model.at_time(t)
    X0, places = places_in(now, contacts, q, v)
    forces = [force_at(contacts, touch, spring).force for touch, spring in _pairs(contacts, places, None)]
    return joint_forces(now, q, X0, places, forces)


@kernel
def soft_force_within(
    model: Model, t: Any, q: Any, v: Any, t0: Any, q0: Any, v0: Any, springs: Any, start: Any, *,
    contacts: CompliantContacts,
) -> Any:  # fmt: skip
    """τ of soft contact within a step that began at t₀ with these springs."""
    now = model.at_time(t)
    X0, places = places_in(now, contacts, q, v)
    moved = _followed(now, contacts, places, t - t0, q0, v0, springs, start, q, v)
    forces = [force_at(contacts, touch, spring).force for touch, spring in _pairs(contacts, places, moved)]
    return joint_forces(now, q, X0, places, forces)


@kernel
def springs_after(
    model: Model, t: Any, q: Any, v: Any, t0: Any, q0: Any, v0: Any, springs: Any, start: Any, *,
    contacts: CompliantContacts,
) -> Any:  # fmt: skip
    """The springs at t of a step that began at t₀: as far as they were carried, or as far as friction holds them."""
    now = model.at_time(t)
    places = places_in(now, contacts, q, v)[1]
    moved = _followed(now, contacts, places, t - t0, q0, v0, springs, start, q, v)
    new = list[Any]()
    for k, touch in enumerate(_with_springs(contacts, places)):
        normal = touch.normal
        before = carried_over(_three(springs, 3 * k), _three(start, 7 * k + 1), normal)
        stuck = _three(moved, 3 * k)
        squeeze, grip, _ = force_at(contacts, touch, stuck)
        held = grip._replace(force=matvec(touch.turn, grip.force))
        new += relaxed(touch.surface, squeeze, held, before, stuck, t - t0)
    return Vector(new)


def _followed(
    model: Model, contacts: CompliantContacts, places: list[Touch], time: Any, q0: Any, v0: Any,
    springs: Any, start: Any, q: Any, v: Any,
) -> Vector:  # fmt: skip
    """The springs if they stick all the time: x₀ + ∫ s dt, turned with the normal."""
    q, v = alongside.reference(model, q0, q, v) if has_charts(model) else (q, v)
    u = difference.reference(model, q0, q)
    rate = difference_rate.reference(model, u, v)
    middle, way = u / 2 + (time / 8) * (v0 - rate), 1.5 * u - (time / 4) * (v0 + rate)
    halfway = places_in(model, contacts, integrate.reference(model, q0, middle), _velocity(model, middle, way))[1]
    new = list[Any]()
    both = zip(_with_springs(contacts, halfway), _with_springs(contacts, places), strict=True)
    for k, (mid, end) in enumerate(both):
        gap, normal = start[7 * k], end.normal
        before = _three(start, 7 * k + 1)
        kept = _parts_kept(contacts, end, gap, mid.at.place.gap)
        moved = add(scale(kept[0], carried_over(_three(start, 7 * k + 4), before, normal)), end.carried)
        moved = add(scale(time, moved), scale(4 * kept[1], carried_over(mid.carried, mid.normal, normal)))
        part = _part_in_touch(gap, end.at.place.gap)
        new += add(scale(kept[0], carried_over(_three(springs, 3 * k), before, normal)), scale(part / 6, moved))
    return Vector(new)


def _parts_kept(contacts: CompliantContacts, end: Touch, first: Any, middle: Any) -> tuple[Any, Any]:
    """What is left at the end of a step of the way of springs at its beginning and in its middle: less than all where
    they became stiffer, so that their force is the same. Of a gap that closes, the part in touch counts."""
    last = end.at.place.gap
    closes = select(less(first, 0.0), 0.0, 1.0)
    gaps = select(less(0.5, closes), CLOSED * last, first), select(less(0.5, closes), last / 2, middle)

    def share(gap: Any) -> Any:
        return squeezed(LAWS[contacts.law], end.surface, gap, 0.0).share

    at_end = share(last)
    touches = less(0.0, at_end)
    safe = select(touches, at_end, 1.0)
    before, halfway = (select(touches, minimum(share(gap) / safe, 1.0), 1.0) for gap in gaps)
    return before, halfway


def _part_in_touch(before: Any, after: Any) -> Any:
    """The part of a step in which shapes overlap: since the gap closed, if it was open."""
    closes = select(less(before, 0.0), 0.0, select(less(after, 0.0), 1.0, 0.0))
    part = after / select(less(0.5, closes), after - before, 1.0)
    return select(less(before, 0.0), 1.0, select(less(0.5, closes), part, 0.0))


def _velocity(model: Model, u: Any, rate: Any) -> Vector:
    """v with u̇ = R(u) v: the other way round than `difference_rate`."""
    parts: list[Any] = [0.0] * model.nv
    coupled = model.coupled
    for i, (joint, where) in enumerate(zip(model.joints, model.v_slices, strict=True)):
        if i in coupled:
            continue
        parts[where] = joint.type.displacement_velocity(Vector(u[where]), Vector(rate[where]))
    return Vector(parts)


def _with_springs(contacts: CompliantContacts, places: list[Touch]) -> list[Touch]:
    return [touch for touch in places if has_spring(contacts, touch.surface)]


def _pairs(contacts: CompliantContacts, places: list[Touch], springs: Any) -> list[tuple[Touch, Vec3]]:
    return list(zip(places, springs_of(contacts, places, springs), strict=True))


def _three(x: Any, k: int) -> Vec3:
    return x[k], x[k + 1], x[k + 2]
