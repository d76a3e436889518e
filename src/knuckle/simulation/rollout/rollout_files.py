"""Rollouts as files: npz, and NetCDF through xarray."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.calls.trajectory_batches import Input
from knuckle.model import Model
from knuckle.simulation.controls import control_of
from knuckle.trajectory.muscle_rows import MuscleRows
from knuckle.trajectory.node_rows import NodeRows
from knuckle.trajectory.trajectory_files import dataset, model_from, model_text, read, variables, write

from .rollout_forces import Acting
from .rollout_result import Rollout

FORMAT = "knuckle rollout 1"
_PARAMETER, _CONTACT, _NODES = "parameter:", "contact:", "nodes:"


def save(rollout: Rollout, path: str | os.PathLike[str]) -> None:
    """Writes a rollout; the suffix says how."""
    write(path, "rollout", lambda: parts(rollout), lambda: to_xarray(rollout))


def load(path: str | os.PathLike[str], model: Model | None, model_fn: Callable[..., Model] | None) -> Rollout:
    """Reads what `save` wrote."""
    arrays, facts = read(path, FORMAT)
    return together(arrays, facts, model, model_fn, str(path))


def parts(rollout: Rollout) -> tuple[dict[str, Any], dict[str, Any]]:
    """A rollout as arrays and as facts that JSON can say."""
    arrays = {name: getattr(rollout, name) for name in ("times", "q", "v", "tau", "diverged_at")}
    model_fn = rollout.acting.model_fn if rollout.acting else None
    inputs = {name: rollout.acting.inputs[name] for name in model_fn.names} if rollout.acting and model_fn else {}
    arrays |= {_PARAMETER + name: x.array for name, x in inputs.items()}
    if rollout.muscle_rows is not None:
        told = {} if rollout.muscle_rows.activations is None else {"excitations": rollout.excitations}
        arrays |= {**rollout.muscle_rows.named, **told}
    if rollout.contact_rows is not None:
        arrays |= {_CONTACT + name: x for name, x in rollout.contact_rows.named_arrays().items()}
    if rollout.node_rows is not None:
        arrays |= {_NODES + name: getattr(rollout.node_rows, name) for name in ("x", "u")}
    facts = {
        "format": FORMAT,
        "model": model_text(rollout.model),
        "content": rollout.model.content_hash,
        "model_fn": model_fn and getattr(model_fn.function, "__name__", "model_fn"),
        "shapes": {name: x.shape for name, x in inputs.items()},
        "contacts": None if rollout.contact_rows is None else rollout.contact_rows.facts(),
        "single": [name for name in inputs if rollout.acting and name in rollout.acting.single],
        **{name: getattr(rollout, name) for name in ("integrator", "dt")},
    }
    return arrays, facts


def together(
    arrays: Mapping[str, NDArray[Any]],
    facts: Mapping[str, Any],
    model: Model | None,
    model_fn: Callable[..., Model] | None,
    file: str,
) -> Rollout:
    """A rollout from its parts."""
    known = model_from(facts, model, file)
    control, inputs = None, {}
    if facts["model_fn"] is not None:
        if model_fn is None:
            name = facts["model_fn"]
            raise TypeError(f"{file} was computed with model_fn={name}, which a file cannot hold: give model_fn=")
        names = dict.fromkeys(facts["shapes"], 0.0)
        control = control_of("model_fn", model_fn, "model_fn", (), names)[0]
        inputs = {name: Input(arrays[_PARAMETER + name], tuple(shape)) for name, shape in facts["shapes"].items()}
    elif model_fn is not None:
        raise TypeError(f"{file} was computed without model_fn: it takes none")
    times, q, v, tau, diverged_at = (arrays[name] for name in ("times", "q", "v", "tau", "diverged_at"))
    steps = np.zeros(len(times), int)
    acting = Acting(known, q.shape[:-2], steps, None, control, inputs, tuple(facts["single"]), tau)
    own = {name.removeprefix(_CONTACT): x for name, x in arrays.items() if name.startswith(_CONTACT)}
    contacts = None
    if facts.get("contacts"):
        from .rollout_contacts import RolloutContacts

        contacts = RolloutContacts.from_file(facts["contacts"], own)
    muscles = MuscleRows.from_named(arrays)
    nodes = NodeRows(arrays[_NODES + "x"], arrays[_NODES + "u"]) if _NODES + "x" in arrays else None
    return Rollout(known, times, q, v, diverged_at, facts["integrator"], facts["dt"], acting, contacts, muscles, nodes)


def to_xarray(rollout: Rollout) -> Any:
    """An xarray Dataset: times, named variables and units, an axis for each batch axis."""
    arrays, facts = parts(rollout)
    count = len(rollout.batch)
    axes = ("trajectory",) if count == 1 else tuple(f"batch{k}" for k in range(count))
    data = variables(rollout, axes)
    data["diverged_at"] = (axes, arrays["diverged_at"], {"units": "s"})
    for name, array in arrays.items():
        if name.startswith((_PARAMETER, _CONTACT)):
            data[name] = (tuple(f"{name} axis {k}" for k in range(array.ndim)), array)
        if name.startswith(_NODES):
            data[name] = ((*axes, "time", "node", "axis"), array)
    return dataset(rollout.model, arrays["times"], data, facts)
