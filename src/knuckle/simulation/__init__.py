"""Through time: integrators on the configuration manifold, simulation, trajectories, rollouts.

`knuckle.simulate` is this package and can be called: it is the function `knuckle.simulate.simulate` as well, which says
what its arguments are.
"""

from __future__ import annotations

import sys
from importlib import import_module
from inspect import Signature, signature
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knuckle.trajectory.occurrence import Occurrence
    from knuckle.trajectory.trajectory import Instant, Trajectory

    from .events.event import Event
    from .long_runs.run_spec import resume
    from .simulate import simulate
    from .steps.step_size import Pace, advance, first_pace
    from .steps.step_text import Text
    from .steps.stepper import Stepper, stepper
    from .stops.stop_spec import CompliantStops, RigidStops

__all__ = [
    "CompliantStops",
    "Event",
    "Instant",
    "Occurrence",
    "Pace",
    "RigidStops",
    "Stepper",
    "Text",
    "Trajectory",
    "advance",
    "first_pace",
    "resume",
    "simulate",
    "stepper",
]

_WHERE = {
    "CompliantStops": "simulation.stops.stop_spec",
    "Event": "simulation.events.event",
    "Instant": "trajectory.trajectory",
    "Occurrence": "trajectory.occurrence",
    "Pace": "simulation.steps.step_size",
    "RigidStops": "simulation.stops.stop_spec",
    "Stepper": "simulation.steps.stepper",
    "Text": "simulation.steps.step_text",
    "Trajectory": "trajectory.trajectory",
    "advance": "simulation.steps.step_size",
    "first_pace": "simulation.steps.step_size",
    "resume": "simulation.long_runs.run_spec",
    "simulate": "simulation.simulate",
    "stepper": "simulation.steps.stepper",
}
"""The module of each name, loaded when it is first asked for."""


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"knuckle.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _CallableModule(ModuleType):
    """The package under the name of its main function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Trajectory:
        return self.simulate(*args, **kwargs)

    @property
    def __signature__(self) -> Signature:
        return signature(self.simulate)


sys.modules[__name__].__class__ = _CallableModule
