"""The record of an event in a trajectory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class EventRecord:
    """An event that occurred, or what happened at a stop or at a contact of two bodies: its time and state.

    `kind` is "event"; "impact", "rest" or "release" at a stop; "impact", "contact", "release", "slip" or "stick" of two
    bodies, whose names are in `name`; `v` is the velocity after it, `v_before` that before it.
    """

    time: float
    name: str
    kind: str
    q: Array = field(repr=False)
    v: Array = field(repr=False)
    v_before: Array = field(repr=False)
