"""Events: moments at which a function of the state passes through zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Watched: TypeAlias = Callable[[float, Array, Array], float]
Action: TypeAlias = Callable[[float, Array, Array], "tuple[Any, Any] | None"]


@dataclass(frozen=True)
class Event:
    """Something to watch for while a simulation runs.

    Args:
        function: g(t, q, v), a number; the event occurs where it reaches zero or passes through it.
        name: what it is called in the trajectory; the function's own name, if not given.
        direction: 1 counts only where g rises through zero, −1 only where it falls, 0 both.
        stop: whether the simulation ends there.
        action: called as action(t, q, v) when the event occurs. It may return a new state (q, v), from which the
            simulation goes on.
    """

    function: Watched
    name: str = ""
    direction: int = 0
    stop: bool = False
    action: Action | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"an event needs a function g(t, q, v), not {self.function!r}")
        if self.direction not in (-1, 0, 1):
            raise ValueError(f"direction is 1 (rising), -1 (falling) or 0 (both), not {self.direction!r}")
        object.__setattr__(self, "name", self.name or getattr(self.function, "__name__", "event"))

    def value(self, t: float, q: Array, v: Array) -> float:
        """g(t, q, v) as a number; NaN has no sign, so that no passage through zero could be seen."""
        result = self.function(t, q, v)
        try:
            value = float(result)
        except (TypeError, ValueError):
            raise TypeError(f"event {self.name!r} gives {result!r}, and should give one number") from None
        if math.isnan(value):
            raise ValueError(f"event {self.name!r} gives NaN at t = {t:.9g} s, and should give a number in every state")
        return value

    def counts(self, old: float, new: float) -> bool:
        """Whether going from one value to another is an occurrence: from off zero to zero or beyond."""
        rises, falls = old < 0 <= new, old > 0 >= new
        return (rises and self.direction >= 0) or (falls and self.direction <= 0)


Events: TypeAlias = Event | Watched | Iterable[Event | Watched] | Mapping[str, Event | Watched] | None


def events_from(events: Events) -> tuple[Event, ...]:
    """The argument `events` of `simulate`: one or several, events or plain functions, with names or without."""
    if events is None:
        return ()
    if isinstance(events, Event):
        return (events,)
    if isinstance(events, Mapping):
        named = [(str(name), _event(item)) for name, item in events.items()]
        return tuple(Event(e.function, name, e.direction, e.stop, e.action) for name, e in named)
    if callable(events):
        return (Event(events),)
    return tuple(map(_event, events))


def _event(item: Any) -> Event:
    return item if isinstance(item, Event) else Event(item)
