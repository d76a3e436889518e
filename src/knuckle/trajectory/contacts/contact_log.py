"""What a run notes of its contacts as it goes: the impulses of steps, springs of friction, or forces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class NotedRows:
    """What was noted at some rows of a motion, each by a step of its own.

    `values` are numbers of the method: impulses, springs or forces. `pairs` are those of `kn.contact.contact_pairs`
    that the steps looked at; None for all.
    """

    pairs: tuple[int, ...] | None
    row: Array
    """(m,)"""
    t: Array
    """(m,) when the step began"""
    h: Array
    """(m,) its length; 0 for forces at an instant"""
    q: Array
    """(m, nq) where it began"""
    v: Array
    """(m, nv) how fast"""
    after: Array
    """(m, nv) the velocity at its end"""
    values: Array
    """(m, …)"""

    def chosen(self, which: Array) -> NotedRows:
        """Some of them."""
        return NotedRows(self.pairs, *(getattr(self, name)[which] for name in ARRAYS))

    def renumbered(self, rows: Array) -> NotedRows:
        """Those at some rows of the motion, in any order and number, which are counted from 0 then."""
        if not len(self.row):
            return self
        at = np.minimum(np.searchsorted(self.row, rows), len(self.row) - 1)
        there = np.flatnonzero(self.row[at] == rows)
        part = self.chosen(at[there])
        return NotedRows(self.pairs, there, *(getattr(part, name) for name in ARRAYS[1:]))


ARRAYS = tuple(x.name for x in fields(NotedRows) if x.name != "pairs")


class ContactLog:
    """Notes that grow with a run."""

    def __init__(self) -> None:
        self.entries: list[NotedRows] = []

    @property
    def count(self) -> int:
        """How many notes there are."""
        return len(self.entries)

    def add(self, notes: NotedRows) -> None:
        """Some more, of later rows; those in which nothing pushed are left out."""
        if len(notes.row):
            self.entries.append(notes)

    def parts(self, start: int = 0) -> list[NotedRows]:
        """The notes from one on, with those of the same pairs in one."""
        return joined(self.entries[start:])


def joined(notes: Iterable[NotedRows]) -> list[NotedRows]:
    """Notes of the same pairs in one, in the order of rows."""
    by_pairs: dict[tuple[tuple[int, ...] | None, int], list[NotedRows]] = {}
    for part in notes:
        by_pairs.setdefault((part.pairs, part.values.shape[-1]), []).append(part)
    return [
        NotedRows(pairs, *(np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS))
        for (pairs, _), parts in by_pairs.items()
    ]
