"""What a motion knows of its contacts: what its run noted, to be read where it is asked for, or what was read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

from numpy.typing import NDArray

from .motion_contacts import MotionContacts

Array: TypeAlias = NDArray[Any]


class NotedContacts(ABC):
    """What a run noted of its contacts."""

    @property
    @abstractmethod
    def has_events(self) -> bool:
        """Whether contacts were found from event to event."""

    @abstractmethod
    def rows(self, which: Any, count: int) -> NotedContacts:
        """Those of some rows of a motion of `count` rows, in any order."""

    @abstractmethod
    def read(self, times: Array) -> MotionContacts:
        """The contacts of a motion with rows at these times."""


KnownContacts: TypeAlias = NotedContacts | MotionContacts


def known_rows(known: KnownContacts | None, which: Any, count: int) -> KnownContacts | None:
    """What is known of some rows of a motion of `count` rows."""
    if isinstance(known, NotedContacts):
        return known.rows(which, count)
    return None if known is None else known.rows(which)


def read_contacts(known: KnownContacts, times: Array) -> MotionContacts:
    """The contacts of a motion with rows at these times."""
    return known.read(times) if isinstance(known, NotedContacts) else known
