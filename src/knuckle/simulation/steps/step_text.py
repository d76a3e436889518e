"""One step of an integrator as a text that kernels are made of: for simulations and for rollouts."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from knuckle.integrators.base import Integrator, State
from knuckle.integrators.loop_stabilization import Stabilization
from knuckle.integrators.system import HOLD, MuscleDrive, System
from knuckle.model import Model
from knuckle.model.actuators.actuator_dynamics import with_dynamics
from knuckle.model.elements.muscles.muscle_states import MuscleStates
from knuckle.scalar import less, select
from knuckle.simulation.controls import CONTROLS, DRIVEN, MUSCLES, NO_FORCE, ConstantForce, Control
from knuckle.simulation.friction.dry_friction import begun, has_modes, stepped, within_modes
from knuckle.simulation.friction.dry_friction import held as in_modes
from knuckle.simulation.muscle_inputs import EXCITED, FIRST_ACTIVATIONS, FIRST_DRIVEN, FIRST_FIBERS
from knuckle.simulation.sampled_control import FIRST_STATE, SampledControl
from knuckle.spatial import Vector

APPLIED, WRENCHES = "applied τ", "applied f_ext"
"""Names of the arguments for forces that are held during a step: no names that a controller could have."""
RESTING = "resting"
"""The argument that has 1 for each velocity variable that rests on a stop, and 0 for the others."""


@dataclass(frozen=True)
class StepText:
    """A function (model, t, q, v, memory0, …, dt, parameters …) → (q', v', memory0', …), as `kn.kernel` takes it.

    It is the integrator's `step`, its `start`, or another method with what that takes `besides` the state and gives
    besides it. The parameters are those of the controller, of the external forces and of the mechanism; arguments
    called `APPLIED` and `WRENCHES`, where they are given, are forces that act as well, and `EXCITED` are excitations of
    `muscles`, which have states. What a `sampled` controller remembers is the last entry of the memory. Equal texts
    share their kernels.
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
    sampled: SampledControl | None = None
    rests: bool = False
    """Whether some velocity variables, of joints with q̇ = v, may rest on stops: those that `RESTING` says"""
    applies: bool = False
    """Whether `APPLIED` is an argument that is always given"""
    driven: Control = NO_FORCE
    """What actuators with states are told"""

    def __post_init__(self) -> None:
        for name in ("__name__", "__qualname__"):  # what a kernel is called by
            object.__setattr__(self, name, self.name)

    @property
    def name(self) -> str:
        return f"{type(self.integrator).__name__}.{self.method}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters of the controller, of the external forces and of the excitations."""
        law = self.sampled.law if self.sampled is not None else NO_FORCE
        controls = self.controller, self.external_forces, self.excitations, law, self.driven
        names = dict.fromkeys(name for control in controls for name in control.parameters)
        if self.sampled is not None and self.sampled.law.what == "controls":
            names.pop(CONTROLS, None)
        return *names, *((RESTING,) if self.rests else ()), *((APPLIED,) if self.applies else ())

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
        t, q, v, dt = (values[name] for name in ("t", "q", "v", "dt"))
        if self.sampled is not None:
            return self._with_samples(self.sampled, model, t, q, v, dt, values)
        state = State(q, v, tuple(values[f"memory{k}"] for k in range(self.memory)))
        return tuple(_flat(self._outcome(self.system(model, values), t, state, dt, values)))

    def _outcome(self, system: System, t: Any, state: State, dt: Any, values: Mapping[str, Any]) -> Any:
        """What the method gives, with what rests where it was."""
        new = self._moved(system, t, state, dt, values)
        if not self.rests or self.method == "start":
            return new
        if isinstance(new, State):
            return State(*at_stops(system.model, values[RESTING], state.q, new.q, new.v), new.memory)
        if self.method != "attempt":
            return new
        first, *errors = new
        return State(*at_stops(system.model, values[RESTING], state.q, first.q, first.v), first.memory), *errors

    def _moved(self, system: System, t: Any, state: State, dt: Any, values: Mapping[str, Any]) -> Any:
        if self.method == "start":
            return begun(self.integrator, system, t, state.q, state.v, dt)
        if self.method == "step":
            return stepped(self.integrator, system, t, state, dt)
        besides = tuple(values[name] for name in self.besides)
        return within_modes(self.method, self.integrator, system, t, state, besides, dt)

    def _with_samples(
        self, control: SampledControl, model: Model, t: Any, q: Any, v: Any, dt: Any, values: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """The same under a force that is held from sample to sample; the next sample is taken where a step ends."""
        *memory, own = (values[f"memory{k}"] for k in range(self.memory)) if self.method != "start" else (None,)
        if self.method == "start":
            own = control.begun(model, t, q, v, values.get(FIRST_STATE, Vector(())), values)
        state = State(q, v, tuple(memory))
        new = self._outcome(self.system(model, values, control.held(own)), t, state, dt, values)
        if not isinstance(new, State):
            return tuple(_flat(new))
        if self.method == "start":
            return *_flat(new), own
        if not control.is_inside:
            return *_flat(new), control.later(own, dt)
        return *_flat(new), control.after(model, t + dt, new.q, new.v, own, dt, values)

    def system(self, model: Model, values: Mapping[str, Any], held: Any = None) -> System:
        """The mechanism of these parameters under its forces. Controllers know the model that they were made for.

        `held` is the force of a sampled controller, or its controls of actuators.
        """
        controller, external_forces = self.controller, self.external_forces
        if held is not None and self.sampled is not None and self.sampled.law.what == "controls":
            values, held = {**values, CONTROLS: held}, None
        moving = model if self.model_fn is None else model_from(self.model_fn, model, values)
        wrenches = (model.nb, model.algebra.dimension)

        has_driven = self.muscles is not None and self.muscles.driven > 0

        def known(at: Model, t: Any) -> Model:
            if self.model_fn is None and not has_driven:
                return at
            return model.at_time(t) if moving.depends_on_time else model

        def states(at: Model, q: Any) -> dict[str, Any]:
            """The states of actuators, which a mechanism in a state has."""
            if not has_driven:
                return {}
            now = [law.state for _, law in with_dynamics(at.actuators)]
            return {DRIVEN: np.array(now, float) if isinstance(q, np.ndarray) else Vector(now)}

        applied = [x for x in (values.get(APPLIED), held) if x is not None]

        def force(at: Model, t: Any, q: Any, v: Any) -> Any:
            own = controller(known(at, t), t, q, v, {**values, **states(at, q)}, (model.nv,)) if not is_given else None
            forces = [*applied, *(() if own is None else (own,))]
            return functools.reduce(operator.add, forces)

        is_given = bool(applied) and controller.function is None

        def f_ext(at: Model, t: Any, q: Any, v: Any) -> Any:
            if external_forces.function is None:
                return values[WRENCHES]
            return external_forces(known(at, t), t, q, v, values, wrenches)

        acts = external_forces.function is not None or WRENCHES in values
        drive = None if self.muscles is None else self._drive(self.muscles, known, values)
        is_text = controller.is_law
        wrenches_of = f_ext if acts else None
        held_by = values[RESTING] if self.rests else None
        return System(moving, force, wrenches_of, self.stabilization, sticking=held_by, muscles=drive, is_text=is_text)

    def with_held_forces(self) -> StepText:
        """The text with the forces as parameters."""
        names = {"controller": "tau", "external_forces": "f_ext", "excitations": EXCITED, "driven": CONTROLS}
        held = [what for what in names if what == "controller" or getattr(self, what).function is not None]
        return replace(self, **{what: Control(ConstantForce(names[what]), what, (names[what],)) for what in held})

    def _drive(
        self, which: MuscleStates, known: Callable[[Model, Any], Model], values: Mapping[str, Any]
    ) -> MuscleDrive:
        """What muscles are told: excitations that are given, or those of a function of the state."""

        def excitations(at: Model, t: Any, q: Any, v: Any, z: Any) -> Any:
            if not which.is_excited or self.excitations.function is None:
                return values.get(EXCITED)
            states = dict(zip(MUSCLES, which.apart(z), strict=True))
            return self.excitations(known(at, t), t, q, v, {**values, **states}, (which.muscles,))

        def controls(at: Model, t: Any, q: Any, v: Any) -> Any:
            return self.driven(known(at, t), t, q, v, values, (len(at.actuators),))

        activations, fibers, driven = (values.get(name) for name in (FIRST_ACTIVATIONS, FIRST_FIBERS, FIRST_DRIVEN))
        return MuscleDrive(which, excitations, activations, fibers, controls, driven)


@dataclass(frozen=True)
class LoadText:
    """A function (model, t, q, v, memory0, …, parameters …) → the forces (nv,) that stops hold against, 0 elsewhere."""

    step: StepText

    def __call__(self, model: Model, **values: Any) -> Any:
        control = self.step.sampled
        system = self.step.system(
            model, values, None if control is None else control.held(values[f"memory{self.step.memory - 1}"])
        )
        memory = [values[f"memory{k}"] for k in range(self.step.memory - (control is not None))]
        if has_modes(self.step.integrator, model):
            system = in_modes(system, memory.pop(0))
        system = self.step.integrator.acting(system, State(values["q"], values["v"], tuple(memory)))
        a = system.acceleration(values["t"], values["q"], values["v"])
        return Vector(HOLD * x * r for x, r in zip(a, values[RESTING], strict=True))


def at_stops(model: Model, resting: Any, before: Any, q: Any, v: Any) -> tuple[Any, Any]:
    """(q, v) where what rests has no velocity, and is exactly where it was before."""
    new = list(q)
    for joint, qs, vs in zip(model.joints, model.q_slices, model.v_slices, strict=True):
        if joint.type.nq == joint.type.nv:
            for k, j in zip(range(qs.start, qs.stop), range(vs.start, vs.stop), strict=True):
                new[k] = select(less(0.5, resting[j]), before[k], q[k])
    slow = [x * (1 - r) for x, r in zip(v, resting, strict=True)]
    if isinstance(q, np.ndarray):
        return np.array(new, float), np.array(slow, float)
    return Vector(new), Vector(slow)


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
