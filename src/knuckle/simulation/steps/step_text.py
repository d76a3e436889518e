"""A method of an integrator as a text that kernels are made of."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from knuckle.integrators.base import Integrator, State
from knuckle.integrators.loop_stabilization import Stabilization
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.simulation.controls import Control
from knuckle.simulation.friction.dry_friction import stepped, within_modes


@dataclass(frozen=True)
class Text:
    """A function (model, t, q, v, memory0, …, dt, parameters …) → (q', v', memory0', …), as `kn.kernel` takes it.

    It is the integrator's `step`, or another method with what that takes `besides` the state and gives besides it. The
    parameters are those of the controller and of the external forces. Equal texts share their kernels.
    """

    method: str
    integrator: Integrator
    controller: Control
    external: Control
    memory: int = 0
    besides: tuple[str, ...] = ()
    stabilization: Stabilization = None

    def __post_init__(self) -> None:
        for name in ("__name__", "__qualname__"):  # what a kernel is called by
            object.__setattr__(self, name, self.name)

    @property
    def name(self) -> str:
        return f"{type(self.integrator).__name__}.{self.method}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of what the controller and the external forces ask for besides the state."""
        return tuple(dict.fromkeys((*self.controller.parameters, *self.external.parameters)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments, in order."""
        memory = (f"memory{k}" for k in range(self.memory))
        return "t", "q", "v", *memory, *self.besides, "dt", *self.parameters

    @property
    def __signature__(self) -> inspect.Signature:
        named = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, named) for name in ("model", *self.names)])

    def __call__(self, model: Model, *args: Any, **kwargs: Any) -> Any:
        given = dict(zip(self.names, args, strict=False)) | kwargs
        state = State(given["q"], given["v"], tuple(given[f"memory{k}"] for k in range(self.memory)))
        system, t, dt = self.system(model, {name: given[name] for name in self.parameters}), given["t"], given["dt"]
        if self.method == "step":
            return tuple(_flat(stepped(self.integrator, system, t, state, dt)))
        besides = tuple(given[name] for name in self.besides)
        return tuple(_flat(within_modes(self.method, self.integrator, system, t, state, besides, dt)))

    def system(self, model: Model, parameters: Mapping[str, Any]) -> System:
        """The mechanism under the forces of these parameters."""
        controller, external = self.controller, self.external
        wrenches = (model.nb, model.algebra.dimension)

        def force(at: Model, t: Any, q: Any, v: Any) -> Any:
            return controller(at, t, q, v, parameters, (model.nv,))

        def f_ext(at: Model, t: Any, q: Any, v: Any) -> Any:
            return external(at, t, q, v, parameters, wrenches)

        return System(model, force, f_ext if external.function is not None else None, self.stabilization)


def _flat(result: Any) -> Iterator[Any]:
    """The vectors and numbers of nested tuples, states among them."""
    if isinstance(result, tuple):
        for item in result:
            yield from _flat(item)
    else:
        yield result
