"""Errors of functions in double and single precision against many digits, and how much of them the inputs explain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle import functions
from knuckle.model import Model

from .exact_model import exact
from .many_digits import precision
from .reference_run import run

Array = NDArray[Any]
PRECISIONS = ("float64", "float32")
TREE = ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "gravity_force")
"""Functions that know no loops."""
ARGUMENTS = {
    "inverse_dynamics": ("q", "v", "a"),
    "forward_dynamics": ("q", "v", "tau"),
    "mass_matrix": ("q",),
    "coriolis_matrix": ("q", "v"),
    "gravity_force": ("q",),
    "jacobian": ("q",),
    "kinetic_energy": ("q", "v"),
    "potential_energy": ("q",),
    "center_of_mass": ("q",),
}


@dataclass(frozen=True)
class FunctionError:
    """The error of one function in one precision, over states.

    Attributes:
        function: its name.
        precision: "float64" or "float32".
        errors: for each state the largest difference of any entry from the exact one, in parts of the largest exact
            entry; of energies, centres and weight in parts of the sum of the magnitudes that they are made of.
        condition: for each state, by how many times its size a small relative change of all inputs may change the
            result (the exact Jacobian); an error of `condition` roundings is that of rounded inputs.
    """

    function: str
    precision: str
    errors: Array
    condition: Array

    @property
    def rounding(self) -> float:
        """Half the distance between one and the next number."""
        return float(np.finfo(self.precision).eps) / 2

    @property
    def median(self) -> float:
        """The error of the typical state."""
        return float(np.median(self.errors))

    @property
    def worst(self) -> float:
        """The error of the worst state."""
        return float(np.max(self.errors))

    @property
    def worst_state(self) -> int:
        """Which state that is."""
        return int(np.argmax(self.errors))

    @property
    def digits(self) -> float:
        """How many decimal digits are right in the worst state."""
        return float(-np.log10(max(self.worst, 1e-18)))

    @property
    def beyond_inputs(self) -> float:
        """How many times more is lost than rounded inputs would explain, in the typical state: 1 or less is best."""
        return float(np.median(self.errors / (self.rounding * np.maximum(self.condition, 1.0))))


def single(x: Array) -> Array:
    """Doubles that single precision has too."""
    return np.asarray(x, np.float32).astype(float)


def options(model: Model, name: str) -> dict[str, Any]:
    """The options of a call: the Jacobian of the body that most joints move."""
    if name != "jacobian":
        return {}
    last = max(range(model.nb), key=lambda i: len(model.ancestors(i)))
    return {"frame": model.body_names[last], "expressed_in": "aligned"}


def names_for(model: Model) -> tuple[str, ...]:
    """The functions that a model has."""
    return tuple(name for name in ARGUMENTS if not (model.loops and name in TREE))


def exact_result(model: Model, name: str, state: Mapping[str, Array], digits: int) -> Array:
    """A function in many digits."""
    with precision(digits):
        arrays = [state[x] for x in ARGUMENTS[name]]
        return run(getattr(functions, name), exact(model), arrays, **options(model, name))


def relative_error(x: Array, exact_value: Array, scale: Array | None = None) -> Array:
    """For each state the largest difference, in parts of the largest entry or of `scale`."""
    states = len(x)
    flat, right = x.reshape(states, -1), exact_value.reshape(states, -1)
    size = np.abs(right.astype(float)).max(axis=1) if scale is None else scale
    return np.abs((right - flat.astype(float)).astype(float)).max(axis=1) / np.where(size > 0, size, 1.0)


def error_of(model: Model, name: str, state: Mapping[str, Array], exact_value: Array, kind: str) -> FunctionError:
    """The error of a function in a precision, as users call it. The state is one that single precision has too."""
    function, extra = getattr(functions, name), options(model, name)
    arrays = [state[x] for x in ARGUMENTS[name]]
    computed = np.asarray(function(model, *(x.astype(kind) for x in arrays), **extra))
    errors = relative_error(computed, exact_value, scale_of(model, name, state))
    return FunctionError(name, kind, errors, condition_of_map(model, name, state, exact_value))


def scale_of(model: Model, name: str, state: Mapping[str, Array]) -> Array | None:
    """What results that may cancel altogether are made of: Σ m |g·c| of potential energy, Σ m|c|/Σ m of the centre."""
    if name not in ("potential_energy", "center_of_mass") or not model.nb:
        return None
    poses, total, mass = np.asarray(functions.body_poses(model, state["q"])), np.zeros(len(state["q"])), 0.0
    g = np.array([float(x) for x in model.gravity])
    for k, I in enumerate(model.I):
        m, h = float(I.mass), np.array([float(x) for x in I.first_moment])
        first = m * poses[:, k, : len(h), -1] + poses[:, k, : len(h), : len(h)] @ h
        total += np.abs(first @ g[: len(h)]) if name == "potential_energy" else np.abs(first).max(axis=1)
        mass += m
    return total if name == "potential_energy" else total / mass


def condition_of_map(model: Model, name: str, state: Mapping[str, Array], exact_value: Array) -> Array:
    """‖Σ |∂f/∂x| |x|‖ / ‖f‖ for each state, by exact Jacobians: what a relative change of all inputs may do."""
    arguments, states = ARGUMENTS[name], len(exact_value)
    slopes = getattr(functions, name).jacobian(model, *(state[x] for x in arguments), **options(model, name))
    change = np.zeros((states, exact_value[0].size if exact_value.ndim > 1 else 1))
    for argument, J in slopes.items():
        size = np.abs(state[argument]) if argument != "q" else position_sizes(model, state["q"])
        change += (np.abs(np.asarray(J).reshape(states, -1, size.shape[1])) * size[:, None, :]).sum(axis=2)
    scale = scale_of(model, name, state)
    largest = np.abs(exact_value.reshape(states, -1).astype(float)).max(axis=1) if scale is None else scale
    return change.max(axis=1) / np.where(largest > 0, largest, 1.0)


def position_sizes(model: Model, q: Array) -> Array:
    """How large the positions along each velocity variable are: joints that count otherwise as one radian or metre."""
    if model.nq == model.nv:
        return np.abs(q)
    sizes, at = np.ones((len(q), model.nv)), [0, 0]
    for joint in model.joints:
        nq, nv = joint.type.nq, joint.type.nv
        if nq == nv:
            sizes[:, at[1] : at[1] + nv] = np.abs(q[:, at[0] : at[0] + nq])
        at = [at[0] + nq, at[1] + nv]
    return sizes
