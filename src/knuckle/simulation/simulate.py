"""`simulate`: a mechanism through time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.integrators.base import Integrator, IntegratorName
from knuckle.integrators.contact_choice import steps_for_one_state
from knuckle.integrators.default_steps import Steps, default_steps, implicit_instead, is_too_stiff
from knuckle.integrators.implicit_choice import implicit_steps_for
from knuckle.integrators.loop_stabilization import Stabilization, must_be_closed, stabilization_of
from knuckle.integrators.starting_state import DEFAULT_DURATION, must_be_unit, start_of
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts, RigidContacts
from knuckle.trajectory.trajectory import Trajectory
from knuckle.warning import warn

from .accuracy import warn_of_error
from .actuated_control import actuated_rows, control_inputs, driven_rows, with_actuators
from .controls import DRIVEN, forces_along, forces_of
from .divergence import Divergence, warn_of_contacts
from .events.event import Events, events_from
from .events.event_monitor import EventMonitor
from .friction.stick_slip import StickSlip
from .long_runs.checkpoint import Checkpoints, RunSpec, differences, read_start
from .long_runs.progress import Interrupt, Progress, Reporter, interruptible
from .long_runs.run_spec import run_spec
from .long_runs.same_digits import steady_digits
from .mode_switch import EndOfRun, ModeSwitch
from .muscle_inputs import muscle_inputs, muscle_rows, must_be_smooth
from .row_notes import NodeNotes, RowNotes
from .run_settings import RunSettings
from .sampled_control import (
    SampledControl,
    SampledController,
    fitting_step,
    must_be_one,
    must_fit_steps,
    must_not_jump,
    sampled_inputs,
)
from .simulator import Simulator
from .steps.step_policy import step_policy
from .steps.stepper import Stepper
from .stops.compliant_stops import with_stops
from .stops.joint_ranges import must_keep_coordinates
from .stops.rigid_stops import JointStops, must_be_held, must_be_inside
from .stops.stop_spec import CompliantStops, RigidStops, Stops, stops_from

Array = NDArray[Any]


def simulate(
    model: Model,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    duration: float = DEFAULT_DURATION,
    *,
    dt: float | None = None,
    controller: Callable[..., Any] | SampledController | ArrayLike | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    external_forces: Callable[..., Any] | ArrayLike | None = None,
    controls: Callable[..., Any] | SampledController | ArrayLike | None = None,
    excitations: Callable[..., Any] | ArrayLike | None = None,
    activations0: ArrayLike | None = None,
    fiber_lengths0: ArrayLike | None = None,
    actuator_states0: ArrayLike | None = None,
    integrator: IntegratorName | Integrator | None = None,
    contacts: bool | CompliantContacts | RigidContacts | None = None,
    events: Events = None,
    joint_limits: Stops | Literal["rigid"] = None,
    stabilization: Stabilization = "projection",
    save_every: int = 1,
    frames: Iterable[str] = (),
    progress: Progress = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 30.0,
    resume: bool = False,
) -> Trajectory:
    """The motion of a mechanism from a state, as a `Trajectory`. Ctrl-C ends it early with what was computed so far.

    A compiled step (no controller, a constant one, or a `kn.kernel`) runs in native code, many steps in a call. For
    many trajectories at once there is `kn.rollout`.

    Args:
        model: the mechanism.
        q0: the initial position (nq,); neutral, if not given.
        v0: the initial velocity variables (nv,); at rest, if not given.
        duration: how long, in seconds.
        dt: the step in seconds. If not given, 1 ms, or for stiff joints the part of it that they need, with a row every
            millisecond. The last one is shorter if `duration` is no multiple of it. An
            adaptive integrator chooses its own steps: it leaves a row after each, or at multiples of dt, if that is
            given.
        controller: controller(model, …) → τ, a Python function or a `kn.kernel`. Its arguments called t, q and v
            receive time and state, all others the `parameters` of their names. It is a function of these alone: it may
            be called several times in a step, and again afterwards for the trajectory's `tau`. Or a constant τ (nv,);
            or a `kn.SampledController` with a period and a state of its own.
        parameters: what controller and external_forces ask for, by name.
        external_forces: external_forces(model, …) → f_ext (nb, 6), one wrench per body, in the same way.
        controls: inputs u (n,) of the model's actuators, in their order: constant ones, controls(model, …) in the same
            way, or a `kn.SampledController` that gives u. Without, the actuators do nothing.
        excitations: what muscles are told, from 0 to 1 (m,) in the order of the model's: constant ones, or
            excitations(model, …) in the same way, whose arguments `activations` and `fiber_lengths` receive those of
            the state. Activations follow them and are part of the state; without, they are those of the muscles' laws.
        activations0: the activations to begin with (m,); those of the laws, if not given.
        fiber_lengths0: the lengths of fibers at elastic tendons to begin with, in metres; in equilibrium, if not given.
        actuator_states0: the states to begin with of the actuators that have some (s,); those of the model, if not
            given.
        integrator: "euler", "heun", "rk4", "adaptive", "implicit", "bdf1", "bdf2", "variational", "contact", or an
            integrator of `kn.integrators`; if not given, what `kn.integrators.default_steps` takes: "rk4", "contact"
            where something may touch the ground, or "implicit" for stiff joints and a given dt.
        contacts: True solves contacts, also of bodies with each other where there is no ground; False lets bodies pass
            through each other. If not given, contacts are solved where something may touch a shape of the base. With
            `kn.contact.CompliantContacts(…)` they are soft, in any integrator; with `kn.contact.RigidContacts(…)` they
            are found from event to event.
        events: what to watch for: functions g(t, q, v) or `Event`s, one, several, or by name in a dict.
        joint_limits: what joint limits do: None lets joints pass them; "rigid" or `RigidStops(restitution=…)` stops
            them; `CompliantStops(stiffness=…, damping=…)` pushes back.
        stabilization: what keeps closed loops closed, for mechanisms that have some. "projection" moves every state to
            the nearest one, by kinetic energy, in which they are; a number is the time in seconds in which loop errors
            decay (Baumgarte; RBDA 8.21-8.23), several times dt at least; with what
            `kn.loops.independent_variables` chose, only those are integrated and the others follow (8.56); None does
            nothing.
        save_every: every how many steps a row is kept. The first and the last state always are.
        frames: names of frames whose poses the trajectory carries.
        progress: None shows a bar in a terminal if it takes long; True and False do and do not; a function is called
            with the part that is done.
        checkpoint: a folder to which the run is saved as it goes, for very long ones.
        checkpoint_every: seconds of computing between checkpoints.
        resume: whether to go on from what `checkpoint` holds, if it holds something. The result is that of an
            uninterrupted run to the last bit. Everything else must be given as it was.

    Example:
        motion = kn.simulate(kn.robots.load("arm"), duration=2.0, joint_limits="rigid")
        motion.plot("motion.png")

    Raises:
        ValueError, TypeError: an argument has a wrong shape or kind; the message names it.
    """
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"simulate needs a knuckle.Model first, not {type(model).__name__}")
    q, v = _initial(model, q0, v0)
    dt = None if dt is None else _positive("dt", dt)
    if not isinstance(save_every, int) or save_every < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"save_every={save_every!r} must be a whole number from 1 on")
    frames = (frames,) if isinstance(frames, str) else tuple(frames)
    for name in frames:
        model.frame(name)  # says which there are
    watched, limits = events_from(events), stops_from(joint_limits, model)
    if limits is not None:
        must_keep_coordinates(model, limits.joints)
    closing = stabilization_of(stabilization)
    must_be_closed(model, q, v, closing)

    if model.deformables:
        _must_be_simple(model, contacts, limits)
    rigid_contacts = contacts if isinstance(contacts, RigidContacts) else None
    solved = False if isinstance(contacts, RigidContacts) else contacts
    steps = default_steps(model, dt, q, integrator=integrator, contacts=solved)
    driven, sampled = control_inputs(model, controls, parameters)
    told = muscle_inputs(model, excitations, activations0, fiber_lengths0, parameters, driven.control, actuator_states0)
    if told.which is not None:
        must_be_smooth(rigid_contacts)
    acting = controller
    if isinstance(controller, SampledController):
        must_be_one(sampled)
        sampled, acting = sampled_inputs("controller", controller, model.nv, parameters), None
    used = (*told.excitations.parameters, *sampled.parameters, *(driven.parameters or {}))
    plain, wrenches, named = forces_of(model, acting, external_forces, parameters, used)
    control = plain if driven.control is None else with_actuators(plain, driven.control)
    named = {**named, **(driven.parameters or {})}
    if sampled.which is not None:
        steps = _sampled_steps(sampled.which, model, steps, dt, q, integrator, solved)
        must_not_jump(sampled.which, rigid_contacts)
    pushes = limits is not None or rigid_contacts is not None or told.which is not None

    def acts_across() -> bool:
        return control.acts_across(model, q, v, named)

    def for_one_state(steps: Steps) -> Steps:
        method = steps_for_one_state(model, steps.integrator)
        return replace(steps, integrator=implicit_steps_for(model, method, closing, acts_across, pushes))

    def with_muscles(steps: Steps) -> Steps:
        if told.which is None:
            return steps
        from knuckle.integrators.methods.muscle_steps import with_muscle_states

        return replace(steps, integrator=with_muscle_states(steps.integrator))

    steps = for_one_state(steps)
    if steps.integrator.solves_contacts:
        from .contacts.starting_overlaps import warn_of_overlaps

        warn_of_overlaps(model, steps.integrator, q)
    steps = with_muscles(steps)
    force = with_stops(control, limits) if isinstance(limits, CompliantStops) else control
    length = _positive("duration", duration)

    def settings_for(steps: Steps) -> RunSettings:
        stepper = Stepper(model, steps.integrator, force, wrenches, named, closing, told, sampled)
        switches: list[ModeSwitch] = [StickSlip(stepper)] if stepper.has_friction else []
        switches.append(Divergence(model))
        if isinstance(limits, RigidStops):
            switches.append(rigid := JointStops(limits, stepper, wrenches))
            must_be_held(rigid)
            must_be_inside(rigid, q)
        if rigid_contacts is not None:
            from .contacts.contact_events import contact_events

            switches.append(contact_events(rigid_contacts, stepper, wrenches, q, steps.dt))
        if watched:
            switches.append(EventMonitor(watched, model, steps.dt or length))
        policy = step_policy(stepper, length, steps.dt)
        notes = _notes(stepper, switches, rigid_contacts is not None)
        return RunSettings(model, stepper, policy, save_every * steps.parts, tuple(switches), notes)

    settings = settings_for(steps)
    with steady_digits():
        if checkpoint is None:
            if resume:
                raise TypeError("resume=True needs checkpoint=, the folder to go on from")
            run, checkpoints, end = Simulator.start(settings, q, v), None, None
        else:
            method = steps.name if integrator is None else integrator
            is_formed = isinstance(contacts, CompliantContacts) or bool(model.deformables)
            method = steps.integrator if is_formed else method
            spec = run_spec(
                model, q, v, length, steps.dt, settings.save_every, controller, external_forces, named, method, watched,
                limits, frames, closing, rigid_contacts, excitations, told.parameters, controls,
            )  # fmt: skip
            every = float(checkpoint_every)
            run, checkpoints, end = _from_checkpoint(Path(checkpoint), spec, settings, q, v, every, resume)
        with interruptible() as interrupt:
            reporter = Reporter(progress, f"simulating {model.name}")
            reason, message = end or _to_the_end(run, checkpoints, reporter, interrupt)
            changes = any(event.action for event in watched)
            is_default = integrator is None and dt is None and checkpoints is None and not changes and not sampled.which
            if reason == "diverged" and is_default and is_too_stiff(model, steps, run.recorder.rows()[1]):
                because = f"{model.name} became too stiff for RK4 at t = {run.t:.3g} s"
                steps = with_muscles(for_one_state(implicit_instead(model, steps, because)))
                settings = settings_for(steps)
                run = Simulator.start(settings, q, v)
                reporter = Reporter(progress, f"simulating {model.name} again")
                reason, message = _to_the_end(run, None, reporter, interrupt)
            times, q_rows, v_rows, states = run.recorder.rows()
            states, held = _apart(settings.stepper, states)
            muscles = muscle_rows(model, told, times, q_rows, v_rows, states)
            acts = driven_rows(muscles)
            if sampled.which is None or held is None:
                tau = forces_along(model, control, named, times, q_rows, v_rows, states=acts)
            elif sampled.which.law.what == "controls":
                tau = forces_along(model, plain, named, times, q_rows, v_rows)
                tau = tau + actuated_rows(model, times, q_rows, v_rows, held, acts.get(DRIVEN))
            else:
                tau = (
                    held
                    if driven.control is None
                    else held + forces_along(model, control, named, times, q_rows, v_rows, states=acts)
                )
    warn_of_contacts(model, steps.integrator, run.state.memory.__getitem__)
    is_smooth = not (isinstance(limits, RigidStops) or rigid_contacts or steps.integrator.solves_contacts)
    if reason in ("diverged", "stalled"):
        warn(f"the simulation of {model.name} {reason} {message}")
    elif steps.is_coarse and not settings.stepper.is_compiled:
        warn(steps.why)
    elif (
        is_smooth and not sampled.which and integrator is None and settings.stepper.is_compiled and reason == "finished"
    ):
        warn_of_error(settings, not changes, times, q_rows, v_rows, states)
    return Trajectory(
        model, times, q_rows, v_rows, tau, tuple(run.events), reason,
        message or "; ".join(filter(None, (steps.why, settings.stepper.account(run.state)))),
        steps.name, steps.dt,
        muscle_rows=muscles, **({} if settings.notes is None else settings.notes.of_trajectory(model)),
    ).with_frames(frames)  # fmt: skip


def _sampled_steps(
    control: SampledControl, model: Model, steps: Steps, dt: float | None, q: Array, integrator: Any, contacts: Any
) -> Steps:
    """Steps of which the period of a sampled controller is a whole number: shorter ones, where no dt is given."""
    if dt is None and steps.dt is not None and steps.parts == 1:
        steps = default_steps(model, fitting_step(control, steps.dt), q, integrator=integrator, contacts=contacts)
    elif dt is None and steps.dt is not None:
        steps = replace(steps, dt=fitting_step(control, steps.dt))
    must_fit_steps(control, steps.dt or 0.0, steps.integrator)
    return steps


def _apart(stepper: Stepper, rows: Array) -> tuple[Array, Array | None]:
    """The states of muscles, and the forces that a sampled controller held, in the rows of a motion."""
    if stepper.sampled is None:
        return rows, None
    n = stepper.recorded_size - stepper.sampled.count + 1
    return rows[:, :n], rows[:, n : n + stepper.sampled.size].copy()


def _notes(stepper: Stepper, switches: Iterable[ModeSwitch], has_events: bool) -> RowNotes | None:
    """What notes the nodes of deformable bodies, or contacts that steps solve or that go from event to event."""
    if stepper.model.deformables:
        return NodeNotes()
    if not (has_events or stepper.integrator.solves_contacts):
        return None
    from .contacts.contact_notes import contact_notes

    return contact_notes(stepper, switches)


def _must_be_simple(model: Model, contacts: Any, limits: Any) -> None:
    """An error for what steps with deformable bodies do not know."""
    for name, value, instead in (
        ("contacts", contacts if not isinstance(contacts, bool) else None, "True and False"),
        ("joint_limits", limits if isinstance(limits, RigidStops) else None, "CompliantStops"),
    ):
        if value is not None:
            raise ValueError(
                f"{name}: {model.name} has deformable bodies, whose steps do not know it; what they know is {instead}"
            )


def _to_the_end(
    run: Simulator, checkpoints: Checkpoints | None, reporter: Reporter, interrupt: Interrupt
) -> tuple[Any, str]:
    """Why a simulation ended, and that in words."""
    end: tuple[str, str] = "finished", ""
    with contextlib.closing(reporter):
        try:
            while not run.is_done:
                run.advance()
                if checkpoints is not None and not run.is_between and checkpoints.is_due:
                    checkpoints.write(run)
                if interrupt.pressed:
                    raise KeyboardInterrupt
                reporter.report(run.progress)
        except KeyboardInterrupt:
            end = "interrupted", f"at t = {run.t:.9g} s of {run.settings.duration:.9g} s"
        except EndOfRun as over:
            end = over.reason, over.message
    is_over = end[0] != "interrupted"
    if is_over:
        run.finish()
    if checkpoints is not None and (is_over or not run.is_between):
        checkpoints.write(run, end if is_over else None)
    run.finish()
    return end


def _from_checkpoint(
    folder: Path, spec: RunSpec, settings: RunSettings, q: Array, v: Array, every: float, resume: bool
) -> tuple[Simulator, Checkpoints, tuple[Any, str] | None]:
    """A run with checkpoints: new, or from where the last sound one stands, or at its end already."""
    there = read_start(folder)
    if there is None:
        return Simulator.start(settings, q, v), Checkpoints.new(folder, spec, every), None
    if not resume:
        raise FileExistsError(f"{folder} holds the checkpoints of a run: resume=True goes on with it; or remove it")
    if different := differences(spec, there):
        raise ValueError(f"{folder} holds another run: {', '.join(different)} was not the same when it was begun")
    checkpoints = Checkpoints(folder, there, every)
    saved = checkpoints.read(settings.model, settings.stepper.recorded_size)
    for arrays in saved.notes:
        assert settings.notes is not None
        settings.notes.restore(arrays)
    for notes in saved.contacts:
        assert settings.notes is not None
        assert settings.notes.log is not None
        settings.notes.log.add(notes)
    if saved.state is None:
        return Simulator.start(settings, q, v), checkpoints, None
    return Simulator(settings, saved.state, saved.recorder, saved.events), checkpoints, saved.end


def _initial(model: Model, q0: ArrayLike | None, v0: ArrayLike | None) -> tuple[Array, Array]:
    positions, velocities = start_of(model, q0, v0)
    q, v = _vector("q0", positions, model.nq), _vector("v0", velocities, model.nv)
    must_be_unit(model, q)
    return q, v


def _vector(name: str, value: ArrayLike, n: int) -> Array:
    try:
        array = np.array(value, float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {n} numbers, not {value!r}") from None
    if array.ndim > 1 and array.shape[-1] == n:
        raise ValueError(f"{name} has shape {array.shape}: simulate takes one state ({n},), kn.rollout takes batches")
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}, and must have shape ({n},)")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has an entry that is not finite: {array}")
    return array


def _positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is a number of seconds, not {value!r}") from None
    if not (number > 0 and np.isfinite(number)):
        raise ValueError(f"{name}={value!r} must be positive and finite: a number of seconds")
    return number
