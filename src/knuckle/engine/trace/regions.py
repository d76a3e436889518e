"""Repetition found again: the iterations of an algorithm's loops as regions of the graph, alike ones together.

`outward()` and `inward()` of a marked model tell the graph which iteration is running, and so does every step from a
body to its parent. The nodes made in an iteration are a region. Regions with the same operations in the same places,
apart from their constants and from where their operands come, are instances of one pattern, which is printed once and
runs in a loop over tables.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from knuckle.joints import Joint
from knuckle.model import Model
from knuckle.scalar.operations import TABLE

from .execute import node_of, sizes_of, symbols_for
from .expression import Expression
from .expression_graph import LEAVES, Graph, Node
from .program import Program, compact

Shape = tuple[int, ...]


class MarkedGraph(Graph):
    """A graph that knows in which stretch of the text each node was made: an iteration, or what lies between.

    Values that are read in another stretch are kept in memory. Conditions cannot be: they are kept as numbers.
    """

    keeps_loops = True

    __slots__ = ("_conditions", "stretch", "stretches")

    def __init__(self, parent: Graph | None = None, has_blocks: bool = False) -> None:
        super().__init__(parent)
        self.has_blocks = has_blocks
        self.stretch = 0
        self.stretches: list[int] = []
        self._conditions: dict[tuple[int, int], int] = {}

    def within(self) -> MarkedGraph:
        return MarkedGraph(self)

    def put(self, node: Node) -> int:
        if node.op == "select" and self.stretches[node.a] != self.stretch:
            node = node._replace(a=self._condition_here(node.a))
        return self._put(node, self.stretch)

    def _put(self, node: Node, stretch: int) -> int:
        number = super().put(node)
        if number == len(self.stretches):
            self.stretches.append(stretch)
        elif self.stretches[number] > stretch and node.op not in LEAVES:  # known, but made later: once more here
            number = self._number[node] = len(self.nodes)
            self.nodes.append(node)
            self.stretches.append(stretch)
        return number

    def _condition_here(self, i: int) -> int:
        """A condition of another stretch in this one: there it becomes 1 or 0, and here that is compared."""
        here = i, self.stretch
        if here not in self._conditions:
            kept = self._put(Node("select", i, self.constant(1.0), self.constant(0.0)), self.stretches[i])
            half = self.constant(0.5)
            self._conditions[here] = len(self.nodes)
            self.nodes.append(Node("less", half, kept))  # one for every stretch, though all are equal
            self.stretches.append(self.stretch)
        return self._conditions[here]

    def _scaled(self, x: float, j: int) -> int:
        """x times node j, the sign left in the constant: it must not decide the pattern."""
        if x == 0 or x == 1:
            return self.constant(0.0) if x == 0 else j
        node = self.nodes[j]
        if node.op == "mul" and (y := self.value(node.a)) is not None:
            return self._scaled(x * y, node.b)
        return self.put(Node("mul", self.constant(x), j))


class MarkedModel(Model):
    """A model whose loops begin a new stretch of the graph at every iteration."""

    def outward(self) -> Iterator[tuple[int, int, Joint]]:
        yield from self._marked(super().outward())

    def inward(self) -> Iterator[tuple[int, int, Joint]]:
        yield from self._marked(super().inward())

    def replace(self, **changes: Any) -> Model:
        return marked(super().replace(**changes), self.__dict__["_graph"])

    def _marked(self, steps: Iterator[tuple[int, int, Joint]]) -> Iterator[tuple[int, int, Joint]]:
        open_graphs: list[Any] = self.__dict__["_graph"].open
        for step in steps:
            open_graphs[-1].stretch += 1
            yield step
        open_graphs[-1].stretch += 1


class MarkedParents(tuple[int, ...]):
    """λ, where every step up the tree begins a new stretch: loops over ancestors go by it."""

    graph: MarkedGraph

    def __getitem__(self, i: Any) -> Any:
        self.graph.open[-1].stretch += 1  # type: ignore[attr-defined]
        return super().__getitem__(i)


def marked(model: Model, graph: MarkedGraph) -> Model:
    """The model with its loops marked in `graph`."""
    copy = object.__new__(MarkedModel)
    parents = MarkedParents(model.parents)
    parents.graph = graph
    copy.__dict__.update(model.__dict__, _graph=graph, parents=parents)
    return copy


@dataclass(frozen=True)
class Pattern:
    """Operations that regions share. An operand is ("local", k), ("slot", column) or ("constant", column)."""

    steps: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    kept: tuple[int, ...]  # the steps whose values later regions read

    @cached_property
    def columns(self) -> int:
        """How many slots its operands are in."""
        return 1 + max((k for _, operands in self.steps for kind, k in operands if kind == "slot"), default=-1)


@dataclass(frozen=True)
class Instance:
    """A region: its pattern, where its operands are, its constants, and where its kept values go.

    A kept value may go where an operand was: all operands are read first.
    """

    pattern: int
    slots: tuple[int, ...]
    constants: tuple[float, ...]
    kept: tuple[int, ...]


@dataclass(frozen=True)
class Rolled:
    """A program of regions. Values that cross regions are in slots: the inputs first, then what regions keep.

    A slot is used again when nobody will read its value any more.
    """

    arguments: tuple[tuple[str, int], ...]
    patterns: tuple[Pattern, ...]
    instances: tuple[Instance, ...]
    slots: int
    outputs: tuple[int, ...]  # the slot of each output
    zeros: tuple[bool, ...]  # whether an output is always zero
    shape: Shape


def trace_rolled(
    text: Callable[..., Any],
    model: Model,
    arguments: Mapping[str, Shape],
    unpack: Callable[[Any], tuple[list[Any], Shape]],
) -> Rolled:
    """Runs `text` on symbols, with its loops marked, and finds the patterns."""
    graph = MarkedGraph()
    symbols = symbols_for(graph, arguments)
    graph.stretch += 1
    scalars, shape = unpack(text(marked(model, graph), **symbols))
    sizes = sizes_of(arguments)
    return roll(graph, sizes, sum(n for _, n in sizes), [node_of(graph, x) for x in scalars], shape)


def record_marked(
    text: Callable[..., Any],
    model: Model,
    arguments: Mapping[str, Shape],
    unpack: Callable[[Any], tuple[list[Any], Shape]],
    *,
    has_rules: bool = False,
) -> tuple[Program, tuple[int, ...]]:
    """The operations of `text` in a row, and the stretch of its loops in which each of them was made."""
    graph = MarkedGraph()
    graph.has_rules = has_rules
    symbols = symbols_for(graph, arguments)
    graph.stretch += 1
    scalars, shape = unpack(text(marked(model, graph), **symbols))
    outputs = [node_of(graph, x) for x in scalars]
    return compact(graph, sizes_of(arguments), outputs, shape), stretches_of(graph, outputs)


def stretches_of(graph: Graph, outputs: list[int]) -> tuple[int, ...]:
    """The stretch that each live node of a graph was made in; none where loops are not kept."""
    return tuple(graph.stretches[i] for i in graph.live(outputs)) if isinstance(graph, MarkedGraph) else ()


@contextmanager
def own_stretch(graph: Graph) -> Iterator[None]:
    """What is made here has a stretch for itself, where loops are kept."""
    if not isinstance(graph, MarkedGraph):
        yield
        return
    graph.stretch += 1
    yield
    graph.stretch += 1


ROOM = 1 << 40
"""More stretches than any piece has that a node may call."""


@dataclass(frozen=True)
class Stretches:
    """Runs a recorded text once more in a marked graph: forward in its stretches, and backward in mirrored ones.

    Where nodes call pieces that have stretches of their own, there is `room` for these behind each.
    """

    graph: MarkedGraph
    of: tuple[int, ...]
    first: int
    room: int = 1

    @cached_property
    def last(self) -> int:
        """The last stretch on the way back, without what it calls."""
        return self.first + (2 * max(self.of, default=0) + 1) * self.room

    @classmethod
    def begin(cls, model: Model, of: tuple[int, ...], calls_pieces: bool = False) -> Stretches:
        """The stretches of a text in the graph in which a model is marked, after all there are."""
        graph: Any = model.__dict__["_graph"].open[-1]
        return cls(graph, of, graph.stretch + 1, ROOM if calls_pieces else 1)

    def within(self, of: tuple[int, ...]) -> Stretches:
        """Those of a piece that is called here."""
        return Stretches(self.graph, of, self.graph.stretch + 1)

    def ready(self, scalars: Iterable[Any]) -> Stretches:
        """These, or others after all there are, where some scalars are made after these begin."""
        known = (x.index for x in scalars if isinstance(x, Expression) and x.graph is self.graph)
        if all(self.graph.stretches[i] <= self.first for i in known):
            return self
        return dataclasses.replace(self, first=self.graph.stretch + 1)

    def forward(self, i: int) -> None:
        """What follows is made of node i."""
        self.graph.stretch = self.first + self.of[i] * self.room

    def after(self, i: int) -> None:
        """What follows is made of node i, which has called a piece."""
        self.graph.stretch = self.first + self.of[i] * self.room + self.room // 2

    def backward(self, i: int) -> None:
        """What follows is made of node i, on the way back."""
        self.graph.stretch = self.last - self.of[i] * self.room

    def end(self) -> None:
        """What follows belongs to no node."""
        self.graph.stretch = self.last + self.room


COMMUTE = {operation.name for operation in TABLE if operation.commutes}


def roll(
    graph: MarkedGraph,
    arguments: tuple[tuple[str, int], ...],
    inputs: int,
    outputs: list[int],
    shape: Shape,
    inputs_by: Mapping[int, int] | None = None,
) -> Rolled:
    """Patterns and instances of the live nodes of a marked graph, whose inputs may be numbered otherwise."""
    live = graph.live(outputs)
    crossing = _crossing(graph, live, outputs)
    stretches: dict[int, list[int]] = {}
    for i in live:
        if graph.nodes[i].op not in ("input", "constant") or i in crossing:
            stretches.setdefault(graph.stretches[i], []).append(i)
    skeletons = {s: _skeleton(graph, nodes, crossing) for s, nodes in sorted(stretches.items())}

    numbers: dict[Any, int] = {}
    for skeleton, _, _ in skeletons.values():
        numbers.setdefault(skeleton, len(numbers))
    patterns = [Pattern(steps, kept) for steps, kept in numbers]
    slots = _Slots(inputs, {i: _input(graph, i, inputs_by) for i in live if graph.nodes[i].op == "input"})
    last = {i: s for s, (_, operands, _) in skeletons.items() for i in operands} | dict.fromkeys(outputs)
    instances: list[Instance] = []
    for s, (skeleton, operands, constants) in skeletons.items():
        pattern = numbers[skeleton]
        order = [i for i in stretches[s] if graph.nodes[i].op != "input"]
        read = tuple(slots.of[i] for i in operands)
        for i in operands:
            if last[i] == s:
                slots.release(i)
        kept = tuple(slots.take(order[k]) for k in patterns[pattern].kept)
        instances.append(Instance(pattern, read, tuple(constants), kept))
    zeros = tuple(graph.value(i) == 0 for i in outputs)
    places = tuple(slots.of[i] for i in outputs)
    return Rolled(arguments, tuple(patterns), tuple(instances), slots.count, places, zeros, shape)


def _input(graph: Graph, i: int, numbers: Mapping[int, int] | None) -> int:
    number: int = graph.nodes[i].a
    return number if numbers is None else numbers[number]


class _Slots:
    """Places for values: those of the inputs, and others, the last one left being the first one taken."""

    def __init__(self, count: int, of: dict[int, int]) -> None:
        self.count, self.of = count, of
        self._free: list[int] = []

    def take(self, node: int) -> int:
        """A place for the value of a node."""
        if self._free:
            self.of[node] = self._free.pop()
        else:
            self.of[node] = self.count
            self.count += 1
        return self.of[node]

    def release(self, node: int) -> None:
        """Nobody reads the value of this node any more."""
        self._free.append(self.of[node])


def _crossing(graph: MarkedGraph, live: list[int], outputs: list[int]) -> set[int]:
    """The nodes whose values are read in another stretch than their own, or come out at the end."""
    crossing = set(outputs)
    for i in live:
        for k in graph.operands(i):
            if graph.stretches[k] != graph.stretches[i] and graph.nodes[k].op != "constant":
                crossing.add(k)
    return crossing


def _skeleton(graph: MarkedGraph, nodes: list[int], crossing: set[int]) -> tuple[Any, list[int], list[float]]:
    """What a region has in common with those like it, and its own slots and constants."""
    order = [i for i in nodes if graph.nodes[i].op != "input"]
    place = {i: k for k, i in enumerate(order)}
    columns: dict[int, int] = {}
    constants: list[float] = []
    steps: list[Any] = []
    for i in order:
        node = graph.nodes[i]
        if node.op == "constant":  # an output that is a number
            steps.append(("constant", (("constant", len(constants)),)))
            constants.append(node.a)
            continue
        operands: list[tuple[str, int]] = []
        for k in _ordered(graph, i, place):
            if k in place:
                operands.append(("local", place[k]))
            elif graph.nodes[k].op == "constant":
                operands.append(("constant", len(constants)))
                constants.append(graph.nodes[k].a)
            else:
                operands.append(("slot", columns.setdefault(k, len(columns))))
        steps.append((node.op, tuple(operands)))
    kept = tuple(k for k, i in enumerate(order) if i in crossing)
    return (tuple(steps), kept), list(columns), constants


def _ordered(graph: Graph, i: int, place: Mapping[int, int]) -> tuple[int, ...]:
    """The operands of a node; of one that commutes, constants first and those of its own region last."""
    used = graph.operands(i)
    if graph.nodes[i].op not in COMMUTE:
        return used
    a, b = used
    rank_a, rank_b = ((2 if k in place else graph.nodes[k].op != "constant") for k in used)
    return (b, a) if rank_b < rank_a else used
