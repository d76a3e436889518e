"""Losses of a rollout as texts: kernels of the state, of the joint forces and of parameters that give one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from knuckle.engine.arrays.base import put_together
from knuckle.engine.calls.function import Function
from knuckle.engine.differentiate.derivative_texts import Call, OfUser
from knuckle.integrators.base import Integrator
from knuckle.model import Model
from knuckle.scalar import ZERO
from knuckle.simulation.controls import STATE, Control
from knuckle.simulation.friction.dry_friction import has_modes
from knuckle.simulation.steps.step_text import StepText
from knuckle.spatial import Matrix, Vector

FORCE = "tau"
"""The argument of a loss that receives the joint forces."""
NOTED = "noted"
"""What a step found on the way there that the way back needs: what it solved for, its accelerations among it."""
TOTAL = "total loss"
"""The last part of the state: what the losses of the steps so far add up to."""


@dataclass(frozen=True)
class Loss:
    """A loss as a function (model, t, q, v, tau, parameters …) → a number; it takes those of them that it names."""

    control: Control
    knows_moving: bool = True
    """Whether the model it knows is the one at its time; another one is made by a `model_fn`"""

    @property
    def __name__(self) -> str:
        return self.control.title

    def __call__(self, model: Model, **values: Any) -> Any:
        function: Any = self.control.function
        now = model.at_time(values["t"]) if self.knows_moving and model.depends_on_time else model
        result = function(now, **{name: values[name] for name in self.control.names})
        if isinstance(result, (Vector, Matrix, tuple, list, dict)) or result is None:
            raise TypeError(f"{self.control.title} returns {_described(result)}, and must return one number")
        return result

    @property
    def takes_force(self) -> bool:
        """Whether it asks for the joint forces."""
        return FORCE in self.control.names


def loss_of(controls: Mapping[str, Control], what: str, has_own_model: bool) -> Loss | None:
    """A loss by what it is called in the arguments."""
    control = controls.get(what)
    return None if control is None else Loss(control, not has_own_model)


def must_be_loss(what: str, function: Callable[..., Any] | None) -> None:
    """An error unless a loss is a kernel."""
    if function is not None and not isinstance(function, Function):
        raise TypeError(
            f"{what} must be a kernel, @kn.kernel def {what}(model, q, v), whose derivatives are known; "
            f"not {type(function).__name__}"
        )


@dataclass(frozen=True)
class Forced:
    """A function (model, q, v, memory0, …, t, dt, parameters …) → (q', v', memory0', …), with τ after them if asked."""

    step: StepText
    gives_force: bool = False

    @property
    def __name__(self) -> str:
        return self.step.name

    def __call__(self, model: Model, **values: Any) -> tuple[Any, ...]:
        new = self.step(model, **values)
        return (*new, force_at(self.step, model, values)) if self.gives_force else new


@dataclass(frozen=True)
class Scored:
    """A function (model, q, v, memory0, …, noted, total, t, dt, parameters …) → (q', v', memory0', …, noted', total').

    The loss of a step is that of the state it begins with. What is `noted`, if anything, is what the step solved for.
    """

    step: StepText
    loss: Loss | None
    noted: int = 0

    @property
    def __name__(self) -> str:
        return f"{type(self).__name__} of {self.step.name}"

    @property
    def integrator(self) -> Integrator:
        return self.step.integrator

    def __call__(self, model: Model, **values: Any) -> tuple[Any, ...]:
        total = values.pop(TOTAL)
        new = self._noting(model, values) if self.noted else self.step(model, **values)
        loss: Any = ZERO
        if self.loss is not None:
            force = {FORCE: force_at(self.step, model, values)} if self.loss.takes_force else {}
            loss = self.loss(model, **values, **force)
        return *new, Vector([total + loss])

    def _noting(self, model: Model, values: dict[str, Any]) -> tuple[Any, ...]:
        """The new state, and what the step solved for."""
        values.pop(NOTED)
        text = Forced(self.step, self.loss is not None and self.loss.takes_force)
        sweep, layout = Call.of(OfUser(tuple(values), (), text), model, values).sweep()
        new = layout.together(sweep.outputs, put_together)
        return *(new[:-1] if text.gives_force else new), Vector(sweep.solved)


def force_at(step: StepText, model: Model, values: Mapping[str, Any]) -> Any:
    """The joint forces at the beginning of a step: those given, those of the controller, and those of actuators."""
    held = None if step.sampled is None else step.sampled.held(values[f"memory{step.memory - 1}"])
    system = step.system(model, values, held)
    if step.muscles is not None:
        modes = int(has_modes(step.integrator, model))
        place = step.integrator.states_place(model, step.memory - modes - (step.sampled is not None))
        assert place is not None
        system = system.in_state(values[f"memory{place + modes}"])
    return system.forces(*(values[name] for name in STATE))[0]


def _described(result: Any) -> str:
    if isinstance(result, Vector):
        return f"a vector of {len(result)}"
    return f"a {type(result).__name__}"
