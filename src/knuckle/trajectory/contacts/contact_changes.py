"""What happens at contacts along a motion: its events, where they are not found by the run itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.trajectory.event_record import EventRecord

from .motion_contacts import MotionContacts

Array: TypeAlias = NDArray[Any]

KINDS = ("impact", "contact", "release", "slip", "stick")
"""What happens at contacts, in the order in which it is listed at one instant."""
LOUD = 1e-3
"""The approach, in m/s, from which on a touch may be an impact."""


def pair_name(names: tuple[str, str]) -> str:
    """What two bodies that touch are called in events."""
    return f"{names[0]} on {names[1]}"


def contact_changes(
    contacts: MotionContacts, q: Array, v: Array, dt: float | None, gravity: float
) -> tuple[EventRecord, ...]:
    """The changes between the rows of a motion, pair by pair of bodies.

    An impact is a touch after an approach that is faster than twice what gravity gives in a step. A touch of one row
    that is an impact is nothing else: the bodies bounced.
    """
    found: list[tuple[int, int, str]] = []
    loud = max(LOUD, 2 * gravity * (dt or 0.0))
    names = [pair_name(x) for x in contacts.bodies]
    owners = np.array([names.index(name) for name in names], int)[contacts.pair] if names else contacts.pair
    for pair in np.unique(owners).tolist():
        own = contacts.chosen(owners == pair)
        found += [(row, KINDS.index(kind), names[pair]) for row, kind in _changes(own, loud)]
    return tuple(
        EventRecord(float(contacts.times[row]), name, KINDS[kind], q[row], v[row], v[max(row - 1, 0)])
        for row, kind, name in sorted(found)
    )


def _changes(own: MotionContacts, loud: float) -> Iterator[tuple[int, str]]:
    """Rows and what happens there, of one pair of bodies."""
    n = len(own.times)
    touches, slides, speed = np.zeros(n + 1, bool), np.zeros(n + 1, bool), np.zeros(n + 1)
    touches[own.row] = True
    np.logical_or.at(slides, own.row, ~own.sticks)
    np.maximum.at(speed, own.row, own.approach)
    before = np.concatenate([[False], touches[:-1]])
    for row in np.flatnonzero(touches & ~before).tolist():
        is_loud, lasts = bool(row) and speed[row] > loud, touches[row + 1]
        if is_loud:
            yield row, "impact"
        if lasts or not is_loud:
            yield row, "contact"
    for row in np.flatnonzero(before & ~touches).tolist():
        is_bounce = row >= 2 and not touches[row - 2] and speed[row - 1] > loud
        if row < n and not is_bounce:
            yield row, "release"
    changed = np.flatnonzero(touches[1:] & touches[:-1] & (slides[1:] != slides[:-1])) + 1
    for row in changed.tolist():
        yield row, "slip" if slides[row] else "stick"
