"""What impulses act on in a step: contacts, friction at joints and joints at their limits, with their laws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from knuckle.algorithms.contact.contact_rows import UnitImpulse, row, turning_row
from knuckle.algorithms.contact.impulse_laws import PUSHES, Bounds, Cone
from knuckle.algorithms.contact.plane_gaps import TouchPoint
from knuckle.algorithms.contact.shape_gaps import axes_at
from knuckle.algorithms.kinematics.body_motions import positions
from knuckle.algorithms.types import PerBody
from knuckle.contact.contact_pairs import ContactPair, contact_pairs
from knuckle.contact.contact_terms import placed_shapes
from knuckle.contact.detection import Detector
from knuckle.errors import ModelError
from knuckle.joints import Joint
from knuckle.joints.base import is_plain
from knuckle.model import ROOT, Model
from knuckle.model.canonical.canonical_form import Canonical
from knuckle.model.canonical.offset_joint import Offset
from knuckle.model.surfaces import Surface
from knuckle.scalar import ONE, ZERO, constant, less, maximum, select
from knuckle.spatial import Vector
from knuckle.spatial.three import Vec3, cross, sub

RECOVERY = 0.2
"""The part of an overlap that a step takes back."""
OVERLAP = 1e-9
"""An overlap, in metres or radians, of which nothing is taken back."""


MOST_RESPONSES = 3600
"""Responses of one impulse to another in one step at most: to compile the code of more would take minutes."""


SIX = 6
"""The freedoms of a body: more rows than these between two bodies depend on each other."""
MOST_AXES = 24
"""Axes up to which their inertia is formed."""
UNITS: tuple[Vec3, ...] = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))


class Contact(NamedTuple):
    """The rows of a contact, of friction at a joint or of a joint's limit; its law, gap and rebound.

    Where it has a stiffness, its normal force is that of a spring and damper, and so is the rebound.
    """

    rows: tuple[UnitImpulse, ...]
    law: Cone | Bounds
    gap: Any = None
    restitution: Any = ZERO
    stiffness: Any = None
    damping: Any = ZERO

    @property
    def is_soft(self) -> bool:
        """Whether its normal force is that of a spring."""
        return self.stiffness is not None

    @property
    def is_stop(self) -> bool:
        """Whether something rigid is not to be passed."""
        return self.gap is not None and not self.is_soft

    def compliance(self, dt: Any) -> Any:
        """What a unit of normal impulse adds to the velocity that a spring and damper allow: 1/(dt (k dt + d))."""
        if not self.is_soft:
            return ZERO
        return 1 / (dt * (self.stiffness * dt + self.damping))

    def slack(self, dt: Any) -> Any:
        """By how much the normal velocity may go below zero: gap/dt, so that the gap closes and no more.

        A spring of stiffness k with a damper d pushes with −k (gap + dt u) − d u at the end of the step.
        """
        if self.is_soft:
            return self.gap * (self.stiffness / (self.stiffness * dt + self.damping))
        return ZERO if self.gap is None else maximum(self.gap, 0.0) / dt

    def rebound(self, approach: Any, dt: Any) -> Any:
        """What restitution asks for besides the slack: e times the approach instead of it, where the pair strikes."""
        strikes = select(less(approach, 0), select(less(self.gap + dt * approach, 0), 1.0, 0.0), 0.0)
        return select(less(0.5, strikes), self.restitution * approach - self.slack(dt), 0.0)

    def recovery(self, dt: Any) -> Any:
        """The velocity that takes back a part of an overlap."""
        return RECOVERY * maximum(-self.gap - OVERLAP, 0.0) / dt


def chosen_pairs(model: Model, pairs: tuple[int, ...] | None) -> list[ContactPair]:
    """The pairs of these numbers, in the order of `kn.contact.contact_pairs`; all of them, where it is None."""
    every = contact_pairs(model)
    return list(every) if pairs is None else [every[k] for k in pairs]


def on_canonical(form: Canonical, pair: ContactPair) -> ContactPair:
    """A pair as one of the bodies of the canonical form."""
    first, second = (
        form.place(body, shape.X) for body, shape in ((pair.first, pair.first_shape), (pair.second, pair.second_shape))
    )
    return replace(
        pair,
        first=first.body,
        second=second.body,
        first_shape=replace(pair.first_shape, X=first.X),
        second_shape=replace(pair.second_shape, X=second.X),
    )


def contacts_of(
    model: Model, q: Any, X0: Any, dt: Any, joint_limits: bool, pairs: Iterable[ContactPair]
) -> Iterator[Contact]:
    """All that impulses act on, in the order of the impulses: places of pairs, friction of joints, limits of joints."""
    detector = Detector()
    for pair in pairs:
        X, Y = placed_shapes(pair, X0)
        for place in detector.places(pair.first_shape.shape, X, pair.second_shape.shape, Y):
            yield _touching(model, X0, pair, place)
    yield from contacts_at_joints(model, q, dt, joint_limits)


def contacts_at_joints(model: Model, q: Any, dt: Any, joint_limits: bool) -> Iterator[Contact]:
    """Friction of joints, and limits of joints."""
    for i, joint in enumerate(model.joints):
        for k, f in enumerate(joint.friction):
            if constant(f) is not ZERO:
                yield Contact((UnitImpulse({}, {(i, k): 1.0}),), Bounds(-f * dt, f * dt))
    for i, joint in enumerate(model.joints) if joint_limits else ():
        if not _has_limits(joint.type):
            continue
        for k, (low, high) in enumerate(zip(joint.limits.lower, joint.limits.upper, strict=True)):
            if low > -math.inf:
                yield Contact((UnitImpulse({}, {(i, k): 1.0}),), PUSHES, q[i][k] - low)
            if high < math.inf:
                yield Contact((UnitImpulse({}, {(i, k): -1.0}),), PUSHES, high - q[i][k])


def _has_limits(kind: Joint) -> bool:
    """Whether the ranges of a joint's variables are places where it stops."""
    return is_plain(kind.joint if isinstance(kind, Offset) else kind) and not kind.has_charts


def _touching(model: Model, X0: Any, pair: ContactPair, place: TouchPoint) -> Contact:
    """A place at which two shapes may touch: the normal, two ways across it, and turning about all three."""
    mu, torsional, rolling = (
        constant(x) for x in (pair.surface.friction, pair.surface.torsional, pair.surface.rolling)
    )
    normal, *across = axes_at(place.normal)
    rows = [row(model, X0, pair.first, pair.second, place.point, normal)]
    if mu is not ZERO:
        rows += [row(model, X0, pair.first, pair.second, place.point, d) for d in across]
    turns = [*([normal] if torsional is not ZERO else ()), *(across if rolling is not ZERO else ())]
    rows += [turning_row(model, X0, pair.first, pair.second, axis) for axis in turns]
    law = PUSHES if len(rows) == 1 else Cone(mu, torsional, rolling)
    return Contact(tuple(rows), law, place.gap, *rebound_of(pair.surface))


def rebound_of(surface: Surface) -> tuple[Any, Any, Any]:
    """e, stiffness and damping of a contact: a surface with a stiffness has the rebound of its spring."""
    e = ZERO if surface.stiffness is not None else constant(surface.restitution)
    return e, surface.stiffness, 0.0 if surface.damping is None else surface.damping


class RowAxes(NamedTuple):
    """Rows by the axes that they act along: the axes, and of each row the part along each of them."""

    axes: list[UnitImpulse]
    parts: list[dict[int, Any]]


def axes_of(model: Model, X0: PerBody, rows: Sequence[UnitImpulse], may_share: Sequence[bool]) -> RowAxes:
    """The rows themselves; but six axes for those that act between the same two bodies, where they are more than six.

    These are couples and forces at the origin of a body. Those that may not share axes are axes themselves, and all of
    them are where axes would be many.
    """
    counts = Counter(row.bodies for row, may in zip(rows, may_share, strict=True) if may and row.bodies)
    if len(rows) - sum(max(0, n - SIX) for n in counts.values()) > MOST_AXES:
        counts.clear()
    axes, parts, first = list[UnitImpulse](), list[dict[int, Any]](), dict[tuple[int, int], int]()
    for unit, may in zip(rows, may_share, strict=True):
        if not may or unit.bodies is None or unit.wrench is None or counts[unit.bodies] <= SIX:
            parts.append({len(axes): ONE})
            axes.append(unit)
            continue
        i, j = unit.bodies
        at = X0[i if i != ROOT else j].r
        if unit.bodies not in first:
            first[unit.bodies] = len(axes)
            axes += [turning_row(model, X0, i, j, axis) for axis in UNITS]
            axes += [row(model, X0, i, j, at, axis) for axis in UNITS]
        moment = sub(unit.wrench.angular, cross(at, unit.wrench.linear))
        own = (constant(x) for x in (*moment, *unit.wrench.linear))
        parts.append({first[unit.bodies] + k: x for k, x in enumerate(own) if x is not ZERO})
    return RowAxes(axes, parts)


def impulse_count(model: Model, joint_limits: bool, pairs: tuple[int, ...] | None = None) -> int:
    """How many impulses there are."""
    return sum(len(contact.rows) for contact in _at_start(model, joint_limits, pairs))


class PlaceImpulses(NamedTuple):
    """Where the impulses of a place at which two shapes may touch are in the memory of `ContactSteps`.

    The first is along the normal, on the first body of the pair; with friction two follow along the axes that
    `shape_gaps.axes_at` gives to the normal, then moments about the normal and about these axes, where there are any.
    """

    pair: int
    place: int
    impulses: slice


def impulses_of_places(model: Model, pairs: tuple[int, ...] | None = None) -> list[PlaceImpulses]:
    """The impulses of each place, in order; `pair` is a number in `kn.contact.contact_pairs`, `place` counts in it."""
    every, found, n = contact_pairs(model), list[PlaceImpulses](), 0
    for k in range(len(every)) if pairs is None else pairs:
        for place, contact in enumerate(_at_start(model.replace(joints=_frictionless(model)), False, (k,))):
            found.append(PlaceImpulses(k, place, slice(n, n + len(contact.rows))))
            n += len(contact.rows)
    return found


def _frictionless(model: Model) -> tuple[Any, ...]:
    return tuple(replace(joint, friction=()) for joint in model.joints)


def _at_start(model: Model, joint_limits: bool, pairs: tuple[int, ...] | None) -> list[Contact]:
    now = model.at_time(0.0) if model.depends_on_time else model
    q = now.positions(Vector(now.start))
    return list(contacts_of(now, q, positions(now, q), 1.0, joint_limits, chosen_pairs(now, pairs)))


def must_be_few(model: Model, joint_limits: bool, pairs: tuple[int, ...] | None) -> None:
    """An error if the impulses of a step would change each other's velocities in more ways than a text can hold."""
    if why := why_too_many(model, joint_limits, pairs):
        advice = "kn.simulate solves any number of them, and kn.rollout does where it can: with kernels or arrays for "
        advice += "forces, without closed loops, followers, joint_limits, model_fn and save_contacts. Else take"
        take = advice if pairs is None else "Take"
        less = "bodies out of contact, give them fewer shapes (kn.model.edit.keep_collisions), or say contacts=False"
        raise ModelError(f"{why}. {take} {less}")


def why_too_many(model: Model, joint_limits: bool, pairs: tuple[int, ...] | None) -> str:
    """In words, where the impulses of a step are too many for a text; else nothing."""
    contacts = _at_start(model, joint_limits, pairs)
    sizes = [len(contact.rows) for contact in contacts]
    if sum(sizes) ** 2 <= MOST_RESPONSES:
        return ""
    moved = [_moved(model, contact) for contact in contacts]
    together = sum(n * m for n, a in zip(sizes, moved, strict=True) for m, b in zip(sizes, moved, strict=True) if a & b)
    if together <= MOST_RESPONSES:
        return ""
    count, near = (len(contact_pairs(model)), "") if pairs is None else (len(pairs), "near ")
    return (
        f"{model.name} has {count} {near}pairs of shapes with {sum(sizes)} impulses that act on each other in "
        f"{together} ways, and a compiled step takes at most {MOST_RESPONSES}"
    )


def _moved(model: Model, contact: Contact) -> set[int]:
    """The joints that an impulse of a contact may move directly."""
    bodies = {i for row in contact.rows for i in (*row.forces, *(joint for joint, _ in row.variables))}
    return {j for i in bodies for j in (i, *model.ancestors(i)) if j >= 0}
