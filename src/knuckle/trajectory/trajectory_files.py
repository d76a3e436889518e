"""Trajectories as files: npz, and NetCDF through xarray."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ModelError
from knuckle.model import Model
from knuckle.model.labels import force_units, position_labels, position_units, velocity_labels, velocity_units
from knuckle.trajectory.node_rows import NodeRows

from .archive import read_archive, write_archive, written_aside
from .contacts.motion_contacts import PER_CONTACT, SLIP, STICK, MotionContacts
from .event_record import EventRecord
from .muscle_rows import MuscleRows

if TYPE_CHECKING:
    from knuckle.simulation.rollout.rollout_result import Rollout

    from .trajectory import Trajectory

FORMAT = "knuckle trajectory 1"
INSTALL = "pip install xarray netCDF4"
_FRAME, _CONTACT, _NODES = "frame:", "contact:", "nodes:"


def save(trajectory: Trajectory, path: str | os.PathLike[str]) -> None:
    """Writes a trajectory; the suffix says how."""
    if Path(path).suffix.lower() == ".csv":
        write_csv(trajectory, Path(path))
    else:
        write(path, "trajectory", lambda: parts(trajectory), lambda: to_xarray(trajectory))


def columns(trajectory: Trajectory) -> dict[str, NDArray[Any]]:
    """Time, positions, velocities, forces and energies by name and unit: a column each."""
    model = trajectory.model
    found: dict[str, NDArray[Any]] = {"time [s]": trajectory.times}
    for what, rows, labels, units in (
        ("q", trajectory.q, position_labels(model), position_units(model)),
        ("v", trajectory.v, velocity_labels(model), velocity_units(model)),
        ("tau", trajectory.tau, velocity_labels(model), force_units(model)),
    ):
        found |= {f"{what} {x} [{unit}]": rows[:, k] for k, (x, unit) in enumerate(zip(labels, units, strict=True))}
    return found | {
        "kinetic energy [J]": trajectory.kinetic_energy,
        "potential energy [J]": trajectory.potential_energy,
    }


def write_csv(trajectory: Trajectory, path: Path) -> None:
    """A table with a row for each state, for spreadsheets: every digit, but neither the model nor events."""
    import csv

    table = columns(trajectory)
    with written_aside(path) as aside, aside.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(table)
        out.writerows([repr(float(x)) for x in row] for row in zip(*table.values(), strict=True))


def load(path: str | os.PathLike[str], model: Model | None) -> Trajectory:
    """Reads what `save` wrote."""
    if Path(path).suffix.lower() == ".csv":
        raise ValueError(f"{path}: a .csv file holds numbers for other programs, and no model; save a motion as .npz")
    arrays, facts = read(path, FORMAT)
    return together(arrays, facts, model, str(path))


def write(
    path: str | os.PathLike[str],
    what: str,
    parts: Callable[[], tuple[dict[str, Any], dict[str, Any]]],
    to_xarray: Callable[[], Any],
) -> None:
    """Writes arrays and facts, or a dataset of them, as the suffix says; `what` they are, in errors."""
    target = Path(path)
    if target.suffix.lower() == ".npz":
        write_archive(target, *parts())
    elif target.suffix.lower() == ".nc":
        _needed("netCDF4", ".nc files")
        data = to_xarray()
        with written_aside(target) as aside:
            data.to_netcdf(aside, engine="netcdf4")
    else:
        besides = "; one as .csv too" if what == "trajectory" else ""
        raise ValueError(f"{target}: a {what} is saved as .npz or, through xarray, as .nc{besides}")


def read(path: str | os.PathLike[str], form: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and facts of a file, which must have this format."""
    source = Path(path)
    arrays, facts = _from_netcdf(source) if source.suffix.lower() == ".nc" else read_archive(source)
    if facts.get("format") != form:
        raise ValueError(f"{source} holds {facts.get('format')!r}, and should hold {form!r}")
    return arrays, facts


def parts(trajectory: Trajectory) -> tuple[dict[str, Any], dict[str, Any]]:
    """A trajectory as arrays and as facts that JSON can say."""
    arrays = {name: getattr(trajectory, name) for name in ("times", "q", "v", "tau")}
    arrays |= {_FRAME + name: poses for name, poses in trajectory.frames.items()}
    arrays |= trajectory.muscle_rows.named if trajectory.muscle_rows else {}
    arrays |= event_arrays(trajectory.events, trajectory.model)
    contacts = None if trajectory.contact_record is None else trajectory.contacts
    arrays |= contact_arrays(contacts)
    if trajectory.node_rows is not None:
        arrays |= {_NODES + name: getattr(trajectory.node_rows, name) for name in ("x", "u")}
    facts = {
        "format": FORMAT,
        "model": model_text(trajectory.model),
        "content": trajectory.model.content_hash,
        "events": [(o.name, o.kind) for o in trajectory.events],
        "contacts": None if contacts is None else {"bodies": contacts.bodies, "shapes": contacts.shapes},
        **{name: getattr(trajectory, name) for name in ("reason", "message", "integrator", "dt")},
    }
    return arrays, facts


def together(
    arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any], model: Model | None, file: str
) -> Trajectory:
    """A trajectory from its parts."""
    from .trajectory import Trajectory

    return Trajectory(
        model_from(facts, model, file),
        *(arrays[name] for name in ("times", "q", "v", "tau")),
        events=events_from_arrays(arrays, facts["events"]),
        **{name: facts[name] for name in ("reason", "message", "integrator", "dt")},
        frames={name.removeprefix(_FRAME): poses for name, poses in arrays.items() if name.startswith(_FRAME)},
        contact_record=contacts_from_arrays(arrays, facts.get("contacts")),
        node_rows=NodeRows(arrays[_NODES + "x"], arrays[_NODES + "u"]) if _NODES + "x" in arrays else None,
        muscle_rows=MuscleRows.from_named(arrays),
    )


def contact_arrays(contacts: MotionContacts | None) -> dict[str, NDArray[Any]]:
    """Contacts as arrays."""
    if contacts is None:
        return {}
    found = {_CONTACT + name: getattr(contacts, name) for name in PER_CONTACT}
    return found | {_CONTACT + "state": contacts.sticks.astype(np.uint8)}


def contacts_from_arrays(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any] | None) -> MotionContacts | None:
    """Contacts from their arrays and from the names of their pairs."""
    if facts is None:
        return None
    bodies, shapes = (tuple((a, b) for a, b in facts[name]) for name in ("bodies", "shapes"))
    own = {name: arrays[_CONTACT + name] for name in PER_CONTACT}
    own["state"] = np.where(own["state"] > 0, STICK, SLIP)
    return MotionContacts(arrays["times"], bodies, shapes, **own)


def event_arrays(events: Iterable[EventRecord], model: Model) -> dict[str, NDArray[Any]]:
    """What occurred, as arrays."""
    events = tuple(events)
    return {
        "event_times": np.array([o.time for o in events], float),
        "event_q": np.array([o.q for o in events], float).reshape(len(events), model.nq),
        "event_v": np.array([o.v for o in events], float).reshape(len(events), model.nv),
        "event_v_before": np.array([o.v_before for o in events], float).reshape(len(events), model.nv),
    }


def events_from_arrays(arrays: Mapping[str, NDArray[Any]], names: Iterable[Any]) -> tuple[EventRecord, ...]:
    """What occurred, from its arrays."""
    rows = zip(*(arrays[f"event_{x}"] for x in ("times", "q", "v", "v_before")), strict=True)
    return tuple(
        EventRecord(float(t), name, kind, q, v, before)
        for (name, kind), (t, q, v, before) in zip(names, rows, strict=True)
    )


def model_text(model: Model) -> str | None:
    """The model as JSON; None if JSON cannot hold it."""
    from knuckle.formats.json import read_json, to_json

    try:
        text = to_json(model, indent=None)
        return text if read_json(text).content_hash == model.content_hash else None
    except (ModelError, TypeError, ValueError):
        return None


def model_from(facts: Mapping[str, Any], model: Model | None, file: str) -> Model:
    """The model of a file, or the one that is given for it, if it is the same."""
    if model is None:
        if facts["model"] is None:
            raise ValueError(f"{file} could not hold its model, which has parts of your own: load it with model=...")
        from knuckle.formats.json import read_json

        return read_json(facts["model"], file=file)
    if model.content_hash != facts["content"]:
        raise ValueError(f"{file} was computed with another model than the one given, {model.name!r}")
    return model


def to_pandas(trajectory: Trajectory) -> Any:
    """A trajectory as a table of pandas, by time."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise ImportError("to_pandas needs pandas: pip install pandas") from None
    time, *_ = table = columns(trajectory)
    return pandas.DataFrame(table).set_index(time)


def to_xarray(trajectory: Trajectory) -> Any:
    """An xarray Dataset: times, named variables and units."""
    arrays, facts = parts(trajectory)
    data = variables(trajectory, ())
    for name, poses in trajectory.frames.items():
        data[_FRAME + name] = (("time", "row", "column"), poses)
    for name, axes in (("times", ()), ("q", ("position",)), ("v", ("velocity",)), ("v_before", ("velocity",))):
        data[f"event_{name}"] = (("event", *axes), arrays[f"event_{name}"])
    for name, array in arrays.items():
        if name.startswith(_CONTACT):
            data[name] = (("contact", "axis")[: array.ndim], array)
        if name.startswith(_NODES):
            data[name] = (("time", "node", "axis"), array)
    return dataset(trajectory.model, arrays["times"], data, facts)


def variables(motion: Trajectory | Rollout, batch: tuple[str, ...]) -> dict[str, Any]:
    """The variables of a motion as xarray takes them: axes, with those of the batch first, numbers and units."""
    model = motion.model
    units = {"q": position_units(model), "v": velocity_units(model), "tau": force_units(model)}
    data: dict[str, Any] = {
        name: ((*batch, "time", axis), getattr(motion, name), {"units": ", ".join(dict.fromkeys(units[name]))})
        for name, axis in (("q", "position"), ("v", "velocity"), ("tau", "velocity"))
    }
    for name, rows in (motion.muscle_rows.named if motion.muscle_rows else {}).items():
        axis = {"fiber_lengths": "tendon", "actuator_states": "actuator"}.get(name, "muscle")
        data[name] = ((*batch, "time", axis), rows, {"units": "m" if axis == "tendon" else "1"})
    for name in ("kinetic_energy", "potential_energy"):
        data[name] = ((*batch, "time"), getattr(motion, name), {"units": "J"})
    return data


def dataset(model: Model, times: NDArray[Any], data: Mapping[str, Any], facts: Mapping[str, Any]) -> Any:
    """An xarray Dataset of variables with names for their entries."""
    xarray = _needed("xarray", "xarray datasets")
    coordinates = {
        "time": ("time", times, {"units": "s"}),
        "position": list(position_labels(model)),
        "velocity": list(velocity_labels(model)),
    }
    return xarray.Dataset(data, coordinates, {"knuckle": json.dumps(facts)})


def _from_netcdf(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    xarray = _needed("xarray", ".nc files")
    _needed("netCDF4", ".nc files")
    with xarray.open_dataset(path, decode_times=False) as data:
        if "knuckle" not in data.attrs:
            raise ValueError(f"{path} is no file of knuckle's: the attribute 'knuckle' is missing")
        facts = json.loads(data.attrs["knuckle"])
        arrays = {str(name): np.asarray(data[name].values) for name in data.variables}
    return arrays | {"times": arrays["time"]}, facts


def _needed(package: str, what: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError:
        raise ImportError(f"{what} need {package}, which is not installed: {INSTALL}") from None
