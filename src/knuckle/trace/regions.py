"""Repetition found again: the iterations of an algorithm's loops as regions of the graph, alike ones together.

`outward()` and `inward()` of a marked model tell the graph which iteration is running. The nodes made in an iteration
are a region. Regions with the same operations in the same places, apart from their constants and from where their
operands come, are instances of one pattern, which is printed once and runs in a loop over tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from knuckle.joints import Joint
from knuckle.model import Model

from .execute import node_of, sizes_of, symbols_for
from .graph import Graph, Node
from .operations import TABLE

Shape = tuple[int, ...]


class CrossingConditionError(Exception):
    """A comparison made in one region and used in another: conditions are no numbers that could be kept."""


class MarkedGraph(Graph):
    """A graph that knows in which stretch of the text each node was made: an iteration, or what lies between."""

    __slots__ = ("stretch", "stretches")

    def __init__(self) -> None:
        super().__init__()
        self.stretch = 0
        self.stretches: list[int] = []

    def put(self, node: Node) -> int:
        number = super().put(node)
        if number == len(self.stretches):
            self.stretches.append(self.stretch)
        return number

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

    def _marked(self, steps: Iterator[tuple[int, int, Joint]]) -> Iterator[tuple[int, int, Joint]]:
        graph: MarkedGraph = self.__dict__["_graph"]
        for step in steps:
            graph.stretch += 1
            yield step
        graph.stretch += 1


def marked(model: Model, graph: MarkedGraph) -> Model:
    """The model with its loops marked in `graph`."""
    copy = object.__new__(MarkedModel)
    copy.__dict__.update(model.__dict__, _graph=graph)
    return copy


@dataclass(frozen=True)
class Pattern:
    """Operations that regions share. An operand is ("local", k), ("slot", column) or ("constant", column)."""

    steps: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    kept: tuple[int, ...]  # the steps whose values later regions read


@dataclass(frozen=True)
class Instance:
    """A region: its pattern, where its operands are, its constants, and where its kept values go."""

    pattern: int
    slots: tuple[int, ...]
    constants: tuple[float, ...]
    base: int


@dataclass(frozen=True)
class Rolled:
    """A program of regions. Values that cross regions are in slots: the inputs first, then what regions keep."""

    arguments: tuple[tuple[str, int], ...]
    patterns: tuple[Pattern, ...]
    instances: tuple[Instance, ...]
    slots: int
    outputs: tuple[int, ...]  # the slot of each output
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


COMMUTE = {operation.name for operation in TABLE if operation.commutes}


def roll(
    graph: MarkedGraph, arguments: tuple[tuple[str, int], ...], inputs: int, outputs: list[int], shape: Shape
) -> Rolled:
    """Patterns and instances of the live nodes of a marked graph."""
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
    slot: dict[int, int] = {}
    for i in live:
        if graph.nodes[i].op == "input":
            slot[i] = graph.nodes[i].a
    patterns = [Pattern(steps, kept) for steps, kept in numbers]
    instances, next_slot = [], inputs
    for s, (skeleton, operands, constants) in skeletons.items():
        pattern = numbers[skeleton]
        order = [i for i in stretches[s] if graph.nodes[i].op != "input"]
        for place, k in enumerate(patterns[pattern].kept):
            slot[order[k]] = next_slot + place
        instances.append((pattern, operands, constants, next_slot))
        next_slot += len(patterns[pattern].kept)
    done = tuple(Instance(p, tuple(slot[i] for i in o), tuple(c), base) for p, o, c, base in instances)
    return Rolled(arguments, tuple(patterns), done, next_slot, tuple(slot[i] for i in outputs), shape)


def _crossing(graph: MarkedGraph, live: list[int], outputs: list[int]) -> set[int]:
    """The nodes whose values are read in another stretch than their own, or come out at the end."""
    crossing = set(outputs)
    for i in live:
        for k in graph.operands(i):
            if graph.stretches[k] != graph.stretches[i] and graph.nodes[k].op != "constant":
                crossing.add(k)
    if any(graph.nodes[k].op == "less" for k in crossing):
        raise CrossingConditionError
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
