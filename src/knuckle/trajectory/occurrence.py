"""What is written down of an event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Occurrence:
    """An event that occurred, or something that stops did: at which time, in which state.

    `kind` is "event", "impact", "rest" or "release"; `v` is the velocity after it, `v_before` that before it.
    """

    time: float
    name: str
    kind: str
    q: Array = field(repr=False)
    v: Array = field(repr=False)
    v_before: Array = field(repr=False)
