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
Dense: TypeAlias = Callable[[float], "tuple[Array, Array]"]


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
        found = self.function(t, q, v)
        try:
            value = float(found)
        except (TypeError, ValueError):
            raise TypeError(f"event {self.name!r} gives {found!r}, and should give one number") from None
        if math.isnan(value):
            raise ValueError(f"event {self.name!r} gives NaN at t = {t:.9g} s, and should give a number in every state")
        return value

    def counts(self, old: float, new: float) -> bool:
        """Whether going from one value to another is an occurrence: from off zero to zero or beyond."""
        rises, falls = old < 0 <= new, old > 0 >= new
        return (rises and self.direction >= 0) or (falls and self.direction <= 0)


Given: TypeAlias = Event | Watched | Iterable[Event | Watched] | Mapping[str, Event | Watched] | None


def events_from(given: Given) -> tuple[Event, ...]:
    """Events as they are given to `simulate`: one or several, events or plain functions, with names or without."""
    if given is None:
        return ()
    if isinstance(given, Event):
        return (given,)
    if isinstance(given, Mapping):
        named = [(str(name), _event(item)) for name, item in given.items()]
        return tuple(Event(e.function, name, e.direction, e.stop, e.action) for name, e in named)
    if callable(given):
        return (Event(given),)
    return tuple(map(_event, given))


def _event(item: Any) -> Event:
    return item if isinstance(item, Event) else Event(item)


def root(g: Callable[[float], float], a: float, b: float, ga: float, gb: float) -> float:
    """The place between a and b where g changes its sign, to the last digits (Chandrupatla, 1997).

    Inverse quadratic interpolation where three points lie on something like a parabola, bisection elsewhere. Of the two
    neighbours that enclose the root, the one with the smaller |g| is given.
    """
    if ga == 0 or gb == 0:
        return a if ga == 0 else b
    c, gc, x = a, ga, 0.5
    for _ in range(200):
        m = a + x * (b - a)
        gm = g(m)
        if (gm > 0) == (ga > 0) and gm != 0:
            c, gc = a, ga
        else:
            c, b, gc, gb = b, a, gb, ga
        a, ga = m, gm
        best, value = (a, ga) if abs(ga) < abs(gb) else (b, gb)
        width = abs(b - a)
        smallest = 2 * math.ulp(max(abs(best), width)) / width if width else 1.0
        if value == 0 or smallest > 0.5:
            return best
        xi, phi = (a - b) / (c - b), (ga - gb) / (gc - gb)
        if phi**2 < xi and (1 - phi) ** 2 < 1 - xi:
            x = ga / (gb - ga) * gc / (gb - gc) + (c - a) / (b - a) * ga / (gc - ga) * gb / (gc - gb)
        else:
            x = 0.5
        x = min(1 - smallest, max(smallest, x))
    return a if abs(ga) < abs(gb) else b
