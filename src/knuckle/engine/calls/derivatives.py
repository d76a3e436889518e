"""The derivatives of a function, as functions of their own: called with arrays, batched and compiled like it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from knuckle.engine.arrays.base import must_end_in
from knuckle.engine.arrays.result_layout import Layout, Single
from knuckle.engine.differentiate.derivative_texts import (
    Derivative,
    Differentiated,
    Gradient,
    Gradients,
    Hessian,
    Jacobian,
    OfLibrary,
    OfUser,
    Rates,
    SecondDerivatives,
)
from knuckle.engine.kernels.per_model import PerModel
from knuckle.engine.kernels.specialization import Specialization, UntraceableError
from knuckle.model import Model

from .arguments import Arguments, Declared, Shape, Sorted, position_names
from .function import Function, Traits
from .result_parts import leaves_of
from .state_blocks import StateBlocks, in_blocks

Wrt: TypeAlias = str | Sequence[str] | None
JacobianLayout: TypeAlias = Literal["dense", "packed", "blocks"]
_NAMED = inspect.Parameter.KEYWORD_ONLY


class Derivatives:
    """The derivatives of a function of a model and arrays, exact and compiled.

    Those by a position q are along the velocity variables: nv of them, and not nq.
    """

    def __init__(self, function: Function[..., Any], arguments: Arguments, text: Callable[..., Any]) -> None:
        self._function, self._arguments, self._text = function, arguments, text
        self._made: dict[Any, Function[..., Any]] = {}
        self._ready: dict[Any, Function[..., Any]] = {}
        self._layouts: PerModel[tuple[Any, Layout]] = PerModel()
        self._patterns: PerModel[dict[str, JacobianPattern]] = PerModel()

    @property
    def source(self) -> Differentiated:
        """What is differentiated."""
        arguments = self._arguments
        arrays, positions = tuple(arguments.array_names), tuple(position_names(arguments))
        if isinstance(arguments, Declared):
            return OfLibrary(arrays, positions, self._text.__module__, self._text.__name__)
        return OfUser(arrays, positions, self._text)

    def entries(
        self, kind: Literal["vjp", "jvp", "jacobian"], model: Model, wrt: tuple[str, ...], call: Sorted
    ) -> Function[..., Any]:
        """A derivative by the entries of the arguments, of positions too: as other packages differentiate."""
        match kind:
            case "vjp":
                return self.by(kind, wrt, self.weight_names(self.layout(model, call)), by_entries=True)
            case "jacobian":
                return self.by(kind, wrt, "dense", by_entries=True)
            case _:
                return self.by(kind, wrt, by_entries=True)

    def entry_patterns(self, model: Model, wrt: tuple[str, ...], call: Sorted) -> dict[str, JacobianPattern]:
        """Which derivatives by the entries of the arguments are not always zero."""
        shapes = {name: shape for name, (_, shape) in call.arrays.items()}
        text = Jacobian(replace(self.source, positions=()), wrt)
        return pattern_of(text, self._function.specialization(model, call), shapes)

    def call_of(self, model: Model, shapes: tuple[Any, ...], named: Mapping[str, Any]) -> Sorted:
        """The arguments of a call whose arrays are said by their shapes only, as for `program`."""
        return self._arguments.shapes(model, shapes, dict(named))

    def by(self, kind: str, wrt: tuple[str, ...], *more: Any, by_entries: bool = False) -> Function[..., Any]:
        """The function of a kind of derivative by some arguments: by positions along velocities, or by entries."""
        key = kind, wrt, more, by_entries
        if key not in self._made:
            self._made[key] = self._make(kind, wrt, *more, by_entries=by_entries)
        return self._made[key]

    def _make(self, kind: str, wrt: tuple[str, ...], *more: Any, by_entries: bool = False) -> Function[..., Any]:
        source = replace(self.source, positions=()) if by_entries else self.source
        text: Derivative
        extras: Callable[[Model, Sorted], dict[str, Shape]]
        match kind:
            case "jacobian":
                text, names, extras = Jacobian(source, wrt, more == ("packed",)), (), _no_more
            case "jvp":
                names = self.direction_names(wrt)
                text, extras = (
                    Rates(source, wrt, names),
                    lambda model, call: self._directions(model, call, wrt, by_entries),
                )
            case "grad":
                text, names, extras = Gradient(source, wrt), (), _no_more
            case "vjp":
                (names,) = more
                text, extras = Gradients(source, wrt, names), lambda model, call: self._weights(model, call, names)
            case "tensor":
                text, names, extras = SecondDerivatives(source, wrt), (), _no_more
            case _:
                (names,) = more
                text = Hessian(source, wrt, names)
                extras = (lambda model, call: self._weights(model, call, names)) if names else _no_more
        arguments = WithMore(self._arguments, text.__name__, names, extras)
        return DerivedFunction(self._function, (by_entries, kind, wrt, *more), text, arguments)

    # the calls

    def plain(self, kind: str, model: Model, args: Any, kwargs: Any, wrt: Wrt, *more: Any) -> Any:
        """A derivative that takes nothing but the arguments."""
        derived = self.by(kind, self.wrt(wrt, model, args, kwargs), *more)
        if isinstance(wrt, (str, tuple)) and not self._may_be_left_out(self._named(wrt)):
            self._ready[kind, wrt, *more] = derived
        return derived(model, *args, **kwargs)

    def ready(self, kind: str, wrt: Any, *more: Any) -> Function[..., Any] | None:
        """What `plain` would call, if it was asked for the same before and no call can make it something else."""
        names = (wrt,) if isinstance(wrt, str) else cast("tuple[Any, ...]", wrt) if isinstance(wrt, tuple) else (None,)
        is_simple = all(isinstance(name, str) for name in names)
        return self._ready.get((kind, wrt, *more)) if is_simple else None

    def jacobian(self, model: Model, args: Any, kwargs: Any, wrt: Wrt, layout: JacobianLayout) -> Any:
        """The derivatives of the result."""
        if layout not in get_args(JacobianLayout):
            raise ValueError(f'layout is "dense", "packed" or "blocks", not {layout!r}')
        if layout == "blocks":
            return self._in_blocks(model, args, kwargs, wrt)
        return self.plain("jacobian", model, args, kwargs, wrt, layout)

    def _in_blocks(self, model: Model, args: Any, kwargs: Any, wrt: Wrt) -> JacobianBlocks:
        packed = self.by("jacobian", self.wrt(wrt, model, args, kwargs), "packed")
        call = self._arguments.sort(model, args, kwargs)
        found = in_blocks(packed.specialization(model, call), call)
        shapes = {name: shape for name, (_, shape) in call.arrays.items()}
        text = Jacobian(self.source, self.wrt(wrt, model, args, kwargs))
        key = text, tuple(shapes.items()), call.numbers, tuple(call.options.items())
        patterns = self._patterns.setdefault(
            model, key, lambda: pattern_of(text, self._function.specialization(model, call), shapes)
        )
        places, first = dict[str, Any](), 0
        for name, pattern in patterns.items():
            places[name] = found.places[first : first + pattern.count]
            first += pattern.count
        return JacobianBlocks(found, patterns, places)

    def direction_names(self, wrt: tuple[str, ...]) -> tuple[str, ...]:
        """The names of directions of some arguments; arguments have other names."""
        word = "along"
        while any(name.startswith(f"{word}_") for name in self._arguments.array_names):
            word = f"outer_{word}"
        return tuple(f"{word}_{name}" for name in wrt)

    def weight_names(self, layout: Layout) -> tuple[str, ...]:
        """The names of the weights of results: one, or one for each of several arrays. Arguments have other names."""
        word = "weight"
        while any(name.startswith(word) for name in self._arguments.array_names):
            word = f"outer_{word}"
        return (word,) if isinstance(layout, Single) else tuple(f"{word}_{k}" for k in range(len(leaves_of(layout))))

    def jvp(self, model: Model, args: Any, kwargs: Any, along: Mapping[str, Any]) -> Any:
        """The result, and its derivative along directions of arguments."""
        names = self.wrt(tuple(along), model, args, kwargs)
        directions = dict(zip(self.direction_names(names), along.values(), strict=True))
        return self.by("jvp", names)(model, *args, **kwargs, **directions)

    def weighted(self, kind: str, model: Model, args: Any, kwargs: Any, weight: Any, wrt: Wrt) -> Any:
        """Derivatives of the results, each times its weight."""
        layout = self.layout(model, self._arguments.sort(model, args, kwargs))
        names = self.weight_names(layout)
        values = dict(zip(names, weight_values(layout, weight, self._function.__name__), strict=True))
        return self.by(kind, self.wrt(wrt, model, args, kwargs), names)(model, *args, **kwargs, **values)

    def hessian(self, model: Model, args: Any, kwargs: Any, wrt: Wrt) -> Any:
        """The second derivatives of a result that is one number, or of every number of the results."""
        layout = self.layout(model, self._arguments.sort(model, args, kwargs))
        kind = "hessian" if layout == Single(()) else "tensor"
        return self.plain(kind, model, args, kwargs, wrt, ())

    def pattern(
        self, model: Model, shapes: tuple[Any, ...], named: dict[str, Any], wrt: Wrt
    ) -> dict[str, JacobianPattern]:
        """Which derivatives are not always zero."""
        call = self._arguments.shapes(model, shapes, named)
        names = tuple(call.arrays) if wrt is None else self._named(wrt)
        by_name = {name: shape for name, (_, shape) in call.arrays.items()}
        return pattern_of(Jacobian(self.source, names), self._function.specialization(model, call), by_name)

    # the shapes of what a derivative takes besides the arguments

    def _directions(self, model: Model, call: Sorted, wrt: tuple[str, ...], by_entries: bool) -> dict[str, Shape]:
        positions = [] if by_entries else position_names(self._arguments)
        found: dict[str, Shape] = {}
        for name, direction in zip(wrt, self.direction_names(wrt), strict=True):
            if name not in call.arrays:
                raise TypeError(_not_by(self._function.__name__, name, call.arrays))
            shape = call.arrays[name][1]
            is_position = name in positions and shape == (model.nq,)
            found[direction] = (model.nv,) if is_position else () if name in call.numbers else shape
        return found

    def _weights(self, model: Model, call: Sorted, names: tuple[str, ...]) -> dict[str, Shape]:
        layout = self.layout(model, call)
        parts = leaves_of(layout)
        return {name: part.shape for name, part in zip(names, parts, strict=True)}

    def layout(self, model: Model, call: Sorted) -> Layout:
        """How the results of the function go together."""
        shapes = {name: shape for name, (_, shape) in call.arrays.items()}
        specialization = self._function.specialization(model, call)
        try:
            key = (*specialization.key(), tuple(shapes.items()))
            known = self._layouts.get(model, key)
        except TypeError:
            key, known = None, None
        if known is not None and (known[0] is None or known[0].is_same()):
            return known[1]
        layout = _traced_layout(specialization, shapes)
        if key is not None:
            self._layouts.put(model, key, (specialization.surroundings(), layout))
        return layout

    def wrt(self, wrt: Wrt, model: Model, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of arguments to differentiate by: those given, or all that are arrays."""
        if wrt is None:
            return tuple(self._arguments.sort(model, args, kwargs).arrays)
        names = self._named(wrt)
        if self._may_be_left_out(names):
            known = self._arguments.sort(model, args, kwargs).arrays
            for name in names:
                if name not in known:
                    raise TypeError(_not_by(self._function.__name__, name, known))
        return names

    def _may_be_left_out(self, names: Iterable[str]) -> bool:
        defaults = self._arguments.signature.parameters
        return any(defaults[name].default is None for name in names)

    def _named(self, wrt: str | Sequence[str]) -> tuple[str, ...]:
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        unknown = [name for name in names if name not in self._arguments.array_names]
        if unknown or not names:
            listed = ", ".join(self._arguments.array_names)
            raise TypeError(f"wrt names arguments of {self._function.__name__}: {listed}, not {wrt!r}")
        if len(set(names)) < len(names):
            raise TypeError(f"wrt names an argument twice: {wrt!r}")
        return names


def _traced_layout(specialization: Specialization, shapes: Mapping[str, Shape]) -> Layout:
    try:
        return specialization.layout(shapes)
    except UntraceableError as error:
        raise (error.__cause__ or error) from None


def weight_values(layout: Layout, weight: Any, name: str) -> list[Any]:
    """The weights of results that go together in the same way."""
    if isinstance(layout, Single):
        return [weight]
    expected = f"{len(layout.parts)} weights" + (f" named {', '.join(map(str, layout.names))}" if layout.names else "")
    if layout.names is not None:
        if not isinstance(weight, Mapping) or set(cast("Mapping[Any, Any]", weight)) != set(layout.names):
            raise TypeError(f"{name} gives a dictionary, and takes {expected}")
        values: list[Any] = [weight[key] for key in layout.names]
    elif isinstance(weight, (tuple, list)) and len(cast("list[Any]", weight)) == len(layout.parts):
        values = list(cast("list[Any]", weight))
    else:
        raise TypeError(f"{name} gives {len(layout.parts)} arrays, and takes {expected}")
    return [x for part, value in zip(layout.parts, values, strict=True) for x in weight_values(part, value, name)]


def _no_more(model: Model, call: Sorted) -> dict[str, Shape]:
    return {}


def _not_by(name: str, argument: str, known: Mapping[str, Any]) -> str:
    return f"{name} is not differentiated by {argument!r}: its array arguments in this call are {', '.join(known)}"


class DerivedFunction(Function[..., Any]):
    """A derivative of a function, as a function."""

    def __new__(cls, base: Any, made_by: Any, text: Any, arguments: Arguments) -> DerivedFunction:
        return cast("DerivedFunction", super().__new__(cls, text, arguments, Traits(is_users=True)))

    def __init__(self, base: Function[..., Any], made_by: tuple[Any, ...], text: Any, arguments: Arguments) -> None:
        self.__qualname__ = text.__name__
        super().__init__(text, arguments, Traits(is_users=True))
        self._base, self._made_by = base, made_by

    def __reduce__(self) -> Any:
        return _derived, (self._base, *self._made_by)


def _derived(base: Function[..., Any], by_entries: bool, kind: str, *more: Any) -> Function[..., Any]:
    return base.derivatives.by(kind, *more, by_entries=by_entries)


class WithMore(Arguments):
    """The arguments of a function, and further arrays that have to be named."""

    def __init__(
        self,
        base: Arguments,
        name: str,
        names: tuple[str, ...],
        shapes: Callable[[Model, Sorted], dict[str, Shape]],
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        self.base, self.names, self._shapes = base, names, shapes
        own = [inspect.Parameter(name, _NAMED) for name in names]
        parameters = list(base.signature.parameters.values())
        super().__init__(name, base.signature.replace(parameters=[*parameters, *own]), fixed)

    @property
    def array_names(self) -> Sequence[str]:
        return [*self.base.array_names, *self.names]

    def _apart(self, kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        own = {name: kwargs[name] for name in self.names if name in kwargs}
        return own, {name: x for name, x in kwargs.items() if name not in own}

    def sort(self, model: Model, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Sorted:
        own, others = self._apart(kwargs)
        call = self.base.sort(model, args, others)
        if missing := [name for name in self.names if name not in own]:
            raise TypeError(f"{self.name} needs {', '.join(missing)}")
        shapes = self._shapes(model, call)
        arrays, numbers, weak = dict(call.arrays), list(call.numbers), set(call.weak)
        for name in self.names:
            value, shape = own[name], shapes[name]
            if len(shape) > 1:
                value, shape = in_a_row(name, value, shape)
            if not shape:
                numbers.append(name)
                if type(value) in (int, float):
                    weak.add(name)
                value = value[..., None] if hasattr(value, "ndim") else [value]
            arrays[name] = value, shape or (1,)
        return call._replace(arrays=arrays, numbers=tuple(numbers), weak=frozenset(weak))

    def shapes(self, model: Model, shapes: tuple[Any, ...], named: dict[str, Any]) -> Sorted:
        call = self.base.shapes(model, shapes, self._apart(named)[1])
        more = {
            name: shape if len(shape) < 2 else (math.prod(shape),) for name, shape in self._shapes(model, call).items()
        }
        numbers = tuple(name for name in self.names if not more[name])
        arrays = call.arrays | {name: (None, more[name] or (1,)) for name in self.names}
        return call._replace(arrays=arrays, numbers=(*call.numbers, *numbers))

    def reference(self, text: Callable[..., Any], model: Model, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise TypeError(f"{self.name} is made of the text of a function, and has none of its own")

    def fixing(self, options: Mapping[str, Any]) -> WithMore:
        return WithMore(self.base.fixing(options), self.name, self.names, self._shapes, options)

    def is_option(self, name: str) -> bool:
        return self.base.is_option(name)


def in_a_row(name: str, value: Any, shape: Shape) -> tuple[Any, Shape]:
    """An array that ends in several axes with one in their place, or that has it already: texts know two axes."""
    array: Any = value if hasattr(value, "reshape") else np.asarray(value)
    size, actual = math.prod(shape), tuple(array.shape)
    if actual[len(actual) - len(shape) :] != shape and actual[-1:] == (size,):
        return array, (size,)
    must_end_in(name, actual, shape)
    return array.reshape(*actual[: len(actual) - len(shape)], size), (size,)


@dataclass(frozen=True)
class JacobianPattern:
    """Which derivatives are not always zero: the rows (of all results in a row) and columns, by argument."""

    shape: tuple[int, int]
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.rows)

    def dense(self, packed: Any) -> Any:
        """Packed derivatives (..., count) as matrices (..., rows, columns)."""
        values: Any = np.asarray(packed)
        whole = np.zeros((*values.shape[:-1], math.prod(self.shape)), values.dtype)
        whole[..., [r * self.shape[1] + c for r, c in zip(self.rows, self.columns, strict=True)]] = values
        return whole.reshape(*values.shape[:-1], *self.shape)


@dataclass(frozen=True)
class JacobianBlocks:
    """Derivatives in blocks of states, as vectors of the processor hold them: nothing is copied to its place.

    Attributes:
        blocks: values (blocks, entries, states in a block), of which a derivative that occurs several times is one
            entry, and the batch axes of the arguments; the last block may have more states than they do.
        patterns: by argument, where the derivatives that are not always zero belong.
        entries: by argument, the entry of each of them.
    """

    blocks: StateBlocks
    patterns: dict[str, JacobianPattern]
    entries: dict[str, Any]

    @property
    def values(self) -> Any:
        """(blocks, entries, states in a block)"""
        return self.blocks.values

    def dense(self, name: str) -> Any:
        """The derivatives by an argument as matrices (..., results, directions)."""
        return self.patterns[name].dense(self.blocks.rows(self.entries[name]))


def pattern_of(
    text: Jacobian, specialization: Specialization, shapes: Mapping[str, Shape]
) -> dict[str, JacobianPattern]:
    """The pattern of a Jacobian, as it is when the text runs on symbols."""
    from knuckle.engine.differentiate.derivative_texts import Call
    from knuckle.engine.trace.execute import record

    found: dict[str, JacobianPattern] = {}

    def run(**symbols: Any) -> Any:
        values = {name: x[0] if name in specialization.numbers else x for name, x in symbols.items()}
        call = Call.of(text.source, specialization.model, values | dict(specialization.options))
        rows, _ = text.rows(call)
        first = 0
        for name in text.wrt:
            size = math.prod(call.shape_along(name))
            places = [(r, c - first) for r, row in enumerate(rows) for c in sorted(row) if first <= c < first + size]
            found[name] = JacobianPattern((len(rows), size), tuple(r for r, _ in places), tuple(c for _, c in places))
            first += size
        return []

    record(run, shapes, lambda result: ([], (0,)))
    return found
