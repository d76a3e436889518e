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
from knuckle.integrators.methods.contact_steps import ContactSteps
from knuckle.integrators.methods.muscle_steps import with_muscle_states
from knuckle.integrators.starting_state import DEFAULT_STEP, must_be_unit
from knuckle.model import Model
from knuckle.model.elements.muscles.muscle_states import MuscleStates
from knuckle.simulation.controls import NO_FORCE, Control
from knuckle.simulation.friction.dry_friction import friction_rows, must_be_separate
from knuckle.simulation.muscle_inputs import EXCITED, FIRST_ACTIVATIONS, FIRST_FIBERS, numbers_between, states_of
from knuckle.simulation.steps.step_text import StepText
from knuckle.warning import warn

from .rollout_inputs import Inputs, controls_of, finite, inputs_of, steps_of

if TYPE_CHECKING:
    from .held_control import HeldControl


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
        controls: the functions that are called, by what they are.
        native: controller, external forces and excitations that are kernels, each or None.
        python: those that are functions of Python's.
        muscles: which muscles have states.
    """

    step: StepText
    inputs: Inputs
    name: str
    dt: float
    steps: int
    t0: float
    controls: Mapping[str, Control]
    native: tuple[Control | None, ...]
    python: tuple[Control | None, ...]
    muscles: MuscleStates | None


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
    controller: Callable[..., Any] | None,
    external_forces: Callable[..., Any] | None,
    excitations: Any,
    activations0: Any,
    fiber_lengths0: Any,
    model_fn: Callable[..., Model] | None,
    parameters: Mapping[str, Any] | None,
    time_varying: Collection[str],
    t0: Any,
    stabilization: Any,
    losses: Mapping[str, Callable[..., Any] | None] | None = None,
    name: str = "rollout",
) -> RolloutSteps:
    """The steps for the arguments of `kn.rollout`; `losses` are further functions that ask for parameters."""
    if not isinstance(model, Model):
        raise TypeError(f"{name} needs a knuckle.Model first, not {type(model).__name__}")
    t0, dt = finite("t0", t0), DEFAULT_STEP if dt is None else finite("dt", dt)
    count = steps_of(steps, duration, dt)
    named = dict(parameters or {})
    if model.deformables:
        raise ModelError(
            f"rollouts know no deformable bodies, and {model.name} has some: kn.simulate does, one motion at a time; "
            "model.without_deformables() has none"
        )
    excite = excitations if callable(excitations) else None
    functions = {"controller": controller, "external_forces": external_forces, "model_fn": model_fn}
    controls = controls_of({**functions, "excitations": excite, **(losses or {})}, named, time_varying)
    which = states_of(model, excitations, activations0, fiber_lengths0)
    muscles: dict[str, tuple[Any, int]] = {}
    if which is not None:
        muscles[EXCITED] = None if excite else excitations, which.muscles
        muscles[FIRST_ACTIVATIONS] = numbers_between("activations0", activations0, which.muscles), which.muscles
        fibers = numbers_between("fiber_lengths0", fiber_lengths0, which.elastic, most=np.inf)
        muscles[FIRST_FIBERS] = fibers, which.elastic
    matrices = {name for control in controls.values() for name in control.matrices}
    inputs = inputs_of(model, q0, v0, tau, t0, dt, count, named, time_varying, muscles, matrices)
    chosen = default_steps(model, abs(dt), inputs.state["q"], integrator=integrator, contacts=contacts, one_state=False)
    if chosen.is_coarse:
        warn(chosen.why)
    method = chosen.integrator if which is None else with_muscle_states(chosen.integrator)
    acting = controls.get("controller"), controls.get("external_forces"), controls.get("excitations")
    native = tuple(control if control is not None and control.is_text else None for control in acting)
    python = tuple(control if control is not None and not control.is_text else None for control in acting)
    closing = stabilization_of(stabilization)
    must_be_short(model)
    must_be_separate(model)
    if dt < 0 and friction_rows(model):
        raise ValueError(f"dt={dt:g} goes back in time, and {model.name} has dry friction: what stuck has no past")
    if dt <= 0 and isinstance(method, ContactSteps):
        raise ValueError(f"dt={dt:g} must be above zero: impulses of contact have no past")
    must_be_unit(model, inputs.state["q"])
    if model_fn is None:  # another one has its loops elsewhere
        must_be_closed(model, inputs.state["q"], inputs.state["v"], closing, t0)
    step = StepText(
        "step", method, native[0] or NO_FORCE, native[1] or NO_FORCE,
        stabilization=closing, model_fn=controls.get("model_fn"), excitations=native[2] or NO_FORCE, muscles=which,
    )  # fmt: skip
    return RolloutSteps(step, inputs, chosen.name, dt, count, t0, controls, native, python, which)


def specialization_of(text: OneStep, model: Model, inputs: Inputs, what: str = "rollout") -> Specialization:
    """A text for the inputs of a rollout."""
    name = f"{what} by {type(text.integrator).__name__}"
    return Specialization(name, text, model, numbers=inputs.single, is_users=True)


def started(step: StepText, model: Model, inputs: Inputs, held: HeldControl | None) -> tuple[StepText, Inputs]:
    """The step and its inputs with the memory that the integrator begins with."""
    if type(step.integrator).begin is Integrator.begin and not friction_rows(model) and step.model_fn is None:
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
    others = {name: x for name, x in inputs.others.items() if name not in (FIRST_ACTIVATIONS, FIRST_FIBERS)}
    new = dataclasses.replace(inputs, state=state, single=tuple(single), others=others)
    return dataclasses.replace(step, memory=len(memory)), new
