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
    from .beginning import resume
    from .events import Event, Occurrence
    from .simulation import simulate
    from .stops import CompliantStops, RigidStops
    from .trajectory import Instant, Trajectory

__all__ = ["CompliantStops", "Event", "Instant", "Occurrence", "RigidStops", "Trajectory", "resume", "simulate"]

_WHERE = {
    "CompliantStops": "stops",
    "Event": "events",
    "Instant": "trajectory",
    "Occurrence": "events",
    "RigidStops": "stops",
    "Trajectory": "trajectory",
    "resume": "beginning",
    "simulate": "simulation",
}
"""The module of each name, loaded when it is first asked for."""


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _CallableModule(ModuleType):
    """The package under the name of its main function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Trajectory:
        return self.simulate(*args, **kwargs)

    @property
    def __signature__(self) -> Signature:
        return signature(self.simulate)


sys.modules[__name__].__class__ = _CallableModule
