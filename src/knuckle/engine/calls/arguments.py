"""What the arguments of a function are: arrays with the shapes for one state, numbers, and options."""

from __future__ import annotations

import inspect
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from knuckle.engine.arrays.base import Shape
from knuckle.engine.arrays.symbolic_matrices import matrix_shape
from knuckle.model import Model
from knuckle.model.actuators.actuator_dynamics import with_dynamics
from knuckle.model.elements.muscles.muscle_states import elastic_of, muscles_of
from knuckle.scalar import inside_a_kernel, kind_of
from knuckle.spatial import Matrix, Vector

from .choose_container import package_of, unpacked
from .traced_scalars import composed
from .words.batch_or_matrix import must_go_together, warn_if_square

ARGUMENTS: Mapping[str, Callable[[Model], Shape]] = {
    "q": lambda model: (model.nq,),
    "v": lambda model: (model.nv,),
    "f": lambda model: (model.nb, model.algebra.dimension),
    "w": lambda model: (model.algebra.dimension,),
    "l": lambda model: (sum(loop.type.nv for loop in model.loops),),
    "m": lambda model: (len(muscles_of(model.elements)),),
    "u": lambda model: (len(model.actuators),),
    "e": lambda model: (len(elastic_of(model.elements)),),
    "s": lambda model: (len(with_dynamics(model.actuators)),),
}
"""What an array argument holds: positions, velocity-like variables, forces on bodies, one force, forces at loops,
activations of muscles, controls of actuators, lengths of fibers at elastic tendons, states of actuators."""

MATRIX = "f_ext"
"""The argument of a kernel whose last two axes belong together: a wrench per body."""
_POSITIONS, _VELOCITIES = re.compile(r"q(_.*|\d*)"), re.compile(r"(v|a|tau)(_.*|\d*)")
_SYMBOLIC = ("casadi", "sympy", "mpmath")
_NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD


class Sorted(NamedTuple):
    """The arguments of a call after the model.

    Attributes:
        arrays: by name a value and the shape that it must end in; a number has one of one entry.
        options: everything else, in the order of the signature.
        numbers: the names of arguments that are single numbers.
        weak: the names of Python's numbers, which have no precision of their own.
    """

    arrays: dict[str, tuple[Any, Shape]]
    options: dict[str, Any]
    numbers: tuple[str, ...] = ()
    weak: frozenset[str] = frozenset()


class Arguments(ABC):
    """How the arguments of a function are told apart. Some options may be fixed beforehand."""

    def __init__(self, name: str, signature: inspect.Signature, fixed: Mapping[str, Any] | None = None) -> None:
        self.name, self.signature, self.fixed = name, signature, dict(fixed or {})
        _, *every = signature.parameters.values()
        self.parameters = every
        own = [p for p in every if p.name not in self.fixed]
        self.callable_as = inspect.Signature([next(iter(signature.parameters.values())), *own])
        self.in_order = [p.name for p in own if p.kind is _NAMED]
        self._defaults = {p.name: p.default for p in every} | self.fixed
        self._names = {p.name for p in own if p.kind in (_NAMED, inspect.Parameter.KEYWORD_ONLY)}
        self._needed = [p.name for p in own if p.default is p.empty]

    @property
    @abstractmethod
    def array_names(self) -> Sequence[str]:
        """The arguments that may be arrays or numbers."""

    @abstractmethod
    def sort(self, model: Model, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Sorted:
        """The arguments of a call, or an error that names the one that does not fit."""

    @abstractmethod
    def shapes(self, model: Model, shapes: tuple[Any, ...], named: dict[str, Any]) -> Sorted:
        """The arguments of a call whose arrays are said by their shapes only; the values of arrays are None."""

    @abstractmethod
    def reference(self, text: Callable[..., Any], model: Model, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The text itself, on scalars."""

    @abstractmethod
    def fixing(self, options: Mapping[str, Any]) -> Arguments:
        """The same with some options fixed."""

    @abstractmethod
    def is_option(self, name: str) -> bool:
        """Whether there is an argument of this name that can be fixed beforehand."""

    def _values(self, model: Model, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments after the model by name, in the order of the signature."""
        if len(args) <= len(self.in_order):
            values = dict(zip(self.in_order, args, strict=False))
            fits = all(name in self._names and name not in values for name in kwargs)
            values.update(kwargs)
            if fits and all(name in values for name in self._needed):
                return {**self._defaults, **values}
        try:
            bound = self.callable_as.bind(model, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        _, *others = bound.arguments.items()
        return {**self._defaults, **dict(others)}


class Declared(Arguments):
    """The arguments of the library's functions: which are arrays, and of what, is said where the function is made."""

    def __init__(
        self, name: str, signature: inspect.Signature, kinds: Mapping[str, str], fixed: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(name, signature, fixed)
        self.kinds = kinds

    @property
    def array_names(self) -> Sequence[str]:
        return list(self.kinds)

    def fixing(self, options: Mapping[str, Any]) -> Declared:
        return Declared(self.name, self.signature, self.kinds, options)

    def is_option(self, name: str) -> bool:
        return any(p.name == name for p in self.parameters) and name not in self.kinds

    def sort(self, model: Model, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Sorted:
        values = self._values(model, args, kwargs)
        arrays: dict[str, tuple[Any, Shape]] = {}
        for name, kind in self.kinds.items():
            value, shape = values[name], ARGUMENTS[kind](model)
            if value is not None:
                arrays[name] = unpacked(values.pop(name)), shape
            elif self._defaults[name] is not None:  # None stands only for those that may be left out
                expected = ", ".join(["...", *map(str, shape)])
                raise TypeError(f"{name} is None, and must be an array of shape ({expected})")
        return Sorted(arrays, values)

    def shapes(self, model: Model, shapes: tuple[Any, ...], named: dict[str, Any]) -> Sorted:
        """Arrays that may be left out are left out, unless they are named: `f_ext=True`."""
        if shapes:
            raise TypeError(f"the shapes of the arguments of {self.name} are known: name its options only")
        named = dict(named)
        options: dict[str, Any] = {}
        left_out: dict[str, Any] = {}
        for parameter in self.parameters:
            name = parameter.name
            value = named.pop(name, parameter.default)
            if name not in self.kinds:
                if value is parameter.empty:
                    raise TypeError(f"{self.name} needs the option {name}")
                options[name] = value
            elif value is None:
                left_out[name] = None
        if named:
            raise TypeError(f"{self.name} has no argument {' or '.join(named)}")
        arrays = {name: (None, ARGUMENTS[kind](model)) for name, kind in self.kinds.items() if name not in left_out}
        return Sorted(arrays, options | left_out)

    def reference(self, text: Callable[..., Any], model: Model, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return text(model, *args, **kwargs)


def kinds_by_name(arguments: Arguments) -> dict[str, str]:
    """What the arguments of a kernel hold whose names tell: q, q_ref, v0, tau, f_ext and the like."""
    found: dict[str, str] = {}
    for parameter in arguments.parameters:
        name = parameter.name
        kind = (
            "f" if name == MATRIX else "q" if _POSITIONS.fullmatch(name) else "v" if _VELOCITIES.fullmatch(name) else ""
        )
        found |= {name: kind} if kind else {}
    return found


class Inferred(Arguments):
    """The arguments of a user's function: what is an array or a number is seen from its value.

    An array holds one vector on its last axis and any batch axes before it (`f_ext`, a wrench per body, and `matrices`:
    one matrix on its last two); a Python number or an array without axes is a number. Keyword-only arguments, names,
    booleans and None are options.
    """

    def __init__(
        self,
        name: str,
        signature: inspect.Signature,
        fixed: Mapping[str, Any] | None = None,
        matrices: Collection[str] = (),
    ) -> None:
        parameters = list(signature.parameters.values())
        if not parameters or parameters[0].kind not in (inspect.Parameter.POSITIONAL_ONLY, _NAMED):
            raise TypeError(f"{name} takes no model first, and a kernel does")
        for parameter in parameters[1:]:
            if parameter.kind not in (_NAMED, inspect.Parameter.KEYWORD_ONLY):
                raise TypeError(f"{name}: the arguments of a kernel have names, which {parameter} has not")
        if unknown := [matrix for matrix in matrices if matrix not in signature.parameters]:
            raise TypeError(f"{name} has no argument {unknown[0]}, which matrices names")
        super().__init__(name, signature, fixed)
        self.matrices = frozenset((MATRIX, *matrices))
        self._options = {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
        self._named_kinds = frozenset(kinds_by_name(self))

    @property
    def array_names(self) -> Sequence[str]:
        return [name for name in self.in_order if name not in self._options]

    def fixing(self, options: Mapping[str, Any]) -> Inferred:
        return Inferred(self.name, self.signature, options, self.matrices - {MATRIX})

    def is_option(self, name: str) -> bool:
        return name in self._options

    def sort(self, model: Model, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Sorted:
        arrays: dict[str, tuple[Any, Shape]] = {}
        options: dict[str, Any] = {}
        numbers: list[str] = []
        weak: set[str] = set()
        for name, value in self._values(model, args, kwargs).items():
            if name in self._options or not is_array(value):
                options[name] = value
                continue
            value, shape = with_shape(name, value, 2 if name in self.matrices else 1)
            if type(value) in (int, float):
                weak.add(name)
            if not shape:
                numbers.append(name)
                value, shape = cast("Any", value)[np.newaxis] if isinstance(value, np.ndarray) else [value], (1,)
            arrays[name] = value, shape
        for name, value in options.items():
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"{self.name}: the option {name} is a {type(value).__name__}, which cannot be a constant of "
                    "the code; arrays of numbers are no keyword-only arguments"
                ) from None
        self._look_at_batches({name: x for name, x in arrays.items() if name not in numbers})
        return Sorted(arrays, options, tuple(numbers), frozenset(weak))

    def _look_at_batches(self, arrays: Mapping[str, tuple[Any, Shape]]) -> None:
        """An error unless batch axes go together, and a word where a matrix may be meant."""
        if not any(isinstance(value, np.ndarray) and value.ndim > len(shape) for value, shape in arrays.values()):
            return
        batches = {name: _numeric_shape(value)[: -len(shape)] for name, (value, shape) in arrays.items()}
        others = [name for name in arrays if name not in self.matrices and name not in self._named_kinds]
        must_go_together(batches, others)
        warn_if_square(self.name, batches, {name: arrays[name][1][-1] for name in others})

    def shapes(self, model: Model, shapes: tuple[Any, ...], named: dict[str, Any]) -> Sorted:
        """Arguments called q, v, a, tau, f_ext, or like q_ref or v0, need no shape."""
        if len(shapes) > len(self.in_order):
            raise TypeError(f"{self.name} has {len(self.in_order)} array arguments, and {len(shapes)} shapes are given")
        named = dict(zip(self.in_order, shapes, strict=False)) | named
        arrays: dict[str, Shape] = {}
        options: dict[str, Any] = {}
        for p in self.parameters:
            value = named.pop(p.name, p.empty)
            if p.name in self._options or (value is p.empty and not is_array(p.default, p.empty)):
                if value is p.empty and p.default is p.empty and p.name not in self._options:
                    arrays[p.name] = self._shape_by_name(model, p.name)
                else:
                    options[p.name] = self._option(p, value)
            else:
                arrays[p.name] = as_shape(p.name, np.shape(p.default) if value is p.empty else value)
        if named:
            raise TypeError(f"{self.name} has no argument {' or '.join(named)}")
        numbers = tuple(name for name, shape in arrays.items() if not shape)
        return Sorted({name: (None, shape or (1,)) for name, shape in arrays.items()}, options, numbers)

    def reference(self, text: Callable[..., Any], model: Model, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = self.sort(model, args, kwargs)
        values = {
            name: value[0] if name in call.numbers else composed(name, value, shape)
            for name, (value, shape) in call.arrays.items()
        }
        with inside_a_kernel():
            return text(model, **call.options, **values)

    def _option(self, parameter: inspect.Parameter, value: Any) -> Any:
        if value is parameter.empty and parameter.default is parameter.empty:
            raise TypeError(f"{self.name} needs the option {parameter.name}")
        return parameter.default if value is parameter.empty else value

    def _shape_by_name(self, model: Model, name: str) -> Shape:
        shape = shape_by_name(model, name)
        if shape is None:
            raise TypeError(f"{self.name} needs the shape of {name}: {name}=() for a number, {name}=(n,) for a vector")
        return shape


def is_array(value: Any, *none: Any) -> bool:
    """Whether an argument is a number or an array of them, rather than an option."""
    if value is None or any(value is x for x in none) or isinstance(value, (bool, np.bool_, str, bytes)):
        return False
    if isinstance(value, (int, float, complex, np.generic, np.ndarray, list, tuple, Vector, Matrix)):
        return True
    if hasattr(value, "__array__") or package_of(value) in _SYMBOLIC:
        return True
    try:
        kind_of(value)
    except TypeError:
        return False
    return True


def with_shape(name: str, value: Any, axes: int | None = None) -> tuple[Any, Shape]:
    """An array argument, and the shape of one state of it; () for a number. `f_ext` has two axes, others one."""
    axes = axes or (2 if name == MATRIX else 1)
    if package_of(value) in _SYMBOLIC and (whole := matrix_shape(value)):
        return value, whole if axes == 2 else (math.prod(whole),)
    value = unpacked(value)
    try:
        whole = _numeric_shape(value)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None
    if axes == 2 and len(whole) < 2:
        expected = "(..., nb, 6)" if name == MATRIX else "(..., m, n): it is one of the kernel's matrices"
        raise ValueError(f"{name} has shape {whole}, and must have shape {expected}")
    return value, whole[-axes:] if whole else ()


def _numeric_shape(value: Any) -> Shape:
    if isinstance(value, (list, tuple)):
        items = list(cast("Iterable[Any]", value))
        return np.shape(np.asarray(items, dtype=object if _holds_objects(items) else None))
    return np.shape(value) if hasattr(value, "__array__") else ()


def _holds_objects(value: Any) -> bool:
    """Whether NumPy should be kept from looking into what a list holds."""
    if isinstance(value, (list, tuple)):
        return any(map(_holds_objects, cast("Iterable[Any]", value)))
    return not isinstance(value, (int, float, complex, np.generic, np.ndarray))


def position_names(arguments: Arguments) -> list[str]:
    """The arguments that hold positions: declared so, or called like q, q_ref or q0."""
    if isinstance(arguments, Declared):
        return [name for name, kind in arguments.kinds.items() if kind == "q"]
    return [name for name in arguments.array_names if _POSITIONS.fullmatch(name)]


def as_shape(name: str, value: Any) -> Shape:
    """A shape as `program` takes it."""
    sizes: tuple[Any, ...] = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (None,)
    if all(isinstance(n, int) and n >= 0 for n in sizes):
        return sizes
    raise TypeError(f"the shape of {name} is a tuple such as () for a number or (7,) for a vector, not {value!r}")


def shape_by_name(model: Model, name: str) -> Shape | None:
    """The shape of an argument that is called like the library's own; None for others."""
    if name == MATRIX:
        return model.nb, model.algebra.dimension
    if _POSITIONS.fullmatch(name):
        return (model.nq,)
    return (model.nv,) if _VELOCITIES.fullmatch(name) else None
