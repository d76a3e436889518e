"""The description of a checkpointed run: enough to recognise it, and to go on with it as far as files can hold it."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.algorithms.loops.independent_variables import Choice
from knuckle.integrators.base import Integrator
from knuckle.integrators.loop_stabilization import Stabilization
from knuckle.integrators.registry import integrator_of
from knuckle.model import Model
from knuckle.model.contact import RigidContacts
from knuckle.simulation.controls import CONTROLS
from knuckle.simulation.events.event import Event, Events
from knuckle.simulation.muscle_inputs import EXCITED, FIRST_ACTIVATIONS, FIRST_FIBERS
from knuckle.simulation.sampled_control import SampledController
from knuckle.simulation.stops.stop_spec import CompliantStops, RigidStops, Stops
from knuckle.trajectory.trajectory_files import model_from, model_text

from .checkpoint import FORMAT, RunSpec, read_start
from .progress import Progress

if TYPE_CHECKING:
    from knuckle.trajectory.trajectory import Trajectory

Array = NDArray[Any]
_PARAMETER, _ARRAY = "parameter:", "array:"
_FIRST = {FIRST_ACTIVATIONS: "activations0", FIRST_FIBERS: "fiber_lengths0"}
_STOPS = {"RigidStops": RigidStops, "CompliantStops": CompliantStops}


def run_spec(
    model: Model,
    q: Array,
    v: Array,
    duration: float,
    dt: float | None,
    save_every: int,
    controller: Any,
    external_forces: Any,
    parameters: Mapping[str, Array],
    integrator: str | Integrator,
    events: tuple[Event, ...],
    joint_limits: Stops,
    frames: tuple[str, ...],
    stabilization: Stabilization,
    contacts: RigidContacts | None = None,
    excitations: Any = None,
    muscles: Mapping[str, Array] | None = None,
    controls: Any = None,
) -> RunSpec:
    """The arrays and facts of a run."""
    arrays = {"q0": q, "v0": v} | {
        _PARAMETER + name: x for name, x in parameters.items() if name not in ("tau", "f_ext", CONTROLS)
    }
    first = {name: x for name, x in (muscles or {}).items() if name in _FIRST}
    arrays |= {_FIRST[name]: x for name, x in first.items()}
    arrays |= {_PARAMETER + name: x for name, x in (muscles or {}).items() if name not in first and name != EXCITED}
    for name, force in _named_forces(controller, external_forces, excitations, controls):
        if isinstance(force, SampledController):
            arrays |= {} if force.state is None else {f"state of {name}": np.asarray(force.state)}
        elif force is not None and not callable(force):
            arrays[_ARRAY + name] = np.asarray(force, float)
    facts = {
        "format": FORMAT,
        "model": model_text(model),
        "content": model.content_hash,
        "duration": duration,
        "dt": dt,
        "save_every": save_every,
        "integrator": repr(integrator_of(integrator)),
        "integrator_name": integrator if isinstance(integrator, str) else None,
        "controller": _identity(controller),
        "external_forces": _identity(external_forces),
        "excitations": _identity(excitations),
        "controls": _identity(controls),
        "events": [[e.name, e.direction, e.stop, _identity(e.function), _identity(e.action)] for e in events],
        "joint_limits": None if joint_limits is None else [type(joint_limits).__name__, _fields(joint_limits)],
        "contacts": None if contacts is None else _fields(contacts),
        "stabilization": _fields(stabilization) if isinstance(stabilization, Choice) else stabilization,
        "frames": list(frames),
    }
    return RunSpec(arrays, facts)


def _named_forces(
    controller: Any, external_forces: Any, excitations: Any, controls: Any
) -> tuple[tuple[str, Any], ...]:
    return (
        ("controller", controller), ("external_forces", external_forces), ("excitations", excitations),
        ("controls", controls),
    )  # fmt: skip


def _fields(spec: Any) -> dict[str, Any]:
    fields = {f.name: getattr(spec, f.name) for f in dataclasses.fields(spec)}
    return {
        name: list(x) if isinstance(x, tuple) else dict(x) if isinstance(x, Mapping) else x
        for name, x in fields.items()
    }


def _stabilization(fact: Any) -> Stabilization:
    return Choice(**{name: tuple(x) for name, x in fact.items()}) if isinstance(fact, dict) else fact


def _identity(value: Any) -> str | None:
    """What a function goes by: its name, and a hash of its text where that can be read."""
    if value is None:
        return None
    if isinstance(value, SampledController):
        return f"{_identity(value.law)} every {value.period!r} s"
    if not callable(value):
        return "an array"
    function = inspect.unwrap(value)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        return name
    return f"{name} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def resume(
    path: str | os.PathLike[str],
    *,
    model: Model | None = None,
    controller: Callable[..., Any] | SampledController | ArrayLike | None = None,
    external_forces: Callable[..., Any] | ArrayLike | None = None,
    excitations: Callable[..., Any] | ArrayLike | None = None,
    controls: Callable[..., Any] | SampledController | ArrayLike | None = None,
    integrator: Integrator | None = None,
    events: Events = None,
    progress: Progress = None,
    checkpoint_every: float = 30.0,
) -> Trajectory:
    """Goes on with a checkpointed simulation to its end, to the last bit as if it had not been interrupted.

    Args:
        path: the folder that was given to `simulate` as `checkpoint`.
        model: needed only if the file could not hold it (joints of your own).
        controller: the function, if there was one; files hold no functions. A constant τ is in the file.
        external_forces: the same for external forces.
        excitations: the same for excitations of muscles.
        controls: the same for controls of actuators.
        integrator: needed only if it was not given by its name.
        events: the same for events.
        progress: as for `simulate`.
        checkpoint_every: seconds of computing between checkpoints.
    """
    from knuckle.simulation.simulate import simulate

    folder = Path(path)
    spec = read_start(folder)
    if spec is None:
        raise FileNotFoundError(f"{folder} holds no checkpoints of a simulation")
    facts, arrays = spec.facts, spec.arrays
    if integrator is None and facts["integrator_name"] is None:
        raise TypeError(f"{folder} was computed with {facts['integrator']}, which a file cannot hold: give integrator=")
    functions: dict[str, Any] = {}
    for name, force in _named_forces(controller, external_forces, excitations, controls):
        functions[name] = arrays.get(_ARRAY + name) if force is None else force
        if functions[name] is None and facts.get(name) is not None:
            function = facts[name].split()[0]
            raise TypeError(f"{folder} was computed with the {name} {function}, which a file cannot hold: give {name}=")
    joint_limits = None
    if facts["joint_limits"] is not None:
        kind, fields = facts["joint_limits"]
        joint_limits = _STOPS[kind](**{name: tuple(x) if isinstance(x, list) else x for name, x in fields.items()})
    return simulate(
        model_from(facts, model, str(folder)),
        arrays["q0"],
        arrays["v0"],
        facts["duration"],
        dt=facts["dt"],
        parameters={name.removeprefix(_PARAMETER): x for name, x in arrays.items() if name.startswith(_PARAMETER)},
        activations0=arrays.get("activations0"),
        fiber_lengths0=arrays.get("fiber_lengths0"),
        integrator=integrator or facts["integrator_name"],
        events=events,
        joint_limits=joint_limits,
        contacts=RigidContacts(**facts["contacts"]) if facts.get("contacts") else None,
        stabilization=_stabilization(facts["stabilization"]),
        save_every=facts["save_every"],
        frames=facts["frames"],
        progress=progress,
        checkpoint=folder,
        checkpoint_every=checkpoint_every,
        resume=True,
        **functions,
    )
