"""Rules: what a piece of text states about its own derivatives (`spatial.with_rule`)."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from knuckle.engine.trace import Expression
from knuckle.engine.trace.block_recording import products
from knuckle.engine.trace.execute import record
from knuckle.engine.trace.regions import MarkedGraph, MarkedModel, Stretches, marked, record_marked
from knuckle.model import Model
from knuckle.scalar import ONE
from knuckle.spatial import Vector, called

from .sweep import Columns, Sweep


class DerivativeRule(ABC):
    """The derivatives of a piece, over scalars of any kind, from its inputs and its results in a row."""

    symbols: tuple[Any, ...] = ()
    """What the inputs end with that is no argument: symbols that the piece takes from around it."""
    is_solving: ClassVar[bool] = False
    """Whether results take long to find, and derivatives are by the results."""

    @abstractmethod
    def pushed(self, inputs: list[Any], results: Sequence[Any], rates: list[Columns]) -> Sequence[Columns]:
        """The derivatives of the results, by those of the inputs."""

    def pulled(self, inputs: list[Any], results: Sequence[Any], weights: list[Any]) -> Mapping[int, Any] | None:
        """The derivatives of the sum of the results, each times a weight, by the inputs; None if they are those of the
        operations that the piece is made of."""
        return None

    def directions(self, inputs: list[Any], rates: list[Columns]) -> set[int]:
        """Those that it is for; along the others go the operations that the piece is made of."""
        return set[int]().union(*rates)

    def with_symbols(self) -> DerivativeRule:
        """The rule for inputs that end with the symbols it knows of."""
        return self

    def keeping_loops(self, graph: MarkedGraph) -> DerivativeRule:
        """The rule in a graph that keeps the loops over bodies."""
        return self


@dataclass(frozen=True)
class OfModel(DerivativeRule):
    """A rule about a mechanism, whose parameters may be symbols: inputs are its arguments, and then those.

    Attributes:
        model: the mechanism.
        symbols: the parameters of the model by which there are derivatives too.
    """

    model: Model
    symbols: tuple[Any, ...] = dataclasses.field(default=(), kw_only=True)

    def with_symbols(self) -> OfModel:
        met: dict[tuple[int, int], Expression] = {}

        def note(x: Any) -> Any:
            if isinstance(x, Expression):
                met[_name(x)] = x
            return x

        self.model.with_scalars(note)
        return dataclasses.replace(self, symbols=tuple(met.values()))

    def apart(self, model: Model, inputs: Sequence[Any]) -> tuple[Model, Vector]:
        """The model with its parameters, and the arguments, from all inputs."""
        if not self.symbols:
            return model, Vector(inputs)
        count = len(inputs) - len(self.symbols)
        values = {_name(x): value for x, value in zip(self.symbols, inputs[count:], strict=True)}

        def value_of(x: Any) -> Any:
            return values.get(_name(x), x) if isinstance(x, Expression) else x

        return model.with_scalars(value_of), Vector(inputs[:count])


@dataclass(frozen=True)
class Implicit(OfModel):
    """Results y that solve r(x, y) = 0 for the arguments x: ∂r/∂y ẏ = −∂r/∂x ẋ, with a symmetric ∂r/∂y.

    Attributes:
        residual: r of the model, the arguments and the results in a row.
        solve: the solutions of ∂r/∂y z = b for the model, the arguments and some b.
    """

    is_solving = True

    residual: Callable[[Model, Vector, Vector], Vector]
    solve: Callable[[Model, Vector, list[Vector]], list[Vector]]

    def keeping_loops(self, graph: MarkedGraph) -> Implicit:
        return dataclasses.replace(self, model=marked(self.model, graph))

    def _sweep(self, inputs: list[Any], results: Sequence[Any]) -> Sweep:
        """The residual at the results."""
        sizes = {"x": (len(inputs),), "y": (len(results),)}

        def text(model: Model = self.model, *, x: Vector, y: Vector) -> Vector:
            return self.residual(*self.apart(model, list(x)), y)

        def unpack(r: Vector) -> tuple[list[Any], tuple[int, ...]]:
            return list(r), (len(r),)

        if not isinstance(self.model, MarkedModel):
            return Sweep(record(text, sizes, unpack, has_rules=True), [*inputs, *results])
        program, of = record_marked(text, self.model, sizes, unpack)
        return Sweep(program, [*inputs, *results], stretches=Stretches.begin(self.model, of))

    def pushed(self, inputs: list[Any], results: Sequence[Any], rates: list[Columns]) -> Sequence[Columns]:
        rows = self._sweep(inputs, results).pushed(dict(enumerate(rates)))
        directions = sorted(set[int]().union(*rows))
        columns = self.solve(
            *self.apart(self.model, inputs), [Vector(-row.get(c, 0) for row in rows) for c in directions]
        )
        return [dict(zip(directions, entries, strict=True)) for entries in zip(*columns, strict=True)]

    def pulled(self, inputs: list[Any], results: Sequence[Any], weights: list[Any]) -> Mapping[int, Any]:
        (adjoint,) = self.solve(*self.apart(self.model, inputs), [Vector(weights)])
        found = self._sweep(inputs, results).pulled([-a for a in adjoint])
        return {k: weight for k, weight in found.items() if k < len(inputs)}


@dataclass(frozen=True)
class Chained(DerivativeRule):
    """A piece of few inputs: its own derivatives first, one piece of code for all calls, and the chain rule then.

    Attributes:
        text: the piece, over its inputs in a row.
        pieces: its derivatives by some inputs, as they have been made.
    """

    text: Callable[[Vector], Vector]
    pieces: dict[Any, Any] = dataclasses.field(default_factory=dict[Any, Any])

    def _sweep(self, inputs: Sequence[Any]) -> Sweep:
        def text(*, x: Vector) -> Vector:
            return self.text(x)

        return Sweep(record(text, {"x": (len(inputs),)}, lambda r: (list(r), (len(r),)), has_rules=True), list(inputs))

    def pushed(self, inputs: list[Any], results: Sequence[Any], rates: list[Columns]) -> Sequence[Columns]:
        active = tuple(k for k, rate in enumerate(rates) if rate)
        if len(set[int]().union(*rates)) <= len(active):
            return self._sweep(inputs).pushed(dict(enumerate(rates)))
        places: list[tuple[int, int]] = []

        def slopes(x: Vector) -> Vector:
            rows = self._sweep(list(x)).pushed({k: {k: ONE} for k in active})
            places[:] = [(o, k) for o, row in enumerate(rows) for k in row]
            return Vector(rows[o][k] for o, k in places)

        if active not in self.pieces:
            self.pieces[active] = called(slopes), places
        piece, known = self.pieces[active]
        entries = piece(Vector(inputs))
        rows: list[dict[int, Any]] = [{} for _ in results]
        for (o, k), x in zip(known, entries, strict=True):
            rows[o][k] = x
        return chained(rows, rates)

    def pulled(self, inputs: list[Any], results: Sequence[Any], weights: list[Any]) -> Mapping[int, Any]:
        return self._sweep(inputs).pulled(weights)


MANY_PRODUCTS = 2000
"""Products of a Jacobian with derivatives from which on code has loops for them."""


def chained(rows: Sequence[Columns], rates: Sequence[Columns]) -> list[Columns]:
    """A Jacobian times the derivatives of what it is by: in loops, where many inputs change along most directions."""
    directions = sorted(set[int]().union(*rates))
    full = [k for k, rate in enumerate(rates) if 2 * len(rate) > len(directions) and any(k in row for row in rows)]
    filled = sum(k in row and row[k] is not ONE for row in rows for k in full)
    if filled * len(directions) < MANY_PRODUCTS or 2 * filled < len(rows) * len(full):
        return _in_place(rows, rates, [{} for _ in rows])
    matrix = [[row.get(k, 0.0) for k in full] for row in rows]
    columns = products(matrix, [[rates[k].get(c, 0.0) for k in full] for c in directions])
    if columns is None:
        return _in_place(rows, rates, [{} for _ in rows])
    known = [dict(zip(directions, entries, strict=True)) for entries in zip(*columns, strict=True)]
    return _in_place([{k: x for k, x in row.items() if k not in full} for row in rows], rates, known)


def _in_place(rows: Sequence[Columns], rates: Sequence[Columns], known: list[dict[int, Any]]) -> list[Columns]:
    """The same by operations of their own, added to what is known."""
    found: list[Columns] = []
    for row, columns in zip(rows, known, strict=True):
        for k, slope in row.items():
            for c, rate in rates[k].items():
                columns[c] = columns[c] + slope * rate if c in columns else slope * rate
        found.append(columns)
    return found


def only(rates: Sequence[Columns], directions: set[int]) -> list[Columns]:
    """The derivatives along some directions."""
    return [{c: x for c, x in rate.items() if c in directions} for rate in rates]


def add_to(found: Sequence[dict[int, Any]], more: Sequence[Columns]) -> None:
    """Adds derivatives to others; none at all are those of nothing that changes."""
    for row, columns in zip(found, more or [{}] * len(found), strict=True):
        for c, x in columns.items():
            row[c] = row[c] + x if c in row else x


def _name(x: Expression) -> tuple[int, int]:
    """What tells a symbol from others."""
    return id(x.graph), x.index
