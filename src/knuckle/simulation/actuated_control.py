"""Actuators in a motion: a controller together with what the model's actuators do under their controls."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.functions import actuator_terms
from knuckle.model import Model
from knuckle.scalar import is_inside
from knuckle.trajectory.muscle_rows import MuscleRows

from .controls import CONTROLS, DRIVEN, STATE, ComposedForce, ConstantForce, Control, Parameters, control_of
from .sampled_control import NOT_SAMPLED, SampledController, SampledInputs, sampled_inputs

Array = NDArray[Any]

GIVEN = Control(ConstantForce(CONTROLS), "controls", (CONTROLS,))
"""Controls that are an argument of each step."""


@dataclass(frozen=True)
class ControlInputs:
    """Controls of the actuators of one motion, and their parameters; nothing where actuators are left alone."""

    control: Control | None = None
    parameters: Parameters | None = None


def control_inputs(
    model: Model, controls: Any, parameters: Mapping[str, ArrayLike] | None
) -> tuple[ControlInputs, SampledInputs]:
    """What `controls` says: constant ones, a function, or a sampled controller; an error without actuators."""
    if controls is None:
        return ControlInputs(), NOT_SAMPLED
    must_have_actuators(model)
    size = len(model.actuators)
    if isinstance(controls, SampledController):
        return ControlInputs(GIVEN, {}), sampled_inputs("controls", controls, size, parameters)
    control, own = control_of("controls", controls, CONTROLS, (size,), dict(parameters or {}))
    return ControlInputs(control, own), NOT_SAMPLED


def must_have_actuators(model: Model) -> None:
    """An error for controls of a model that has nothing to control."""
    if not model.actuators:
        raise ValueError(
            f"controls is given, and {model.name} has no actuators: kn.actuators.with_motors(model) has a motor at "
            "every joint"
        )


def with_actuators(control: Control, controls: Control) -> Control:
    """The control that adds the forces of actuators, in their states; it is compiled where both are."""
    names = dict.fromkeys((*STATE, *control.parameters, *controls.parameters, DRIVEN))
    return Control(WithActuators(control, controls), "controller", tuple(names), (*STATE, DRIVEN))


@dataclass(frozen=True)
class WithActuators(ComposedForce):
    """(model, t, q, v, parameters …) → τ of a controller and of actuators."""

    control: Control
    controls: Control

    def __post_init__(self) -> None:
        for name in ("__name__", "__qualname__"):  # what a kernel is called by
            object.__setattr__(self, name, f"{getattr(self.control.function, '__name__', 'nothing')} with actuators")

    @property
    def is_text(self) -> bool:
        return self.control.is_text and self.controls.is_text

    @property
    def matrices(self) -> frozenset[str]:
        return self.control.matrices | self.controls.matrices

    @property
    def __signature__(self) -> inspect.Signature:
        names = dict.fromkeys(("model", *STATE, *self.control.parameters, *self.controls.parameters, DRIVEN))
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def __call__(self, model: Model, t: Any, q: Any, v: Any, **parameters: Any) -> Any:
        u = self.controls(model, t, q, v, parameters, (len(model.actuators),))
        tau = actuator_terms.joint_forces(model, q, v, u, parameters.get(DRIVEN))
        if self.control.function is None:
            return tau
        return tau + self.control(model, t, q, v, parameters, (model.nv,))


def actuated_rows(model: Model, times: Array, q: Array, v: Array, u: Array, states: Array | None = None) -> Array:
    """τ (..., K, nv) of actuators in the rows of motions, in their states."""
    assert not is_inside()
    if not model.depends_on_time:
        return np.asarray(actuator_terms.joint_forces(model, q, v, u, states))
    arrays = [x for x in (q, v, u, states) if x is not None]
    rows = [actuator_terms.joint_forces(model.at_time(float(t)), *(x[..., k, :] for x in arrays))
            for k, t in enumerate(times)]  # fmt: skip
    return np.stack(rows, axis=-2)


def driven_rows(rows: MuscleRows | None) -> dict[str, Array]:
    """The states of actuators in the rows of a motion, as what forces ask for; nothing where there are none."""
    return {} if rows is None or rows.actuator_states is None else {DRIVEN: rows.actuator_states}
