"""Mechanisms through time: simulation, events, stops, dry friction, rollouts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .events.event import Event
    from .long_runs.run_spec import resume
    from .steps.step_size import Pace, advance, first_pace
    from .steps.step_text import Text
    from .steps.stepper import Stepper, stepper
    from .stops.stop_spec import CompliantStops, RigidStops

__all__ = [
    "CompliantStops",
    "Event",
    "Pace",
    "RigidStops",
    "Stepper",
    "Text",
    "advance",
    "first_pace",
    "resume",
    "stepper",
]

_WHERE = {
    "CompliantStops": "stops.stop_spec",
    "Event": "events.event",
    "Pace": "steps.step_size",
    "RigidStops": "stops.stop_spec",
    "Stepper": "steps.stepper",
    "Text": "steps.step_text",
    "advance": "steps.step_size",
    "first_pace": "steps.step_size",
    "resume": "long_runs.run_spec",
    "stepper": "steps.stepper",
}
"""The module of each name, loaded when it is first asked for."""


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
