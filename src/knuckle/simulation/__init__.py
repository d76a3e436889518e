"""Mechanisms through time: simulation, events, stops, dry friction, rollouts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .events.event import Event
    from .long_runs.run_spec import resume
    from .steps.step_size import StepSize, advance, first_step_size
    from .steps.step_text import StepText
    from .steps.stepper import Stepper, stepper
    from .stops.stop_spec import CompliantStops, RigidStops

__all__ = [
    "CompliantStops",
    "Event",
    "RigidStops",
    "StepSize",
    "StepText",
    "Stepper",
    "advance",
    "first_step_size",
    "resume",
    "stepper",
]

_WHERE = {
    "CompliantStops": "stops.stop_spec",
    "Event": "events.event",
    "RigidStops": "stops.stop_spec",
    "StepSize": "steps.step_size",
    "StepText": "steps.step_text",
    "Stepper": "steps.stepper",
    "advance": "steps.step_size",
    "first_step_size": "steps.step_size",
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
