"""What acts on a mechanism from outside, by the names of its arguments: controllers and external forces."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.engine.arrays.base import must_end_in
from knuckle.engine.calls.function import Function
from knuckle.engine.calls.numpy_arrays import NumPyArrays
from knuckle.engine.calls.traced_scalars import composed
from knuckle.engine.calls.words.batch_or_matrix import named_matrix
from knuckle.engine.kernels.specialization import Specialization
from knuckle.model import Model
from knuckle.scalar import is_inside

STATE = ("t", "q", "v")
"""The arguments that receive the time and the state."""
MUSCLES = ("activations", "fiber_lengths")
"""The arguments that receive the states of muscles, where these are excited."""
CONTROLS = "applied_controls"
"""The argument of a step for controls of actuators."""
DRIVEN = "applied_states"
"""The argument of a step for states of actuators."""
TAKEN = ("dt", "model", CONTROLS, DRIVEN)
"""Names that a step has for itself."""
Parameters = Mapping[str, NDArray[Any]]


class ComposedForce(ABC):
    """A force that is made of others, and part of a kernel where these are; equal ones share their code."""

    @property
    @abstractmethod
    def is_text(self) -> bool:
        """Whether it can become part of a kernel."""

    @property
    @abstractmethod
    def matrices(self) -> frozenset[str]:
        """The parameters that are matrices."""

    @abstractmethod
    def __call__(self, model: Model, t: Any, q: Any, v: Any, **parameters: Any) -> Any:
        """τ in a state."""


@dataclass(frozen=True)
class Control:
    """A controller or external force as a function (model, t, q, v, parameters) → array. `names` are its arguments."""

    function: Callable[..., Any] | None
    what: str
    """What it is in errors: "controller" or "external_forces"."""
    names: tuple[str, ...] = ()
    state: tuple[str, ...] = STATE
    """Names that are the state's"""

    @property
    def is_text(self) -> bool:
        """Whether it can become part of a kernel."""
        return self.function is None or isinstance(self.function, ConstantForce) or self.is_law

    @property
    def is_law(self) -> bool:
        """Whether it is a kernel, or made of kernels."""
        return isinstance(self.function, Function) or (
            isinstance(self.function, ComposedForce) and self.function.is_text
        )

    @property
    def has_slopes(self) -> bool:
        """Whether it is a kernel of the state, whose derivatives an implicit step can have."""
        return self.is_law and bool({"q", "v"} & set(self.names))

    def acts_across(self, model: Model, q: Any, v: Any, parameters: Mapping[str, Any]) -> bool:
        """Whether it has slopes of one velocity variable on another's force in a state."""
        if not self.has_slopes:
            return False
        from knuckle.integrators.controller_gains import act_across

        def force(model: Model, t: Any, q: Any, v: Any) -> Any:
            return self(model, t, q, v, parameters, (model.nv,))

        return act_across(force, model, q, v)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names that are not the state's."""
        return tuple(name for name in self.names if name not in self.state)

    @property
    def matrices(self) -> frozenset[str]:
        """The parameters that are matrices."""
        if not isinstance(self.function, (Function, ComposedForce)):
            return frozenset()
        return self.function.matrices & set(self.parameters)

    def __call__(self, model: Model, t: Any, q: Any, v: Any, parameters: Mapping[str, Any], shape: Any) -> Any:
        """The function's value in a state, as an array (*shape), inside a kernel as a vector or matrix.

        Of states (..., nq) and (..., nv) the value is an array (..., *shape).
        """
        if self.function is None:
            return v * 0
        values = {**parameters, "t": t, "q": q, "v": v}
        known = {name: values[name] for name in self.names if name in values or name not in self.state}
        result: Any = self.function(model, **known)
        if isinstance(result, (dict, tuple)) or result is None:
            kind = type(cast(Any, result)).__name__
            raise TypeError(f"{self.title} returns a {kind}, and must return an array of shape {shape}")
        if is_inside():
            return composed(f"what {self.title} returns", result, shape, self._way_out)
        array = np.asarray(result, q.dtype)
        if q.ndim > 1:
            must_end_in(f"what {self.title} returns", array.shape, shape)
        elif array.shape != shape:
            said = f"{self.title} returns an array of shape {array.shape}, and must return shape {shape}"
            raise ValueError(said + self._way_out)
        return array

    @property
    def _way_out(self) -> str:
        """What may help where the shape of the result is wrong."""
        vectors = [name for name in self.parameters if name not in self.matrices]
        return f"; {named_matrix(vectors[0])}" if vectors and isinstance(self.function, Function) else ""

    @property
    def title(self) -> str:
        """What it is called in errors."""
        return f"{self.what} {getattr(self.function, '__name__', repr(self.function))}"


NO_FORCE = Control(None, "controller")


@dataclass(frozen=True)
class ConstantForce:
    """An array instead of a function: a parameter under its own name."""

    name: str

    def __call__(self, model: Model, **named: Any) -> Any:
        return named[self.name]


def control_of(
    what: str,
    value: Any,
    name: str,
    shape: tuple[int, ...],
    parameters: Mapping[str, ArrayLike],
    state: tuple[str, ...] = STATE,
) -> tuple[Control, Parameters]:
    """The control of an argument (a function, a kernel, an array or None), and its parameters."""
    if value is None:
        return Control(None, what), {}
    if not callable(value):
        array = _array(f"{what} (no function, so an array)", value)
        if array.shape != shape:
            raise ValueError(f"{what} is an array of shape {array.shape}, and must have shape {shape}")
        return Control(ConstantForce(name), what, (name,)), {name: array}
    title = f"{what} {getattr(value, '__name__', repr(value))}"
    names, missing = list[str](), list[str]()
    for parameter in _after_model(title, value):
        if parameter.name in TAKEN or parameter.name.startswith("memory"):
            raise TypeError(f"{title}: the argument {parameter.name} needs another name, this one is the integrator's")
        if parameter.name in state or parameter.name in parameters:
            names.append(parameter.name)
        elif parameter.default is parameter.empty:
            missing.append(parameter.name)
    if missing:
        raise TypeError(
            f"{title} needs {' and '.join(missing)}: besides {', '.join(state[:-1])} and {state[-1]} its arguments "
            f"come from parameters, which has {', '.join(parameters) or 'none'}"
        )
    control = Control(value, what, tuple(names), state)
    return control, {name: _array(f"parameter {name}", parameters[name]) for name in control.parameters}


def forces_of(
    model: Model,
    controller: Any,
    external_forces: Any,
    parameters: Mapping[str, ArrayLike] | None,
    used: Collection[str] = (),
) -> tuple[Control, Control, Parameters]:
    """The controller, the external forces, and the parameters of both; an error for parameters that nobody has used."""
    named = dict(parameters or {})
    control, own = control_of("controller", controller, "tau", (model.nv,), named)
    wrenches, others = control_of(
        "external_forces", external_forces, "f_ext", (model.nb, model.algebra.dimension), named
    )
    if unused := [name for name in named if name not in own and name not in others and name not in used]:
        raise TypeError(f"parameters has {' and '.join(unused)}, which neither controller nor external_forces asks for")
    return control, wrenches, {**own, **others}


def _after_model(title: str, function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The arguments after the model, which must have names."""
    try:
        arguments = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise TypeError(f"{title} has no signature to read its arguments from; wrap it in a function") from None
    if not arguments or arguments[0].kind not in (_NAMED, inspect.Parameter.POSITIONAL_ONLY):
        raise TypeError(f"{title} must take the model first: {_form(title)}")
    named = [
        a for a in arguments[1:] if a.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    ]
    if any(a.kind is inspect.Parameter.POSITIONAL_ONLY for a in named):
        raise TypeError(f"{title}: its arguments are passed by name, and some have none")
    return named


_NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD


def _form(title: str) -> str:
    """How a control is written."""
    forms = {
        "controller": "controller(model, t, q, v, …) → τ",
        "external_forces": "external_forces(model, t, q, v) → f_ext",
    }
    return next((form for name, form in forms.items() if title.startswith(name)), "f(model, q, v, …)")


def _array(title: str, value: Any) -> NDArray[Any]:
    try:
        return np.array(value, float)
    except (TypeError, ValueError):
        raise TypeError(f"{title} must be numbers, not {value!r}") from None


@dataclass(frozen=True)
class Along:
    """A control as a text (model, t, q, v, parameters …) → array of `shape`, for the states of a trajectory."""

    control: Control
    shape: tuple[int, ...]

    def __call__(self, model: Model, t: Any, q: Any, v: Any, **parameters: Any) -> Any:
        return self.control(model.at_time(t) if model.depends_on_time else model, t, q, v, parameters, self.shape)


def forces_along(
    model: Model,
    control: Control,
    parameters: Parameters,
    times: Any,
    q: Any,
    v: Any,
    size: int | None = None,
    states: Mapping[str, NDArray[Any]] | None = None,
) -> NDArray[Any]:
    """τ of a controller (n, nv) in every row of a trajectory: at once for a kernel, row by row for a function.

    Of excitations the `size` is another, and they take further `states` (n, …) by name.
    """
    size, states = model.nv if size is None else size, states or {}
    if control.function is None:
        return np.zeros((len(times), size))
    if isinstance(control.function, ConstantForce):
        return np.broadcast_to(parameters[control.function.name], (len(times), size)).copy()
    text = Along(control, (size,))
    if not control.is_text:
        rows = (dict(zip(states, row, strict=True)) for row in zip(*states.values(), strict=True)) if states else None
        each = zip(times, q, v, rows or [{}] * len(times), strict=True)
        return np.array([text(model, float(t), x, y, **parameters, **z) for t, x, y, z in each])
    single = ("t", *(name for name in control.parameters if not np.ndim(parameters[name])))
    name = f"{getattr(control.function, '__name__', 'controller')} along a trajectory"
    arrays = {"t": (times[:, None], (1,)), "q": (q, (model.nq,)), "v": (v, (model.nv,))}
    arrays |= {name: (z, z.shape[-1:]) for name, z in states.items()}
    for parameter in control.parameters:
        value = np.atleast_1d(parameters[parameter])
        arrays[parameter] = value, value.shape
    specialization = Specialization(name, text, model, numbers=single, is_users=True)
    return np.asarray(NumPyArrays().compute(specialization, arrays))
