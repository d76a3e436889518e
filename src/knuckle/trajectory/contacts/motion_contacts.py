"""What pushed in a motion: where, how hard, sticking or sliding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

STICK, SLIP = "stick", "slip"


@dataclass(frozen=True, repr=False, eq=False)
class MotionContacts:
    """The contacts that pushed at the n rows of a motion: m of them in all, those of one row after those of another.

    A contact is a place at which two shapes touch. Forces are those on the first body of the pair, in newtons and base
    axes; the second has the opposite ones. `contacts.at(k)` has those of row k, and `contacts.between(name, name)`
    those of two bodies.

    With steps that solve contacts, those of a row are of the step that ended there: the force is its impulse over its
    length, and the point and the normal are those for which it was solved, at its beginning. The first row has none.
    With soft contacts, and from event to event, forces are those at the instant itself.
    """

    times: Array
    """(n,) in seconds, of all rows"""
    bodies: tuple[tuple[str, str], ...]
    """The names of both bodies of each pair of shapes that pushed"""
    shapes: tuple[tuple[str, str], ...]
    """The names of both shapes; empty where a shape has none"""
    row: Array
    """(m,) the row of the motion, from 0; it never decreases"""
    pair: Array
    """(m,) the pair in `bodies` and `shapes`"""
    place: Array
    """(m,) which of the pair's places: a box on a plane has four"""
    gap: Array
    """(m,) in metres, negative where shapes overlap"""
    point: Array
    """(m, 3) half-way between the shapes, in base coordinates"""
    normal: Array
    """(m, 3) of length one, from the second body to the first"""
    force: Array
    """(m, 3) the whole force on the first body, at the point"""
    friction: Array
    """(m, 3) the part of the force across the normal"""
    moment: Array
    """(m, 3) in N m, on the first body besides: of friction against turning and rolling"""
    impulse: Array
    """(m, 3) in N s, on the first body: of the step that ended there, or of an impact at that instant, which has no
    finite force; zero where forces are functions of the state"""
    slip: Array
    """(m, 3) in m/s: the velocity of the first body against the second, across the normal"""
    approach: Array
    """(m,) in m/s: how fast the gap closed before: at the beginning of the step, or before an impact"""
    state: Array
    """(m,) "stick" or "slip" """

    def __len__(self) -> int:
        return len(self.row)

    @property
    def time(self) -> Array:
        """(m,) when each contact pushed, in seconds."""
        return self.times[self.row]

    @property
    def names(self) -> list[tuple[str, str]]:
        """The names of both bodies, contact by contact."""
        return [self.bodies[k] for k in self.pair]

    @property
    def normal_force(self) -> Array:
        """(m,) the size of the force along the normal."""
        return np.einsum("ki,ki->k", self.force, self.normal)

    @property
    def sticks(self) -> Array:
        """(m,) whether a contact sticks; else it slides."""
        return self.state == STICK

    def chosen(self, which: Array) -> MotionContacts:
        """Some of the contacts, by number or by a mask."""
        return replace(self, **{name: getattr(self, name)[which] for name in PER_CONTACT})

    def at(self, row: int) -> MotionContacts:
        """Those of one row of the motion."""
        n = len(self.times)
        if not -n <= row < n:
            raise IndexError(f"row {row} is none of this motion, which has {n}")
        return self.chosen(self.row == row % n)

    def rows(self, which: slice | Sequence[int] | Array) -> MotionContacts:
        """Those of some rows of the motion, which are then all that there are."""
        chosen = np.arange(len(self.times))[which]
        starts, ends = (np.searchsorted(self.row, chosen, side=side) for side in ("left", "right"))
        counts = ends - starts
        first = np.repeat(starts - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        part = self.chosen(np.arange(counts.sum()) + first)
        return replace(part, times=self.times[chosen], row=np.repeat(np.arange(len(chosen)), counts))

    def between(self, name: str, other: str) -> MotionContacts:
        """Those of two bodies, by name and in any order."""
        chosen = {name, other}
        pairs = [k for k, names in enumerate(self.bodies) if set(names) == chosen]
        known = {x for names in self.bodies for x in names}
        for x in chosen - known:
            raise KeyError(f"no body that pushed is called {x!r}; those that did: {', '.join(sorted(known)) or 'none'}")
        return self.chosen(np.isin(self.pair, pairs))

    def __repr__(self) -> str:
        rows = len(np.unique(self.row))
        pairs = dict.fromkeys(" on ".join(names) for names in self.bodies)
        listed = ", ".join(list(pairs)[:6]) + (", …" if len(pairs) > 6 else "")
        count = f"{len(self)} contacts in {rows} of {len(self.times)} rows"
        return f"<knuckle.trajectory.MotionContacts: {count}{': ' + listed if listed else ''}>"


PER_CONTACT = tuple(x.name for x in fields(MotionContacts) if x.name not in ("times", "bodies", "shapes"))
"""The fields with an entry for each contact."""


@dataclass(frozen=True)
class Touches:
    """Contacts of one pair of shapes, at one place of it, in some rows: the fields of `MotionContacts`."""

    bodies: tuple[str, str]
    shapes: tuple[str, str]
    place: int
    row: Array
    gap: Array
    point: Array
    normal: Array
    force: Array
    moment: Array
    impulse: Array
    slip: Array
    approach: Array
    slides: Array


def together(times: Array, found: Sequence[Touches]) -> MotionContacts:
    """All contacts of a motion, in the order of its rows, and in a row in that of pairs and places."""
    pairs = {key: k for k, key in enumerate(dict.fromkeys((x.bodies, x.shapes) for x in found))}

    def joined(name: str, *shape: int) -> Array:
        parts = [getattr(x, name) for x in found]
        return np.concatenate(parts) if parts else np.zeros((0, *shape))

    def counted(values: Sequence[int]) -> Array:
        return np.repeat(np.array(values, int), [len(x.row) for x in found])

    row = joined("row").astype(int)
    pair, place = counted([pairs[x.bodies, x.shapes] for x in found]), counted([x.place for x in found])
    normal, force = joined("normal", 3), joined("force", 3)
    across = force - np.einsum("ki,ki->k", force, normal)[:, None] * normal
    state = np.where(joined("slides").astype(bool), SLIP, STICK)
    whole = MotionContacts(
        times, tuple(names for names, _ in pairs), tuple(shapes for _, shapes in pairs), row, pair, place,
        joined("gap"), joined("point", 3), normal, force, across, joined("moment", 3), joined("impulse", 3),
        joined("slip", 3), joined("approach"), state,
    )  # fmt: skip
    return whole.chosen(np.lexsort((place, pair, row)))
