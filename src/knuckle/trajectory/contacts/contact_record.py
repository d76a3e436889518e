"""From what a run noted to the contacts of its motion, by the functions that its steps were made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.contact.impulse_laws import RIM
from knuckle.algorithms.contact.shape_gaps import axes_at
from knuckle.contact.contact_pairs import ContactPair, contact_pairs
from knuckle.contact.contact_terms import placed_shapes
from knuckle.contact.detection import Detector
from knuckle.contact.shape_collider import ShapeCollider, place_counts
from knuckle.contact.soft_contact import force_at, places_in, springs_of
from knuckle.integrators.methods.collider_steps import ColliderSteps
from knuckle.integrators.methods.contact_impulses import impulses_of_places
from knuckle.integrators.methods.contact_steps import ContactSteps
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts, RigidContacts
from knuckle.spatial import Vector

from .body_states import BodyStates, body_twists, columns, velocities_at
from .contact_log import NotedRows, joined
from .known_contacts import NotedContacts
from .motion_contacts import MotionContacts, Touches, together

Array: TypeAlias = NDArray[Any]
Method: TypeAlias = ContactSteps | ColliderSteps | CompliantContacts | RigidContacts

MOVING = 1e-6
"""The speed, in m/s, from which on a contact at the limit of its friction slides."""
AT_ONCE = 8192
"""Rows that are read together."""


@dataclass(frozen=True, eq=False)
class ContactRecord(NotedContacts):
    """What a run noted of its contacts, and the method that found them."""

    model: Model
    method: Method
    notes: tuple[NotedRows, ...]

    @property
    def has_events(self) -> bool:
        return isinstance(self.method, RigidContacts)

    def rows(self, which: Any, count: int) -> ContactRecord:
        chosen = np.arange(count)[which]
        return replace(self, notes=tuple(part.renumbered(chosen) for part in joined(self.notes)))

    def read(self, times: Array) -> MotionContacts:
        found: list[Touches] = []
        for part in joined(self.notes):
            for start in range(0, len(part.row), AT_ONCE):
                found += self._touches(part.chosen(np.arange(start, min(start + AT_ONCE, len(part.row)))))
        return together(times, found)

    def _touches(self, part: NotedRows) -> Iterator[Touches]:
        match self.method:
            case ContactSteps():
                return _of_steps(self.model, part)
            case ColliderSteps(collider=collider):
                return _of_collider(self.model, collider, part)
            case CompliantContacts():
                return _of_soft(self.model, self.method, part)
            case _:
                return _of_events(self.model, part)


def shape_names(pair: ContactPair) -> tuple[str, str]:
    """The names of both shapes; empty where they have none."""
    return pair.first_shape.name, pair.second_shape.name


class _Places:
    """The places of pairs in the states of some notes: found where they are asked for, on arrays of states."""

    def __init__(self, model: Model, part: NotedRows) -> None:
        self._bodies, self._detector = BodyStates.of(model, part.t, part.q), Detector()

    def of(self, pair: ContactPair, which: Array) -> list[tuple[Array, Array, Array]]:
        """Gap (n,), point (n, 3) and normal (n, 3) of each place of a pair, in some of the states."""
        X0 = {i: self._bodies.transform(i, which) for i in (pair.first, pair.second)}
        X, Y = placed_shapes(pair, X0)
        n = len(which)
        places = self._detector.places(pair.first_shape.shape, X, pair.second_shape.shape, Y)
        return [(columns([x.gap], n)[:, 0], columns(x.point, n), columns(x.normal, n)) for x in places]


def axes_of(normal: Array) -> Array:
    """(n, 3, 3): normals and the two directions across them, as rows."""
    axes = axes_at((normal[:, 0], normal[:, 1], normal[:, 2]))
    return np.stack([columns(axis, len(normal)) for axis in axes], axis=1)


@dataclass(frozen=True, eq=False)
class _Solved:
    """What steps found at one place of a pair, in the rows in which it pushed."""

    pair: ContactPair
    place: int
    which: Array
    impulses: Array
    """(n, 6): along the normal and across it, then moments about these axes"""
    gap: Array
    point: Array
    normal: Array


def _touched(model: Model, part: NotedRows, solved: Sequence[_Solved]) -> Iterator[Touches]:
    """The contacts of steps: forces are impulses over the length of the step."""
    before = body_twists(model, part.t, part.q, part.v)
    after = body_twists(model, part.t, part.q, part.after, part.h)
    for x in solved:
        pair, axes, which = x.pair, axes_of(x.normal), x.which
        impulse, turn = (np.einsum("ki,kij->kj", x.impulses[:, own], axes) for own in (slice(3), slice(3, 6)))
        old, new = (velocities_at(twists, pair.first, pair.second, which, x.point) for twists in (before, after))
        slip = new - np.einsum("ki,ki->k", new, x.normal)[:, None] * x.normal
        mu, across = float(pair.surface.friction), np.linalg.norm(x.impulses[:, 1:3], axis=1)
        at_limit = across >= RIM * mu * x.impulses[:, 0]
        h = part.h[which][:, None]
        yield Touches(
            pair.names(model), shape_names(pair), x.place, part.row[which], x.gap, x.point, x.normal,
            impulse / h, turn / h, impulse, slip, -np.einsum("ki,ki->k", old, x.normal),
            at_limit & ((np.linalg.norm(slip, axis=1) > MOVING) | (mu == 0)),
        )  # fmt: skip


def _six(impulses: Array, has_friction: bool, turns: bool, rolls: bool) -> Array:
    """Impulses of a place as its rows are: along three axes, and about them."""
    six = np.zeros((len(impulses), 6))
    used = [0, *([1, 2] if has_friction else []), *([3] if turns else []), *([4, 5] if rolls else [])]
    six[:, used] = impulses
    return six


def _of_steps(model: Model, part: NotedRows) -> Iterator[Touches]:
    """Of compiled steps: a place has a slot in the impulses."""
    places, pairs, solved = _Places(model, part), contact_pairs(model), list[_Solved]()
    by_pair: dict[int, list[Any]] = {}
    for slot in impulses_of_places(model, part.pairs):
        by_pair.setdefault(slot.pair, []).append(slot)
    for k, slots in by_pair.items():
        pushes = np.stack([part.values[:, slot.impulses.start] > 0 for slot in slots], axis=1)
        which = np.flatnonzero(pushes.any(axis=1))
        if not len(which):
            continue
        pair, surface = pairs[k], pairs[k].surface
        kinds = surface.friction > 0, surface.torsional > 0, surface.rolling > 0
        for slot, (gap, point, normal) in zip(slots, places.of(pair, which), strict=True):
            own = np.flatnonzero(pushes[which, slot.place])
            impulses = _six(part.values[which[own], slot.impulses], *kinds)
            solved.append(_Solved(pair, slot.place, which[own], impulses, gap[own], point[own], normal[own]))
    return _touched(model, part, [x for x in solved if len(x.which)])


def _of_collider(model: Model, collider: ShapeCollider, part: NotedRows) -> Iterator[Touches]:
    """Of steps on numbers: places are found by the collider, row by row."""
    kinds = [any(getattr(p.surface, x) > 0 for p in collider.pairs) for x in ("friction", "torsional", "rolling")]
    m, n = 1 + 2 * kinds[0] + kinds[1] + 2 * kinds[2], sum(collider.counts)
    impulses = part.values[:, : m * n].reshape(-1, n, m)
    rows = np.stack([collider.places(q) for q in part.q])
    solved, k = list[_Solved](), 0
    for pair, count in zip(collider.pairs, collider.counts, strict=True):
        for place in range(count):
            which = np.flatnonzero(impulses[:, k, 0] > 0)
            six, at = _six(impulses[which, k], kinds[0], kinds[1], kinds[2]), rows[which, k]
            solved.append(_Solved(pair, place, which, six, at[:, 0], at[:, 1:4], at[:, 4:7]))
            k += 1
    return _touched(model, part, [x for x in solved if len(x.which)])


def _of_soft(model: Model, contacts: CompliantContacts, part: NotedRows) -> Iterator[Touches]:
    """Of soft contact: forces are functions of the state and of the springs of friction."""
    now, n = model.at_time(part.t), len(part.row)
    touches = places_in(now, contacts, Vector(list(part.q.T)), Vector(list(part.v.T)))[1]
    springs = springs_of(contacts, touches, list(part.values.T) if part.values.shape[1] else None)
    counted: dict[int, int] = {}
    for touch, spring in zip(touches, springs, strict=True):
        pair, (gap, point, normal) = touch.at
        place = counted[id(pair)] = counted.get(id(pair), -1) + 1
        acts = force_at(contacts, touch, spring)
        which = np.flatnonzero(columns([acts.squeeze.force], n)[:, 0] > 0)
        if not len(which):
            continue
        slip = columns(touch.slip, n)[which]
        slides = columns([acts.grip.slides], n)[which, 0] > 0.5
        if contacts.friction != "spring" or pair.surface.friction == 0:
            slides = np.linalg.norm(slip, axis=1) > (contacts.slip_speed if pair.surface.friction else -1.0)
        none = np.zeros((len(which), 3))
        yield Touches(
            pair.names(model), shape_names(pair), place, part.row[which], columns([gap], n)[which, 0],
            columns(point, n)[which], columns(normal, n)[which], columns(acts.force, n)[which], none, none, slip,
            -columns([touch.rate], n)[which, 0], slides,
        )  # fmt: skip


PER_PLACE = 8
"""Numbers that are noted of a place from event to event: a force along three axes, an impulse, an approach, a slip."""


def _of_events(model: Model, part: NotedRows) -> Iterator[Touches]:
    """From event to event: forces are known."""
    values = part.values.reshape(len(part.row), -1, PER_PLACE)
    places, twists, k = _Places(model, part), body_twists(model, part.t, part.q, part.v), 0
    for pair in contact_pairs(model):
        count = place_counts([pair])[0]
        own = values[:, k : k + count]
        k += count
        pushes = (own[..., :6] != 0).any(axis=2)
        which = np.flatnonzero(pushes.any(axis=1))
        for place, (gap, point, normal) in enumerate(places.of(pair, which)) if len(which) else ():
            at = np.flatnonzero(pushes[which, place])
            found = own[which[at], place]
            u = velocities_at(twists, pair.first, pair.second, which[at], point[at])
            slip = u - np.einsum("ki,ki->k", u, normal[at])[:, None] * normal[at]
            yield Touches(
                pair.names(model), shape_names(pair), place, part.row[which[at]], gap[at], point[at], normal[at],
                np.einsum("ki,kij->kj", found[:, :3], axes_of(normal[at])), np.zeros((len(at), 3)), found[:, 3:6],
                slip, found[:, 6], found[:, 7] > 0.5,
            )  # fmt: skip
