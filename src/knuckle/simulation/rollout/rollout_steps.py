"""What a rollout is asked for, as the text of its steps and their inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from knuckle.engine.calls.numpy_arrays import NumPyArrays
from knuckle.engine.kernels.specialization import Specialization
from knuckle.errors import ModelError
from knuckle.integrators.base import Integrator
from knuckle.integrators.default_steps import default_steps
from knuckle.integrators.loop_stabilization import must_be_closed, must_be_short, stabilization_of
from knuckle.integrators.starting_state import DEFAULT_STEP, must_be_unit
from knuckle.model import Model
from knuckle.model.elements.muscles.muscle_states import MuscleStates
from knuckle.simulation.actuated_control import CONTROLS, GIVEN, must_have_actuators, with_actuators
from knuckle.simulation.controls import NO_FORCE, Control
from knuckle.simulation.friction.dry_friction import friction_rows, must_be_separate
from knuckle.simulation.muscle_inputs import (
    EXCITED,
    FIRST_ACTIVATIONS,
    FIRST_DRIVEN,
    FIRST_FIBERS,
    first_driven,
    numbers_between,
    states_of,
)
from knuckle.simulation.sampled_control import (
    FIRST_STATE,
    SampledControl,
    SampledController,
    must_be_one,
    must_fit_steps,
    sampled_inputs,
)
from knuckle.simulation.steps.step_text import StepText
from knuckle.warning import warn

from .held_control import Sampler
from .rollout_inputs import Inputs, controls_of, finite, inputs_of, steps_of

if TYPE_CHECKING:
    from .held_control import HeldControl


FIRST = (FIRST_ACTIVATIONS, FIRST_FIBERS, FIRST_DRIVEN, FIRST_STATE)
"""Arguments of the start of a motion, which its steps do not take."""


class OneStep(Protocol):
    """A text of a step by some integrator."""

    @property
    def integrator(self) -> Integrator:
        """What steps."""
        ...

    def __call__(self, model: Model, **values: Any) -> Any:
        """The state after it."""
        ...


@dataclass(frozen=True)
class RolloutSteps:
    """The steps of a rollout before they are taken.

    Attributes:
        step: one of them, with the controllers and forces that are kernels.
        inputs: what it takes.
        name: what its integrator is called.
        dt: its length in seconds.
        steps: how many.
        t0: the time at the beginning.
        functional: the functions that are called, by what they are.
        native: controller, external forces and excitations that are kernels, each or None.
        python: those that are functions of Python's.
        muscles: which muscles have states.
        force: the forces at the joints in a step: those of a controller, and of actuators.
        driven: what tells the controls of actuators, if they have some.
        sampler: a sampled law that is a function of Python's.
    """

    step: StepText
    inputs: Inputs
    name: str
    dt: float
    steps: int
    t0: float
    functional: Mapping[str, Control]
    native: tuple[Control | None, ...]
    python: tuple[Control | None, ...]
    muscles: MuscleStates | None
    force: Any
    driven: Control | None
    sampler: Sampler | None
    law: SampledControl | None

    @property
    def held_controls(self) -> Control | None:
        """What tells the controls of actuators, if it is a function of Python's."""
        return self.driven if self.driven is not None and not self.driven.is_text else None


def steps_to_take(
    model: Any,
    q0: Any,
    v0: Any,
    tau: Any,
    dt: Any,
    *,
    steps: Any,
    duration: Any,
    integrator: str | Integrator | None,
    contacts: Any,
    controller: Any,
    external_forces: Callable[..., Any] | None,
    excitations: Any,
    activations0: Any,
    fiber_lengths0: Any,
    model_fn: Callable[..., Model] | None,
    parameters: Mapping[str, Any] | None,
    time_varying: Collection[str],
    t0: Any,
    stabilization: Any,
    controls: Any = None,
    actuator_states0: Any = None,
    losses: Mapping[str, Callable[..., Any] | None] | None = None,
    name: str = "rollout",
) -> RolloutSteps:
    """The steps for the arguments of `kn.rollout`; `losses` are further functions that ask for parameters."""
    if not isinstance(model, Model):
        raise TypeError(f"{name} needs a knuckle.Model first, not {type(model).__name__}")
    t0, dt = finite("t0", t0), DEFAULT_STEP if dt is None else finite("dt", dt)
    count = steps_of(steps, duration, dt)
    named = dict(parameters or {})
    if model.deformables and name != "rollout":
        raise ModelError(
            f"{name} knows no deformable bodies, and {model.name} has some: kn.simulate and kn.rollout do; "
            "model.without_deformables() has none"
        )
    excite = excitations if callable(excitations) else None
    names = dict.fromkeys(named, 0.0)
    sampled = sampled_inputs("controller", controller, model.nv, names)
    if controls is not None:
        must_have_actuators(model)
    if isinstance(controls, SampledController):
        must_be_one(sampled)
        sampled = sampled_inputs("controls", controls, len(model.actuators), names)
    law = sampled.which
    telling = controls if callable(controls) else None
    continuous = None if isinstance(controller, SampledController) else controller
    functions = {"controller": continuous, "external_forces": external_forces, "model_fn": model_fn}
    told_by = {"excitations": excite, "controls": telling, **(losses or {})}
    functional = controls_of({**functions, **told_by}, named, time_varying, sampled.parameters)
    which = states_of(model, excitations, activations0, fiber_lengths0, controls is not None, actuator_states0)
    further: dict[str, tuple[Any, int]] = {}
    if which is not None:
        further[EXCITED] = None if excite else excitations, which.muscles
        further[FIRST_ACTIVATIONS] = numbers_between("activations0", activations0, which.muscles), which.muscles
        fibers = numbers_between("fiber_lengths0", fiber_lengths0, which.elastic, most=np.inf)
        further[FIRST_FIBERS] = fibers, which.elastic
        further[FIRST_DRIVEN] = first_driven(actuator_states0, which.driven), which.driven
    if controls is not None and telling is None and not isinstance(controls, SampledController):
        further[CONTROLS] = controls, len(model.actuators)
    if law is not None and law.states:
        further[FIRST_STATE] = sampled.parameters[FIRST_STATE], law.states
    laws = [*functional.values(), *(() if law is None else (law.law,))]
    matrices = {name for control in laws for name in control.matrices}
    inputs = inputs_of(model, q0, v0, tau, t0, dt, count, named, time_varying, further, matrices)
    chosen = default_steps(model, abs(dt), inputs.state["q"], integrator=integrator, contacts=contacts, one_state=False)
    if chosen.is_coarse:
        warn(chosen.why)
    method = chosen.integrator
    if which is not None:
        from knuckle.integrators.methods.muscle_steps import with_muscle_states

        method = with_muscle_states(method)
    period = 0 if law is None else must_fit_steps(law, dt, method)
    acting = functional.get("controller"), functional.get("external_forces"), functional.get("excitations")
    native = tuple(control if control is not None and control.is_text else None for control in acting)
    python = tuple(control if control is not None and not control.is_text else None for control in acting)
    driven = functional.get("controls") or (GIVEN if controls is not None else None)
    force = native[0] or NO_FORCE
    if driven is not None:
        force = with_actuators(force, driven if driven.is_text else GIVEN)
    told = (
        (driven if driven.is_text else GIVEN) if driven is not None and which is not None and which.driven else NO_FORCE
    )
    closing = stabilization_of(stabilization)
    must_be_short(model)
    must_be_separate(model)
    if dt < 0 and friction_rows(model):
        raise ValueError(f"dt={dt:g} goes back in time, and {model.name} has dry friction: what stuck has no past")
    if dt <= 0 and method.solves_contacts and method.soft_contacts is None:
        raise ValueError(f"dt={dt:g} must be above zero: impulses of contact have no past")
    must_be_unit(model, inputs.state["q"])
    if model_fn is None:  # another one has its loops elsewhere
        must_be_closed(model, inputs.state["q"], inputs.state["v"], closing, t0)
    step = StepText(
        "step", method, force, native[1] or NO_FORCE,
        stabilization=closing, model_fn=functional.get("model_fn"), excitations=native[2] or NO_FORCE, muscles=which,
        sampled=law if law is not None and law.is_inside else None, driven=told,
    )  # fmt: skip
    sampler = Sampler(law, period, sampled.parameters[FIRST_STATE]) if law and not law.is_inside else None
    return RolloutSteps(
        step, inputs, chosen.name, dt, count, t0, functional, native, python, which, force, driven, sampler, law
    )


def specialization_of(text: OneStep, model: Model, inputs: Inputs, what: str = "rollout") -> Specialization:
    """A text for the inputs of a rollout."""
    name = f"{what} by {type(text.integrator).__name__}"
    return Specialization(name, text, model, numbers=inputs.single, is_users=True)


def started(step: StepText, model: Model, inputs: Inputs, held: HeldControl | None) -> tuple[StepText, Inputs]:
    """The step and its inputs with the memory that the integrator begins with."""
    is_plain = type(step.integrator).begin is Integrator.begin and not friction_rows(model) and step.model_fn is None
    if is_plain and step.sampled is None:
        return step, inputs
    text = dataclasses.replace(step, method="start")
    values = dict(inputs.state) | {name: x.at(0) for name, x in inputs.others.items()}
    values |= held.at(values) if held else {}
    shapes = {name: x.shape[-1:] for name, x in inputs.state.items()}
    shapes |= {name: x.shape for name, x in inputs.others.items()}
    arrays = {name: (values[name], shape) for name, shape in shapes.items()}
    q, v, *memory = NumPyArrays().compute(specialization_of(text, model, inputs), arrays)
    state, single = {"q": q, "v": v}, list(inputs.single)
    for k, x in enumerate(memory):
        is_number = np.ndim(x) == len(inputs.batch)
        state[f"memory{k}"] = np.asarray(x)[..., np.newaxis] if is_number else x
        single += [f"memory{k}"] if is_number else []
    others = {name: x for name, x in inputs.others.items() if name not in FIRST}
    new = dataclasses.replace(inputs, state=state, single=tuple(single), others=others)
    return dataclasses.replace(step, memory=len(memory)), new
