"""Many trajectories at once, with the loop through time in native code."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.calls.trajectory_batches import Input, through_time
from knuckle.engine.native import result_memory as memory
from knuckle.integrators.base import Integrator, IntegratorName
from knuckle.integrators.loop_stabilization import Stabilization
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.model.elements.muscles.muscle_states import MuscleStates
from knuckle.simulation.actuated_control import (
    CONTROLS,
    actuated_rows,
    driven_rows,
)
from knuckle.simulation.controls import DRIVEN, Control
from knuckle.simulation.divergence import finite as finite_states
from knuckle.simulation.divergence import warn_of_contacts, warn_of_divergence
from knuckle.simulation.friction.dry_friction import has_modes
from knuckle.simulation.muscle_inputs import EXCITED
from knuckle.simulation.sampled_control import (
    SampledController,
)
from knuckle.simulation.steps.step_text import APPLIED, WRENCHES, StepText
from knuckle.trajectory.muscle_rows import MuscleRows

from .finite_until import UNTIL, Lasting
from .held_control import HeldControl, Sampler
from .noting_step import BEFORE_Q, BEFORE_V, NotingStep
from .rollout_forces import Acting, given_forces, inputs_kept
from .rollout_inputs import Inputs, whole
from .rollout_result import Rollout
from .rollout_steps import specialization_of, started, steps_to_take

Array: TypeAlias = NDArray[Any]


def rollout(
    model: Model,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    dt: float | None = None,
    *,
    steps: int | None = None,
    duration: float | None = None,
    save_every: int = 1,
    integrator: IntegratorName | Integrator | None = None,
    contacts: bool | CompliantContacts | None = None,
    controller: Callable[..., Any] | SampledController | None = None,
    external_forces: Callable[..., Any] | None = None,
    controls: Callable[..., Any] | SampledController | ArrayLike | None = None,
    excitations: Callable[..., Any] | ArrayLike | None = None,
    activations0: ArrayLike | None = None,
    fiber_lengths0: ArrayLike | None = None,
    actuator_states0: ArrayLike | None = None,
    model_fn: Callable[..., Model] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    time_varying: Collection[str] = (),
    t0: float = 0.0,
    stabilization: Stabilization = "projection",
    save_contacts: bool = False,
    out: Rollout | None = None,
) -> Rollout:
    """Trajectories from many states, under many forces, of many mechanisms: whatever has batch axes broadcasts.

    The loop through time is native code, the threads of `kn.compilation.set_threads` share the batch, and the results
    are those of single steps to the last bit. Ctrl-C ends it within a fraction of a second (KeyboardInterrupt; nothing
    is returned). The precision is that of the arrays: float32 only if all are. A trajectory that diverges goes on as
    NaN, the others do not notice, and a warning says how many did: `Rollout.diverged_at` has the times.

    Args:
        model: the mechanism.
        q0: initial positions (..., nq); neutral, if not given.
        v0: initial velocity variables (..., nv); at rest, if not given.
        tau: joint forces: (nv,), always the same; (..., steps, nv), at every step their own, held while it lasts;
            (..., 1, nv), for every trajectory their own, always the same. None for none.
        dt: the length of a step in seconds: 1 ms, if not given.
        steps: how many.
        duration: how long in seconds, instead of `steps`; a whole number of steps. 1 s, if neither is given.
        save_every: every how many steps the state is kept. The first and the last state always are.
        integrator: by its name, or itself; if not given, what `kn.integrators.default_steps` takes: "rk4", "contact"
            where something may touch the ground, or "implicit" where joints are too stiff for that.
        contacts: whether contacts are solved, or soft ones; see `simulate`.
        controller: controller(model, …) → τ, added to `tau`. Its arguments called t, q and v receive time and state,
            all others the `parameters` of their names. A kernel becomes part of the native code. Any other function is
            called once a step with the arrays of all trajectories, and what it says is held while the step lasts. A
            `kn.SampledController` has a period and a state of its own; its Python function is called once a period.
        external_forces: external_forces(model, …) → f_ext (nb, 6), in the same way.
        controls: inputs u of the model's actuators, in their order: arrays (n,), (..., steps, n) or (..., 1, n), as
            `tau`; controls(model, …), as the controller; or a `kn.SampledController`. Without, actuators do nothing.
        excitations: what muscles are told, from 0 to 1, in the order of the model's: arrays (m,), (..., steps, m) or
            (..., 1, m), as `tau`; or excitations(model, …), whose arguments `activations` and `fiber_lengths` receive
            those of the state. Activations follow them and are part of the state; see `simulate`.
        activations0: the activations to begin with (..., m); those of the muscles' laws, if not given.
        fiber_lengths0: the lengths of fibers at elastic tendons to begin with (..., n); in equilibrium, if not given.
        actuator_states0: the states to begin with of the actuators that have some (..., s); those of the model, if not
            given.
        model_fn: model_fn(model, …) → the model that moves, made with `parameters` as inertias, lengths or
            coefficients. The controller still knows `model`.
        parameters: what controller, external_forces and model_fn ask for: numbers, or (..., n) per trajectory;
            (..., m, n) for the `matrices` of a kernel.
        time_varying: the names of those parameters that are (..., steps, n): at every step their own.
        t0: the time at the beginning.
        stabilization: what keeps closed loops closed: "projection", a decay time in seconds, or None; see `simulate`.
        save_contacts: whether what contacts do is kept with the states, for `Rollout.contact_force` and the `contacts`
            of its trajectories. It takes about as much memory as the states.
        out: an earlier rollout of the same shapes, whose arrays are written over: fresh memory takes time.

    Example:
        rng = np.random.default_rng(0)
        found = kn.rollout(model, 0.1 * rng.standard_normal((1000, model.nq)), None, None, 1e-3, steps=200)
        found.q.shape  # (1000, 201, model.nq)
    """
    taken = steps_to_take(
        model, q0, v0, tau, dt, steps=steps, duration=duration, integrator=integrator, contacts=contacts,
        controller=controller, external_forces=external_forces, excitations=excitations, activations0=activations0,
        fiber_lengths0=fiber_lengths0, model_fn=model_fn, parameters=parameters, time_varying=time_varying, t0=t0,
        stabilization=stabilization, controls=controls, actuator_states0=actuator_states0,
    )  # fmt: skip
    save_every = whole("save_every", save_every, 1)
    step, inputs, steps, dt, t0 = taken.step, taken.inputs, taken.steps, taken.dt, taken.t0
    native, python, which, sampler = taken.native, taken.python, taken.muscles, taken.sampler
    method, law, held_controls = step.integrator, taken.law, taken.held_controls
    samples_forces = sampler if law is not None and law.law.what == "controller" else None
    forces_of_python = python[0] or samples_forces
    asks = any(python) or sampler is not None or held_controls is not None
    if asks:
        inputs = _with_held_forces(model, inputs, forces_of_python, python[1], python[2], which)
    if held_controls is not None or (sampler and not samples_forces):
        inputs = _with_held_controls(model, inputs)
    at = np.minimum(np.arange(0, steps + save_every, save_every), steps)
    q, v = _room(out, inputs, len(at))
    is_plain = not (asks or save_contacts or which or step.sampled or step.model_fn)
    many = _in_loops(model, method) if steps and is_plain and method.solves_contacts else None
    given = {
        "a sampled controller": law, "model_fn": step.model_fn, "states of muscles and actuators": which,
        "save_contacts": save_contacts, "controls that are a function of Python's": held_controls,
    }  # fmt: skip
    soft, nodes = _with_nodes(model, step, dt, inputs, given) if model.deformables else None, None
    forces = _forces(out, inputs, len(at), model.nv) if forces_of_python else None
    excited = _excited(inputs, len(at), which.muscles) if python[2] and which else None
    u = _excited(inputs, len(at), len(model.actuators)) if CONTROLS in inputs.others and asks else None
    saved_rows = {name: x for name, x in ((APPLIED, forces), (EXCITED, excited), (CONTROLS, u)) if x is not None}
    asked = python[0], python[1], inputs.single, save_every, steps, saved_rows, python[2], which
    held = HeldControl(model, *asked, sampler=sampler, controls=held_controls) if asks else None
    if many is None and soft is None and (steps or which is not None or step.sampled is not None):
        step, inputs = started(step, model, inputs, held)
    kept, text, states = None, step, _states_name(step, model) if which is not None else ()
    if held is not None and states:
        held.states = states[0]
    states += () if step.sampled is None else (f"memory{step.memory - 1}",)
    z = tuple(
        memory.empty((*inputs.batch, len(at), inputs.state[name].shape[-1]), inputs.state["q"].dtype) for name in states
    )
    if save_contacts:
        from .rollout_contacts import RolloutContacts, noting

        text, inputs = _noting(noting(step, model, inputs.state, states), inputs)
        kept = RolloutContacts.room(text, inputs.state, inputs.batch, len(at), states)
    elif states:
        text, inputs = _noting(NotingStep(step, states, False), inputs)
    until = np.full((1,), t0, inputs.state["q"].dtype)
    inputs = dataclasses.replace(inputs, state={**inputs.state, UNTIL: until}, single=(*inputs.single, UNTIL))
    if soft is not None:
        last, nodes = soft(model, step, inputs, dt, t0, held).run(steps, save_every, q, v)
    elif many is not None:
        from .looped_rollout import LoopedRollout

        last = LoopedRollout(model, step, many, taken.inputs, dt, t0).run(steps, save_every, q, v)
    else:
        last = through_time(
            specialization_of(Lasting(text), model, inputs), inputs.state, inputs.others, inputs.batch,
            steps=steps, save_every=save_every, kept=(q, v, *z, *(kept.arrays if kept else ())), ask=held,
        )  # fmt: skip
    diverged_at = _diverged_at(inputs, last, t0, dt)
    if steps:
        warn_of_contacts(model, method, lambda k: last[f"memory{k}"][..., 0])
    if diverged_at is None:
        diverged_at = np.full(inputs.batch, np.nan)
    else:
        warn_of_divergence(model, diverged_at, t0, method)
    saved, rows = inputs_kept(inputs.others, np.minimum(at, max(steps - 1, 0)), steps)
    if step.sampled is not None and step.sampled.law.what == "controller":
        forces = step.sampled.held(z[-1]) + given_forces(saved, rows)
    elif step.sampled is not None:
        u = step.sampled.held(z[-1])
    told = MuscleRows.of(which, z[0], None) if which is not None and z else None
    driven = driven_rows(told)
    acts = native[0] if u is not None else (taken.force if taken.driven is not None else native[0])
    if u is not None:
        given = given_forces(saved, rows) if forces is None else forces
        forces = given + actuated_rows(model, t0 + dt * at, q, v, u, driven.get(DRIVEN))
    acted = Acting(
        model,
        inputs.batch,
        rows,
        acts,
        taken.functional.get("model_fn"),
        saved,
        inputs.single,
        forces,
        native[2],
        excited,
        driven.get(DRIVEN),
    )
    return Rollout(model, t0 + dt * at, q, v, diverged_at, taken.name, dt, acted, kept, told, nodes)


def _with_nodes(model: Model, step: StepText, dt: float, inputs: Inputs, asked: Mapping[str, Any]) -> Any:
    """What takes steps with deformable bodies; an error for what that does not know."""
    from .deformable_rollout import DeformableRollout, must_be_plain

    must_be_plain(model, step, dt, inputs, asked)
    return DeformableRollout


def _in_loops(model: Model, integrator: Integrator) -> Any:
    """Steps by loops over what touches, where contacts are too many for compiled ones."""
    from .looped_rollout import loops_instead

    return loops_instead(model, integrator)


def _noting(step: NotingStep, inputs: Inputs) -> tuple[NotingStep, Inputs]:
    """A step that tells more, and the inputs with the parts of the state that it has."""
    before = {BEFORE_Q: inputs.state["q"], BEFORE_V: inputs.state["v"]} if step.keeps_before else {}
    return step, dataclasses.replace(inputs, state=step.ordered({**inputs.state, **before}))


def _states_name(step: StepText, model: Model) -> tuple[str, ...]:
    """The part of the state that is the states of muscles."""
    modes = int(has_modes(step.integrator, model))
    place = step.integrator.states_place(model, step.memory - modes - (step.sampled is not None))
    return () if place is None else (f"memory{place + modes}",)


def _excited(inputs: Inputs, rows: int, muscles: int) -> Array:
    """Where the excitations of a Python function are saved."""
    return np.zeros((*inputs.batch, rows, muscles), inputs.state["q"].dtype)


def _diverged_at(inputs: Inputs, last: Mapping[str, Array], t0: float, dt: float) -> Array | None:
    """When each trajectory was no longer finite: NaN if it still is. None if all are.

    What is not finite once never is again: the last states tell.
    """
    if np.isfinite(last["q"]).all() and np.isfinite(last["v"]).all():
        return None
    began = finite_states(*(np.broadcast_to(inputs.state[x], last[x].shape) for x in "qv"))
    done = np.rint((last[UNTIL][..., 0].astype(float) - t0) / dt) if dt else 0.0
    first = np.where(began, t0 + dt * (done + 1), t0)
    return np.where(finite_states(last["q"], last["v"]), np.nan, first)


def _with_held_forces(
    model: Model,
    inputs: Inputs,
    controller: Control | Sampler | None,
    external_forces: Control | None,
    excitations: Control | None,
    which: MuscleStates | None,
) -> Inputs:
    """The inputs with places for the forces of Python functions, and for excitations."""
    others, dtype = dict(inputs.others), inputs.state["q"].dtype
    if controller is not None:
        others.setdefault(APPLIED, Input(np.zeros((1, model.nv), dtype), (model.nv,)))
    if external_forces is not None:
        shape = (model.nb, model.algebra.dimension)
        others[WRENCHES] = Input(np.zeros((1, *shape), dtype), shape)
    if excitations is not None and which is not None:
        others[EXCITED] = Input(np.zeros((1, which.muscles), dtype), (which.muscles,))
    return dataclasses.replace(inputs, others=others)


def _with_held_controls(model: Model, inputs: Inputs) -> Inputs:
    """The inputs with a place for the controls of a Python function."""
    size, dtype = len(model.actuators), inputs.state["q"].dtype
    return dataclasses.replace(inputs, others={**inputs.others, CONTROLS: Input(np.zeros((1, size), dtype), (size,))})


def _room(out: Rollout | None, inputs: Inputs, rows: int) -> tuple[Array, Array]:
    """Where the states go."""
    shapes = [(*inputs.batch, rows, x.shape[-1]) for x in inputs.state.values()]
    dtype = next(iter(inputs.state.values())).dtype
    if out is None:
        q, v = (memory.empty(shape, dtype) for shape in shapes)
        return q, v
    for name, array, shape in zip("qv", (out.q, out.v), shapes, strict=True):
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"out.{name} has shape {array.shape} and dtype {array.dtype}, and must have {shape} and {dtype}"
            )
        if not (array.flags.c_contiguous and array.flags.writeable and array.flags.aligned):
            raise ValueError(f"out.{name} must be an array of its own, as a rollout gives it, not a part of another")
    return out.q, out.v


def _forces(out: Rollout | None, inputs: Inputs, rows: int, nv: int) -> Array:
    """Where the forces of a Python function are saved."""
    shape, dtype = (*inputs.batch, rows, nv), inputs.state["q"].dtype
    used = out.acting.saved_forces if out is not None and out.acting is not None else None
    fits = used is not None and used.shape == shape and used.dtype == dtype and used.flags.writeable
    forces = used if used is not None and fits else memory.empty(shape, dtype)
    forces[...] = 0.0
    return forces
