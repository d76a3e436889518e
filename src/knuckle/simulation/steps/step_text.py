"""One step of an integrator as a text that kernels are made of: for simulations and for rollouts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from knuckle.integrators.base import Integrator, State
from knuckle.integrators.loop_stabilization import Stabilization
from knuckle.integrators.system import MuscleDrive, System
from knuckle.model import Model
from knuckle.model.elements.muscles.muscle_states import MuscleStates
from knuckle.simulation.controls import MUSCLES, NO_FORCE, Control
from knuckle.simulation.friction.dry_friction import begun, stepped, within_modes
from knuckle.simulation.muscle_inputs import EXCITED, FIRST_ACTIVATIONS, FIRST_FIBERS

APPLIED, WRENCHES = "applied τ", "applied f_ext"
"""Names of the arguments for forces that are held during a step: no names that a controller could have."""


@dataclass(frozen=True)
class StepText:
    """A function (model, t, q, v, memory0, …, dt, parameters …) → (q', v', memory0', …), as `kn.kernel` takes it.

    It is the integrator's `step`, its `start`, or another method with what that takes `besides` the state and gives
    besides it. The parameters are those of the controller, of the external forces and of the mechanism; arguments
    called `APPLIED` and `WRENCHES`, where they are given, are forces that act as well, and `EXCITED` are excitations of
    `muscles`, which have states. Equal texts share their kernels.
    """

    method: str
    integrator: Integrator
    controller: Control = NO_FORCE
    external_forces: Control = NO_FORCE
    memory: int = 0
    besides: tuple[str, ...] = ()
    stabilization: Stabilization = None
    model_fn: Control | None = None
    excitations: Control = NO_FORCE
    muscles: MuscleStates | None = None

    def __post_init__(self) -> None:
        for name in ("__name__", "__qualname__"):  # what a kernel is called by
            object.__setattr__(self, name, self.name)

    @property
    def name(self) -> str:
        return f"{type(self.integrator).__name__}.{self.method}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters of the controller, of the external forces and of the excitations."""
        controls = self.controller, self.external_forces, self.excitations
        return tuple(dict.fromkeys(name for control in controls for name in control.parameters))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments, in order."""
        memory = (f"memory{k}" for k in range(self.memory))
        return "t", "q", "v", *memory, *self.besides, "dt", *self.parameters

    @property
    def __signature__(self) -> inspect.Signature:
        named = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, named) for name in ("model", *self.names)])

    def __call__(self, model: Model, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        values = dict(zip(self.names, args, strict=False)) | kwargs
        system, t, q, v, dt = self.system(model, values), *(values[name] for name in ("t", "q", "v", "dt"))
        if self.method == "start":
            return tuple(_flat(begun(self.integrator, system, t, q, v, dt)))
        state = State(q, v, tuple(values[f"memory{k}"] for k in range(self.memory)))
        if self.method == "step":
            return tuple(_flat(stepped(self.integrator, system, t, state, dt)))
        besides = tuple(values[name] for name in self.besides)
        return tuple(_flat(within_modes(self.method, self.integrator, system, t, state, besides, dt)))

    def system(self, model: Model, values: Mapping[str, Any]) -> System:
        """The mechanism of these parameters under its forces. Controllers know the model that they were made for."""
        controller, external_forces = self.controller, self.external_forces
        moving = model if self.model_fn is None else model_from(self.model_fn, model, values)
        wrenches = (model.nb, model.algebra.dimension)

        def known(at: Model, t: Any) -> Model:
            return at if self.model_fn is None else model.at_time(t) if moving.depends_on_time else model

        def force(at: Model, t: Any, q: Any, v: Any) -> Any:
            if APPLIED not in values:
                return controller(known(at, t), t, q, v, values, (model.nv,))
            if controller.function is None:
                return values[APPLIED]
            return values[APPLIED] + controller(known(at, t), t, q, v, values, (model.nv,))

        def f_ext(at: Model, t: Any, q: Any, v: Any) -> Any:
            if external_forces.function is None:
                return values[WRENCHES]
            return external_forces(known(at, t), t, q, v, values, wrenches)

        acts = external_forces.function is not None or WRENCHES in values
        drive = None if self.muscles is None else self._drive(self.muscles, known, values)
        return System(moving, force, f_ext if acts else None, self.stabilization, muscles=drive)

    def _drive(
        self, which: MuscleStates, known: Callable[[Model, Any], Model], values: Mapping[str, Any]
    ) -> MuscleDrive:
        """What muscles are told: excitations that are given, or those of a function of the state."""

        def excitations(at: Model, t: Any, q: Any, v: Any, z: Any) -> Any:
            if not which.is_excited or self.excitations.function is None:
                return values.get(EXCITED)
            states = dict(zip(MUSCLES, which.apart(z), strict=True))
            return self.excitations(known(at, t), t, q, v, {**values, **states}, (which.muscles,))

        return MuscleDrive(which, excitations, values.get(FIRST_ACTIVATIONS), values.get(FIRST_FIBERS))


def model_from(model_fn: Control, model: Model, values: Mapping[str, Any]) -> Model:
    """The model that a function `model_fn` makes of its parameters."""
    assert model_fn.function is not None
    moving: Any = model_fn.function(model, **{name: values[name] for name in model_fn.names})
    if not isinstance(moving, Model):
        raise TypeError(f"model_fn returns a {type(moving).__name__}, and must return a knuckle.Model")
    if (moving.nq, moving.nv) != (model.nq, model.nv):
        raise ValueError(
            f"model_fn returns a model with nq, nv = {moving.nq}, {moving.nv}; they must stay {model.nq}, {model.nv}"
        )
    return moving


def _flat(result: Any) -> Iterator[Any]:
    """The vectors and numbers of nested tuples, states among them."""
    if isinstance(result, tuple):
        for item in result:
            yield from _flat(item)
    else:
        yield result
