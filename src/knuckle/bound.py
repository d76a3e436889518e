"""The library's functions for one model, with everything looked up already: for loops that compute state by state."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from knuckle.constraints import constraint_terms
from knuckle.engine.calls.public_function import ARGUMENTS, Function
from knuckle.engine.kernels.kept_kernels import make_room
from knuckle.engine.kernels.kernel_registry import DTYPES, kernels
from knuckle.engine.kernels.one_state import code_of
from knuckle.engine.kernels.specialization import Recipe
from knuckle.engine.native import fast_call
from knuckle.functions import (
    configuration,
    couplings,
    dynamics,
    energy,
    floating,
    identification,
    jacobian_products,
    kinematics,
)
from knuckle.functions.loops import loop_closure as closure
from knuckle.functions.loops import loop_terms
from knuckle.functions.loops import loop_wrenches as wrenches
from knuckle.functions.loops.actuation import actuator_forces
from knuckle.model import Model

P = ParamSpec("P")
Options: TypeAlias = tuple[tuple[str, Any], ...]


class _Call:
    """A function for a model with some options fixed. `way` is what to call; this object gets what that leaves over.

    There is a way for the arrays that have to be given, and one for each array that may be given after them.
    """

    def __init__(self, function: Function[...], model: Model, dtype: np.dtype[Any], options: Mapping[str, Any]) -> None:
        self.function, self.model, self.options = function, model, dict(options)
        _, *parameters = function.__signature__.parameters.values()
        unknown = [name for name in options if name not in {p.name for p in parameters} - _kinds(function).keys()]
        if unknown:
            raise TypeError(f"{function.__name__} has no option {unknown[0]!r}")
        self._signature = inspect.Signature([p for p in parameters if p.name not in options])
        self.ways: dict[tuple[str, ...], fast_call.Way] = {}
        self.way: Callable[..., Any] = self
        gate = fast_call.gate()
        if gate is None:
            return
        doc = f"{function.__name__}{_text_signature(self._signature)}\n--\n\n{function.__doc__ or ''}"
        for names in reversed(self._leading_arrays()):
            shapes = [ARGUMENTS[_kinds(function)[name]](model) for name in names]
            if fast_call.can_take(shapes):
                way = self.ways[names] = fast_call.Way(gate, function.__name__, doc, shapes, dtype, self.way)
                self.way = way.call

    def _leading_arrays(self) -> list[tuple[str, ...]]:
        """The arrays that a call without names may consist of: shortest first, none if something else must be given."""
        kinds, names, found = _kinds(self.function), list[str](), list[tuple[str, ...]]()
        leading = True
        for p in self._signature.parameters.values():
            if p.default is not p.empty:
                if leading and names:
                    found.append(tuple(names))
                leading = False
            if p.name not in kinds or p.kind is p.KEYWORD_ONLY:
                return [] if p.default is p.empty else found
            names.append(p.name)
            if p.default is not p.empty:
                found.append(tuple(names))
        return found or [tuple(names)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for names, way in () if kwargs else tuple(self.ways.items()):
            if way.fits(args) and not way.is_open and self._open(names, way):
                return way.call(*args)
        if not self.options:
            return self.function(self.model, *args, **kwargs)
        try:
            given = self._signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{self.function.__name__}: {error}") from None
        return self.function(self.model, **given, **self.options)

    def _open(self, names: tuple[str, ...], way: fast_call.Way) -> bool:
        """Makes the code of a way, where there can be some."""
        if kernels.policy == "never" or (self.model.loops and not _knows_loops(self.function)):
            return False
        if self.function.goes_by_stages(self.model, self.options):
            return False
        with fast_call.LOCK:
            if not way.is_open:
                defaults = {p.name: p.default for p in self._signature.parameters.values() if p.name not in names}
                recipe = Recipe(
                    self.function.__qualname__,
                    _text(self.function),
                    self.model,
                    tuple({**defaults, **self.options}.items()),
                )
                made = code_of(recipe, dict(zip(names, way.shapes, strict=True)), way.dtype)
                if made is None:
                    del self.ways[names]
                    return False
                way.open(made.address, made.shape, made)
            return True


def _kinds(function: Function[...]) -> Mapping[str, str]:
    """What each array argument of a function holds."""
    return function._arguments  # pyright: ignore[reportPrivateUsage]


def _knows_loops(function: Function[...]) -> bool:
    return function._loops  # pyright: ignore[reportPrivateUsage]


def _text(function: Function[...]) -> Callable[..., Any]:
    return function._text  # pyright: ignore[reportPrivateUsage]


def _text_signature(signature: inspect.Signature) -> str:
    """A signature as function objects of C carry it, after their own first argument."""
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(inspect.Signature([own, *plain])).replace("(self", "($self", 1)


class _ByOptions:
    """A function that has to be given more than arrays: for each choice of options a call of its own."""

    def __init__(self, function: Function[...], model: Model, dtype: np.dtype[Any]) -> None:
        self._function, self._model, self._dtype = function, model, dtype
        self._calls: dict[Options, Callable[..., Any]] = {}
        self._known: dict[tuple[tuple[Any, ...], Options], Callable[..., Any]] = {}
        kinds = _kinds(function)
        names = list(_without_model(function).parameters)
        self._arrays = len(kinds) if set(names[: len(kinds)]) == set(kinds) else len(names) + 1
        self.__name__, self.__doc__, self.__signature__ = function.__name__, function.__doc__, _without_model(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        arrays, options = args[: self._arrays], (args[self._arrays :], tuple(kwargs.items()))
        try:
            known = self._known.get(options)
        except TypeError:  # arrays by name, which have no hash
            known = None
        return known(*arrays) if known and len(arrays) == self._arrays else self._found(*args, **kwargs)

    def _found(self, *args: Any, **kwargs: Any) -> Any:
        """The call by all names. How the options were written is kept if the arrays came first."""
        function = self._function
        values = function._bound(self._model, *args, **kwargs)  # pyright: ignore[reportPrivateUsage]
        arrays = {name: values.pop(name) for name in _kinds(function)}
        key = tuple(values.items())
        try:
            call = self._calls.get(key) or _Call(function, self._model, self._dtype, values).way
        except TypeError:  # an option that has no hash: the function itself will say what it thinks of it
            return function(self._model, **arrays, **values)
        result = call(*arrays.values())
        make_room(self._calls)
        self._calls[key] = call
        if len(args) >= self._arrays:
            make_room(self._known)
            self._known[args[self._arrays :], tuple(kwargs.items())] = call
        return result


def _without_model(function: Function[...]) -> inspect.Signature:
    _, *parameters = function.__signature__.parameters.values()
    return function.__signature__.replace(parameters=parameters)


class _Method(Generic[P]):
    """A function of the library as a method of `Bound`, prepared when it is first asked for."""

    def __init__(self, function: Function[P]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Bound]) -> _Method[P]: ...
    @overload
    def __get__(self, instance: Bound, owner: type[Bound]) -> Callable[P, NDArray[Any]]: ...
    def __get__(self, instance: Bound | None, owner: type[Bound]) -> Any:
        if instance is None:
            return self
        parameters = _without_model(self.function).parameters.values()
        needs_options = any(p.default is p.empty and p.name not in _kinds(self.function) for p in parameters)
        made: Callable[..., Any] = (
            _ByOptions(self.function, instance.model, instance.dtype)
            if needs_options
            else _Call(self.function, instance.model, instance.dtype, {}).way
        )
        return instance.__dict__.setdefault(self.function.__name__, made)


class Bound:
    """The library's functions as methods, for one model and one precision. `kn.bind` makes it.

    A call with NumPy arrays of one state, of this precision and in order in memory, goes straight to native code, which
    is compiled at the first such call, unless `set_compilation("never")` was said before. All other calls (batches,
    lists, arguments by name, other numbers) work as the functions do.
    """

    def __init__(self, model: Model, dtype: np.dtype[Any]) -> None:
        self.model, self.dtype = model, dtype

    def prepare(self, function: Function[...], **options: Any) -> Callable[..., Any]:
        """A function with its options fixed, called with arrays only: `fast.prepare(kn.jacobian, frame="tool0")(q)`.

        This is the fast way for functions that need a frame; `fast.jacobian(q, frame="tool0")` finds its code by the
        options in every call.
        """
        if not isinstance(function, Function):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"prepare needs a function of the library, not {function!r}")
        return _Call(function, self.model, self.dtype, options).way

    inverse_dynamics = _Method(dynamics.inverse_dynamics)
    forward_dynamics = _Method(dynamics.forward_dynamics)
    mass_matrix = _Method(dynamics.mass_matrix)
    mass_matrix_inverse = _Method(dynamics.mass_matrix_inverse)
    coriolis_matrix = _Method(dynamics.coriolis_matrix)
    coriolis_force = _Method(dynamics.coriolis_force)
    bias_force = _Method(dynamics.bias_force)
    gravity_force = _Method(dynamics.gravity_force)
    joint_resistance = _Method(dynamics.joint_resistance)
    operational_space_inertia = _Method(dynamics.operational_space_inertia)
    operational_space_mobility = _Method(dynamics.operational_space_mobility)
    pose = _Method(kinematics.pose)
    body_poses = _Method(kinematics.body_poses)
    velocity = _Method(kinematics.velocity)
    acceleration = _Method(kinematics.acceleration)
    jacobian = _Method(kinematics.jacobian)
    jacobian_rate = _Method(kinematics.jacobian_rate)
    external_force = _Method(kinematics.external_force)
    jacobian_product = _Method(jacobian_products.jacobian_product)
    jacobian_rate_product = _Method(jacobian_products.jacobian_rate_product)
    jacobian_transpose_product = _Method(jacobian_products.jacobian_transpose_product)
    body_jacobian_product = _Method(jacobian_products.body_jacobian_product)
    body_jacobian_rate_product = _Method(jacobian_products.body_jacobian_rate_product)
    body_jacobian_transpose_product = _Method(jacobian_products.body_jacobian_transpose_product)
    floating_jacobian = _Method(floating.floating_jacobian)
    kinetic_energy = _Method(energy.kinetic_energy)
    potential_energy = _Method(energy.potential_energy)
    center_of_mass = _Method(energy.center_of_mass)
    momentum = _Method(energy.momentum)
    centroidal_momentum = _Method(energy.centroidal_momentum)
    centroidal_matrix = _Method(energy.centroidal_matrix)
    centroidal_bias = _Method(energy.centroidal_bias)
    integrate = _Method(configuration.integrate)
    difference = _Method(configuration.difference)
    configuration_rate = _Method(configuration.configuration_rate)
    displacement_rate = _Method(configuration.displacement_rate)
    tree_positions = _Method(couplings.tree_positions)
    coupling_matrix = _Method(couplings.coupling_matrix)
    coupling_bias = _Method(couplings.coupling_bias)
    coupling_forces = _Method(couplings.coupling_forces)
    regressor = _Method(identification.regressor)
    loop_error = _Method(loop_terms.loop_error)
    loop_error_rate = _Method(loop_terms.loop_error_rate)
    loop_gap = _Method(loop_terms.loop_gap)
    constraint_jacobian = _Method(loop_terms.constraint_jacobian)
    constraint_bias = _Method(loop_terms.constraint_bias)
    constraint_forces = _Method(dynamics.constraint_forces)
    active_loop_jacobian = _Method(loop_terms.active_loop_jacobian)
    dependence = _Method(loop_terms.dependence)
    dependence_bias = _Method(loop_terms.dependence_bias)
    loop_wrenches = _Method(wrenches.loop_wrenches)
    mass_matrix_inverse_product = _Method(constraint_terms.mass_matrix_inverse_product)
    followed_velocity = _Method(closure.followed_velocity)
    loop_closure = _Method(closure.loop_closure)
    constrained_acceleration = _Method(constraint_terms.constrained_acceleration)
    actuator_forces = _Method(actuator_forces)

    def normalize(self, q: ArrayLike, v: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """The same state with unit quaternions and every chart far from its singularities: (q, v)."""
        return configuration.normalize(self.model, q, v)

    def __reduce__(self) -> tuple[Callable[..., Bound], tuple[Model, str]]:
        return bind, (self.model, self.dtype.name)

    def __repr__(self) -> str:
        return f"<knuckle functions of {self.model.name!r}, {self.dtype.name}>"


def bind(model: Model, dtype: DTypeLike = float) -> Bound:
    """The library's functions for one model, as methods: `fast = kn.bind(model); tau = fast.inverse_dynamics(q, v, a)`.

    For loops that compute one state after the other, such as controllers: a call takes a fraction of a microsecond and
    the time of the computation itself. For many states at once, a batch is faster still.

    Args:
        model: the mechanism.
        dtype: the precision of the arrays for which the way is short, float64 or float32.
    """
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"bind needs a knuckle.Model, not {type(model).__name__}")
    precision = np.dtype(dtype)
    if precision not in DTYPES:
        raise ValueError(f"dtype is float64 or float32, not {precision.name}")
    return Bound(model, precision)
