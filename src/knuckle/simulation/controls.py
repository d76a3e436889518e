"""What acts on a mechanism from outside, by the names of its arguments: controllers and external forces."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.calls.function import Function
from knuckle.engine.calls.traced_scalars import composed
from knuckle.model import Model
from knuckle.scalar import is_inside

STATE = ("t", "q", "v")
"""The arguments that receive the time and the state."""
TAKEN = ("dt", "model")
"""Names that a step has for itself."""
Parameters = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Control:
    """A function (model, t, q, v, parameters) → array made of a user's, which names the arguments that it wants."""

    function: Callable[..., Any] | None
    what: str
    """What it is in errors: "controller" or "external"."""
    names: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether it can become part of a kernel."""
        return self.function is None or isinstance(self.function, (Function, Constant))

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names that are not the state's."""
        return tuple(name for name in self.names if name not in STATE)

    def __call__(self, model: Model, t: Any, q: Any, v: Any, parameters: Mapping[str, Any], shape: Any) -> Any:
        """What the function says in a state, as an array of `shape`, inside a kernel as a vector or matrix."""
        if self.function is None:
            return v * 0
        given = {**parameters, "t": t, "q": q, "v": v}
        result: Any = self.function(model, **{name: given[name] for name in self.names})
        if isinstance(result, (dict, tuple)) or result is None:
            kind = type(cast(Any, result)).__name__
            raise TypeError(f"{self._said} returns a {kind}, and must return an array of shape {shape}")
        if is_inside():
            return composed(f"what {self._said} returns", result, shape)
        array = np.asarray(result, float)
        if array.shape != shape:
            raise ValueError(f"{self._said} returns an array of shape {array.shape}, and must return shape {shape}")
        return array

    @property
    def _said(self) -> str:
        return f"{self.what} {getattr(self.function, '__name__', repr(self.function))}"


@dataclass(frozen=True)
class Constant:
    """An array instead of a function: a parameter under its own name."""

    name: str

    def __call__(self, model: Model, **named: Any) -> Any:
        return named[self.name]


def control_of(
    what: str, given: Any, name: str, shape: tuple[int, ...], parameters: Mapping[str, ArrayLike]
) -> tuple[Control, Parameters]:
    """The control of an argument (a function, a kernel, an array or None), and its parameters."""
    if given is None:
        return Control(None, what), {}
    if not callable(given):
        array = _array(f"{what} (no function, so an array)", given)
        if array.shape != shape:
            raise ValueError(f"{what} is an array of shape {array.shape}, and must have shape {shape}")
        return Control(Constant(name), what, (name,)), {name: array}
    said = f"{what} {getattr(given, '__name__', repr(given))}"
    names, missing = list[str](), list[str]()
    for parameter in _after_model(said, given):
        if parameter.name in TAKEN or parameter.name.startswith("memory"):
            raise TypeError(f"{said}: the argument {parameter.name} needs another name, this one is the integrator's")
        if parameter.name in STATE or parameter.name in parameters:
            names.append(parameter.name)
        elif parameter.default is parameter.empty:
            missing.append(parameter.name)
    if missing:
        raise TypeError(
            f"{said} needs {' and '.join(missing)}: besides t, q and v its arguments come from "
            f"parameters, which has {', '.join(parameters) or 'none'}"
        )
    control = Control(given, what, tuple(names))
    return control, {name: _array(f"parameter {name}", parameters[name]) for name in control.parameters}


def _after_model(said: str, given: Callable[..., Any]) -> list[inspect.Parameter]:
    """The arguments after the model, which must have names."""
    try:
        arguments = list(inspect.signature(given).parameters.values())
    except (TypeError, ValueError):
        raise TypeError(f"{said} has no signature to read its arguments from; wrap it in a function") from None
    if not arguments or arguments[0].kind not in (_NAMED, inspect.Parameter.POSITIONAL_ONLY):
        raise TypeError(f"{said} must take the model first: {what_form(said)}")
    named = [
        a for a in arguments[1:] if a.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    ]
    if any(a.kind is inspect.Parameter.POSITIONAL_ONLY for a in named):
        raise TypeError(f"{said}: its arguments are passed by name, and some have none")
    return named


_NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD


def what_form(said: str) -> str:
    """How a control is written."""
    return "controller(model, t, q, v, …) → τ" if said.startswith("controller") else "external(model, t, q, v) → f_ext"


def _array(said: str, value: Any) -> NDArray[Any]:
    try:
        return np.array(value, float)
    except (TypeError, ValueError):
        raise TypeError(f"{said} must be numbers, not {value!r}") from None
