"""Mechanisms through time: simulation, events, stops, dry friction, rollouts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .events.event import Event
    from .gradients.linearize import Linearization
    from .gradients.rollout_gradient import RolloutGradient
    from .gradients.rollout_loss import rollout_loss
    from .long_runs.run_spec import resume
    from .ode import ode_right_hand_side
    from .rollout.rollout_result import Rollout
    from .steps.step_size import StepSize, advance, first_step_size
    from .steps.step_text import StepText
    from .steps.stepper import Stepper, stepper
    from .stops.stop_spec import CompliantStops, RigidStops

__all__ = [
    "CompliantStops",
    "Event",
    "Linearization",
    "RigidStops",
    "Rollout",
    "RolloutGradient",
    "StepSize",
    "StepText",
    "Stepper",
    "advance",
    "first_step_size",
    "ode_right_hand_side",
    "resume",
    "rollout_loss",
    "stepper",
]

_WHERE = {
    "CompliantStops": "stops.stop_spec",
    "Event": "events.event",
    "Linearization": "gradients.linearize",
    "RigidStops": "stops.stop_spec",
    "Rollout": "rollout.rollout_result",
    "RolloutGradient": "gradients.rollout_gradient",
    "StepSize": "steps.step_size",
    "StepText": "steps.step_text",
    "Stepper": "steps.stepper",
    "advance": "steps.step_size",
    "first_step_size": "steps.step_size",
    "ode_right_hand_side": "ode",
    "resume": "long_runs.run_spec",
    "rollout_loss": "gradients.rollout_loss",
    "stepper": "steps.stepper",
}
"""The module of each name, loaded when it is first asked for."""


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
