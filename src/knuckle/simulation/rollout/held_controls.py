"""Controllers and external forces that are Python functions of arrays: asked once a step, about all trajectories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.arrays.base import must_end_in
from knuckle.engine.calls.function import Function
from knuckle.integrators.system import System
from knuckle.model import Model
from knuckle.simulation.controls import Control

from .rollout_step import APPLIED, WRENCHES

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Asking:
    """What the functions say at the beginning of a step, to be held while it lasts. `single` names what is a number."""

    model: Model
    controller: Control | None
    external: Control | None
    single: tuple[str, ...]

    def __call__(self, given: Mapping[str, Array]) -> dict[str, Array]:
        """The forces for the arguments of a step."""
        values: dict[str, Any] = {name: x[..., 0] if name in self.single else x for name, x in given.items()}
        values["t"] = float(values["t"])
        timed = System(self.model, _nothing).is_timed
        model = self.model.at(values["t"]) if timed else self.model
        said: dict[str, Array] = {}
        if self.controller is not None:
            said[APPLIED] = given[APPLIED] + _said(self.controller, model, values, (self.model.nv,))
        if self.external is not None:
            shape = (self.model.nb, self.model.algebra.dimension)
            said[WRENCHES] = _said(self.external, model, values, shape)
        return said


def in_code(control: Control | None) -> Control | None:
    """A control that is a kernel, which becomes part of the native code; None for others."""
    return control if control is not None and isinstance(control.function, Function) else None


def in_python(control: Control | None) -> Control | None:
    """A control that Python has to be asked for; None for others."""
    return control if in_code(control) is None else None


def _nothing(model: Model, t: Any, q: Any, v: Any) -> Any:
    return 0 * v


def _said(control: Control, model: Model, values: Mapping[str, Any], shape: tuple[int, ...]) -> Array:
    """An array (..., *shape), or an error that names the function."""
    assert control.function is not None
    result: Any = control.function(model, **{name: values[name] for name in control.names})
    said = f"what {control.what} {getattr(control.function, '__name__', repr(control.function))} returns"
    if isinstance(result, (dict, tuple)) or result is None:
        kind = type(result).__name__  # pyright: ignore[reportUnknownArgumentType]
        raise TypeError(f"{said} is a {kind}, and must be an array of shape (..., {', '.join(map(str, shape))})")
    array = np.asarray(result, values["q"].dtype)
    must_end_in(said, array.shape, shape)
    return array
