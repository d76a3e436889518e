"""The derivatives of a text as texts: Jacobians, products with directions and with weights, second derivatives.

Each is called with a model and the arguments of the text it is made of. It runs that text on symbols, and the program
that remains on the scalars it was called with (`sweep`): numbers, symbols of another trace, dual numbers.
"""

from __future__ import annotations

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

from knuckle.engine.arrays.base import put_together
from knuckle.engine.arrays.result_layout import Layout, Single
from knuckle.engine.kernels.specialization import Specialization, UntraceableError
from knuckle.engine.trace import Expression
from knuckle.engine.trace.regions import MarkedModel, Stretches
from knuckle.model import Model
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Matrix, Vector

from .direction_count import is_shorter_backward
from .sweep import Sweep
from .tangent_space import along_velocities, position_rates

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Differentiated(ABC):
    """A text that is differentiated.

    Attributes:
        arrays: the arguments that may be arrays or numbers.
        positions: those of them that are positions.
    """

    arrays: tuple[str, ...]
    positions: tuple[str, ...]

    @property
    @abstractmethod
    def text(self) -> Callable[..., Any]:
        """The text itself."""

    @property
    @abstractmethod
    def is_users(self) -> bool:
        """Whether it is a user's."""

    @property
    def name(self) -> str:
        """What the text is called."""
        return self.text.__name__


@dataclass(frozen=True)
class OfLibrary(Differentiated):
    """A text of the library, by the module and the name of its function."""

    module: str
    function: str

    @property
    def text(self) -> Callable[..., Any]:
        found: Any = getattr(importlib.import_module(self.module), self.function)
        return found.__wrapped__

    @property
    def is_users(self) -> bool:
        return False


@dataclass(frozen=True)
class OfUser(Differentiated):
    """A text of a user, or one that is made of such."""

    of: Callable[..., Any]

    @property
    def text(self) -> Callable[..., Any]:
        return self.of

    @property
    def is_users(self) -> bool:
        return True


@dataclass(frozen=True)
class Call:
    """A call of a source: its arrays by name, as scalars in a row with their shapes, and its options."""

    source: Differentiated
    model: Model
    values: Mapping[str, Any]
    options: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, source: Differentiated, model: Model, arguments: Mapping[str, Any]) -> Call:
        """What a call with these arguments has in it."""
        values = {name: x for name, x in arguments.items() if name in source.arrays and _is_array(x)}
        return cls(source, model, values, tuple((name, x) for name, x in arguments.items() if name not in values))

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of the arrays; a number has one of one entry."""
        return {name: _shape(x) for name, x in self.values.items()}

    @cached_property
    def scalars(self) -> dict[str, list[Any]]:
        """The scalars of the arrays."""
        return {name: _flat(x) for name, x in self.values.items()}

    @property
    def inputs(self) -> list[Any]:
        """All scalars in a row."""
        return [x for some in self.scalars.values() for x in some]

    @cached_property
    def starts(self) -> dict[str, int]:
        """Where each array begins in that row."""
        starts, start = dict[str, int](), 0
        for name, some in self.scalars.items():
            starts[name] = start
            start += len(some)
        return starts

    @property
    def numbers(self) -> tuple[str, ...]:
        """The arguments that are single numbers."""
        return tuple(name for name, x in self.values.items() if not isinstance(x, (Vector, Matrix)))

    @property
    def specialization(self) -> Specialization:
        source = self.source
        return Specialization(source.name, source.text, self.model, self.options, self.numbers, source.is_users)

    def sweep(self, known: Sequence[Any] | None = None) -> tuple[Sweep, Layout]:
        """The operations of the text on the scalars of this call, and how its results go together.

        What its pieces that solve give may be `known`.
        """
        try:
            if isinstance(self.model, MarkedModel):
                program, layout, stretches = self.specialization.recorded_in_stretches(self.shapes)
                loops = Stretches.begin(self.model, stretches, calls_pieces=bool(program.blocks))
                return Sweep(program, self.inputs, stretches=loops, known=known), layout
            program, layout = self.specialization.traced(self.shapes, has_rules=True)
            return Sweep(program, self.inputs, known=known), layout
        except UntraceableError as error:
            raise (error.__cause__ or error) from None

    def is_position(self, name: str) -> bool:
        """Whether derivatives by an argument are along the velocity variables."""
        return name in self.source.positions and self.shapes[name] == (self.model.nq,)

    def shape_along(self, name: str) -> Shape:
        """The shape of a direction of an argument."""
        if name not in self.values:
            known = ", ".join(self.values) or "none"
            raise TypeError(
                f"{self.source.name} is not differentiated by {name!r}: its array arguments here are {known}"
            )
        if name in self.numbers:
            return ()
        return (self.model.nv,) if self.is_position(name) else self.shapes[name]

    def rows(self, name: str) -> list[dict[int, Any]]:
        """The derivatives of the scalars of an argument along its directions."""
        if self.is_position(name):
            return position_rates(self.model, Vector(self.scalars[name]))
        return [{k: ONE} for k in range(len(self.scalars[name]))]

    def seeds(self, wrt: Sequence[str]) -> dict[int, dict[int, Any]]:
        """The derivatives of all inputs along the directions of some arguments, which are numbered through."""
        seeds: dict[int, dict[int, Any]] = {}
        first = 0
        for name in wrt:
            for i, row in enumerate(self.rows(name)):
                seeds[self.starts[name] + i] = {first + k: x for k, x in row.items()}
            first += math.prod(self.shape_along(name))
        return seeds

    def gradients(self, slopes: Mapping[int, Any], wrt: Sequence[str]) -> dict[str, list[Any]]:
        """The derivatives along the directions of some arguments, from those by all inputs."""
        found: dict[str, list[Any]] = {}
        for name in wrt:
            n, start = len(self.scalars[name]), self.starts[name]
            mine = {i: slopes[start + i] for i in range(n) if start + i in slopes}
            size = math.prod(self.shape_along(name))
            found[name] = along_velocities(self.rows(name), mine, size)
        return found


@dataclass(frozen=True)
class Derivative(ABC):
    """A derivative of a source by some of its arguments."""

    source: Differentiated
    wrt: tuple[str, ...]

    kind = ""

    @property
    def __name__(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return f"{self.source.name}.{self.kind}"

    @abstractmethod
    def __call__(self, model: Model, **arguments: Any) -> Any:
        """The derivatives, over scalars."""

    def call(self, model: Model, arguments: Mapping[str, Any]) -> Call:
        """The call of the source."""
        return Call.of(self.source, model, arguments)


@dataclass(frozen=True)
class Jacobian(Derivative):
    """The derivatives of the results by some arguments, named by them: the axes of an argument come after a result's.

    Entries that are always zero are left out if it is `packed`; the others are in the order of `pattern`.
    """

    packed: bool = False
    kind = "jacobian"

    def __call__(self, model: Model, **arguments: Any) -> Any:
        call = self.call(model, arguments)
        rows, layout = self.rows(call)
        found: dict[str, Any] = {}
        first = 0
        for name in self.wrt:
            shape = call.shape_along(name)
            size = math.prod(shape)
            if self.packed:
                places = [(row, c) for row in rows for c in sorted(row) if first <= c < first + size]
                found[name] = Vector(row[c] for row, c in places)
            else:
                dense = [[row.get(first + k, ZERO) for k in range(size)] for row in rows]
                found[name] = layout.together(dense, _with_axes(shape))
            first += size
        return found

    def rows(self, call: Call) -> tuple[list[Mapping[int, Any]], Layout]:
        """The derivatives of the results in a row, by direction, and how the results go together."""
        own = own_derivatives(call, self.wrt)
        if own is not None:
            return own
        sweep, layout = call.sweep()
        seeds, count = call.seeds(self.wrt), len(sweep.program.outputs)
        if not is_shorter_backward(sweep.program, seeds):
            return list(sweep.pushed(seeds)), layout
        rows: list[Mapping[int, Any]] = []
        for o in range(count):
            slopes = sweep.pulled([ONE if k == o else ZERO for k in range(count)])
            row = [x for part in call.gradients(slopes, self.wrt).values() for x in part]
            rows.append({c: x for c, x in enumerate(row) if x is not ZERO})
        return rows, layout


def own_derivatives(call: Call, wrt: Sequence[str]) -> tuple[list[Mapping[int, Any]], Layout] | None:
    """The derivatives of a vector by equations of their own, where the library has such; None elsewhere.

    These are along the velocity variables, for trees, and for the methods that are the default.
    """
    module = getattr(call.source.text, "derivatives_in", "")
    options = {name: x for name, x in call.options if x is not None and x != "aba"}
    if not module or options or call.model.loops or "q" not in call.source.positions:
        return None
    text: Any = getattr(importlib.import_module(module), call.source.name).__wrapped__
    own = Specialization(call.source.name, text, call.model)
    scalars, layout = (own.on_symbols if _are_symbols(call.inputs) else own)(call.values)
    names, nv = cast("Any", layout).named_tuple._fields, call.model.nv
    if not set(wrt) <= set(names):
        return None
    blocks = {name: scalars[k * nv * nv : (k + 1) * nv * nv] for k, name in enumerate(names)}
    rows: list[Mapping[int, Any]] = []
    for i in range(nv):
        entries = [x for name in wrt for x in blocks[name][i * nv : (i + 1) * nv]]
        rows.append({c: x for c, x in enumerate(entries) if not _is_zero(x)})
    return rows, Single((nv,))


def _are_symbols(scalars: Sequence[Any]) -> bool:
    return any(isinstance(x, Expression) for x in scalars)


def _is_zero(x: Any) -> bool:
    """Whether an entry is zero by the structure of the mechanism."""
    return isinstance(x, int) and x == 0


@dataclass(frozen=True)
class Rates(Derivative):
    """The results and their derivatives along directions of some arguments, which are given by other names."""

    directions: tuple[str, ...] = ()
    kind = "jvp"

    def __call__(self, model: Model, **arguments: Any) -> Any:
        along = {name: arguments.pop(given) for name, given in zip(self.wrt, self.directions, strict=True)}
        call = self.call(model, arguments)
        sweep, layout = call.sweep()
        seeds: dict[int, dict[int, Any]] = {}
        for name in self.wrt:
            direction = _flat(along[name])
            for i, row in enumerate(call.rows(name)):
                seeds[call.starts[name] + i] = {0: sum((x * direction[k] for k, x in row.items()), ZERO)}
        rates = [row.get(0, ZERO) for row in sweep.pushed(seeds)]
        return layout.together(sweep.outputs, put_together), layout.together(rates, put_together)


@dataclass(frozen=True)
class Gradients(Derivative):
    """The derivatives of the results, each times a `weight`, by some arguments, named by them."""

    weights: tuple[str, ...] = ("weight",)
    kind = "vjp"

    def __call__(self, model: Model, **arguments: Any) -> Any:
        weights = [x for name in self.weights for x in _flat(arguments.pop(name))]
        call = self.call(model, arguments)
        return _gradients(call, call.sweep()[0], weights, self.wrt)


@dataclass(frozen=True)
class Gradient(Derivative):
    """The derivatives of a result that is one number, by some arguments, named by them."""

    kind = "grad"

    def __call__(self, model: Model, **arguments: Any) -> Any:
        call = self.call(model, arguments)
        sweep, _ = call.sweep()
        if len(sweep.outputs) != 1:
            raise TypeError(
                f"{self.source.name} gives {len(sweep.outputs)} numbers, and has a gradient where it gives one: "
                "vjp takes a weight for each, jacobian gives them all"
            )
        return _gradients(call, sweep, [ONE], self.wrt)


def _gradients(call: Call, sweep: Sweep, weights: list[Any], wrt: tuple[str, ...]) -> dict[str, Any]:
    found = call.gradients(sweep.pulled(weights), wrt)
    return {name: put_together(found[name], call.shape_along(name)) for name in wrt}


@dataclass(frozen=True)
class Hessian(Derivative):
    """The second derivatives of the results, each times a weight, by pairs of arguments: {row: {column: …}}."""

    weights: tuple[str, ...] = ()
    kind = "hessian"

    def __call__(self, model: Model, **arguments: Any) -> Any:
        first: Derivative = (
            Gradients(self.source, self.wrt, self.weights) if self.weights else Gradient(self.source, self.wrt)
        )
        call = self.call(model, {name: x for name, x in arguments.items() if name not in self.weights})
        inner = OfUser((*self.source.arrays, *self.weights), self.source.positions, first)
        columns = Jacobian(inner, self.wrt)(model, **arguments)
        found: dict[str, dict[str, Any]] = {name: {} for name in self.wrt}
        for i, row in enumerate(self.wrt):
            found[row][row] = _mirrored(columns[row][row], self._turns(call, row))
            for column in self.wrt[:i]:
                found[column][row] = columns[row][column]
                both = len(call.shape_along(row)) < 2 and len(call.shape_along(column)) < 2
                found[row][column] = _transposed(found[column][row]) if both else columns[column][row]
        return {row: {column: found[row][column] for column in self.wrt} for row in self.wrt}

    @staticmethod
    def _turns(call: Call, name: str) -> list[int]:
        """For each direction of an argument what it turns with: directions of one turn do not commute."""
        if not call.is_position(name):
            return list(range(math.prod(call.shape_along(name))))
        rows, slices = call.rows(name), zip(call.model.q_slices, call.model.v_slices, strict=True)
        joints = [
            [vs.start] * (vs.stop - vs.start) if not _is_straight(rows[qs], vs.start) else range(vs.start, vs.stop)
            for qs, vs in slices
        ]
        return [k for some in joints for k in some]


@dataclass(frozen=True)
class SecondDerivatives(Derivative):
    """The second derivatives of all results: the axes of a result, of the first and of the second argument."""

    kind = "second_derivatives"

    def __call__(self, model: Model, **arguments: Any) -> Any:
        inner = OfUser(self.source.arrays, self.source.positions, Jacobian(self.source, self.wrt))
        columns = Jacobian(inner, self.wrt)(model, **arguments)
        return {row: {column: columns[column][row] for column in self.wrt} for row in self.wrt}


def _is_straight(rows: list[dict[int, Any]], first: int) -> bool:
    """Whether directions are those of coordinates, along which second derivatives are symmetric."""
    return all(list(row.items()) == [(first + i, ONE)] for i, row in enumerate(rows))


def _mirrored(x: Any, turns: list[int]) -> Any:
    """Second derivatives of which the half above the diagonal is that below it, but for directions of one turn."""
    if not isinstance(x, Matrix):
        return x
    rows, n = x.rows, range(x.nrows)
    return Matrix(([rows[i][j] if j <= i or turns[i] == turns[j] else rows[j][i] for j in n] for i in n), x.ncols)


def _transposed(x: Any) -> Any:
    if isinstance(x, Matrix):
        return x.T
    return x


def _is_array(x: Any) -> bool:
    return x is not None and not isinstance(x, (bool, str))


def _shape(x: Any) -> Shape:
    if isinstance(x, Matrix):
        return x.nrows, x.ncols
    return (len(x),) if isinstance(x, Vector) else (1,)


def _flat(x: Any) -> list[Any]:
    if isinstance(x, Matrix):
        return [entry for row in x.rows for entry in row]
    return list(x) if isinstance(x, Vector) else [x]


def _with_axes(after: Shape) -> Callable[[Any, Shape], Any]:
    """Makes an array of rows: with the axes of a result, then those of an argument."""
    return lambda rows, shape: put_together([x for row in cast("list[list[Any]]", rows) for x in row], shape + after)
