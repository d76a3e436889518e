"""Events being watched: their last values, and what is written down when they occur."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.model import Model
from knuckle.trajectory.occurrence import Occurrence

from .event import Event

Array = NDArray[Any]


class Watch:
    """The events of a simulation: `values` are those of their functions where it stands."""

    def __init__(self, events: tuple[Event, ...], model: Model, occurrences: list[Occurrence]) -> None:
        self.events, self.values = events, list[float]()
        self._model, self._occurrences = model, occurrences
        self._fired: dict[int, float] = {}

    def look(self, t: float, q: Array, v: Array) -> list[float]:
        """The values in a state."""
        return [event.value(t, q, v) for event in self.events]

    def is_quiet(self, new: list[float]) -> bool:
        """Whether no event occurs on the way to these values."""
        return not any(map(Event.counts, self.events, self.values, new))

    def accept(self, values: list[float]) -> None:
        """A step is over."""
        self.values, self._fired = values, {}

    def begin_again(self, t: float, q: Array, v: Array, close: float) -> None:
        """The motion goes on from within a step. What has just occurred is at zero, and does not occur again."""
        self.values = self.look(t, q, v)
        for k, when in self._fired.items():
            if t - when <= close:
                self.values[k] = 0.0
        self._fired = {}

    def note(self, t: float, name: str, kind: str, q: Array, v: Array, v_before: Array) -> None:
        """Writes down what occurred."""
        self._occurrences.append(Occurrence(t, name, kind, q.copy(), v.copy(), v_before.copy()))

    def left_zero(self, pending: tuple[int, ...], t: float, q: Array, v: Array, values: list[float]) -> None:
        """Events that were at zero at the beginning are written down if they leave it in their direction."""
        for k in pending:
            event = self.events[k]
            if values[k] != 0 and event.direction * values[k] >= 0:
                self.note(t, event.name, "event", q, v, v)

    def fire(self, k: int, t: float, q: Array, v: Array, v_before: Array) -> tuple[Array, Array] | None:
        """An event occurs: it is written down and acted upon. Gives the state to go on from, if that is another."""
        event = self.events[k]
        self.note(t, event.name, "event", q, v, v_before)
        self._fired[k] = t
        result = None if event.action is None else event.action(t, q.copy(), v.copy())
        return None if result is None else self._state_from(event, t, result)

    def _state_from(self, event: Event, t: float, result: Any) -> tuple[Array, Array]:
        """The state that an action gives."""
        said = f"the action of event {event.name!r}"
        try:
            q, v = (np.array(x, float) for x in result)
        except (TypeError, ValueError):
            raise TypeError(f"{said} gives {result!r}, not None or a state (q, v)") from None
        for name, x, n in (("q", q, self._model.nq), ("v", v, self._model.nv)):
            if x.shape != (n,):
                raise ValueError(f"{said} gives {name} of shape {x.shape}, not ({n},)")
            if not np.isfinite(x).all():
                raise ValueError(f"{said} at t = {t:.9g} s gives a {name} that is not finite: {x}")
        return q, v
