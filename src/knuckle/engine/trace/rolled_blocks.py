"""Blocks of large mechanisms: pieces of text whose own loops are kept (`regions`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.model import Model
from knuckle.scalar.operations import OPERATIONS

from .blocks import Block
from .count import Count
from .execute import node_of, sizes_of, symbols_for
from .expression_graph import Graph, Node
from .inline import inlined
from .program import Program, Shape, compact
from .regions import MarkedGraph, Rolled, marked, roll
from .simplify import simplify

LONG = 3000
"""Operations of a block whose loops are worth keeping; shorter ones stand in a row."""


@dataclass(frozen=True, eq=False)
class RolledBlock(Block):
    """A rolled program that is called. Two of them are equal if they are the same."""

    program: Rolled

    @property
    def inputs(self) -> int:
        return sum(size for _, size in self.program.arguments)

    @property
    def outputs(self) -> int:
        return len(self.program.outputs)

    def evaluate(self, values: Sequence[float]) -> list[float]:
        room: list[Any] = [*values, *[0.0] * (self.program.slots - len(values))]
        for instance in self.program.instances:
            pattern, done = self.program.patterns[instance.pattern], list[Any]()
            read = {"slot": [room[k] for k in instance.slots], "constant": instance.constants, "local": done}
            for op, operands in pattern.steps:
                operand_values = [read[kind][k] for kind, k in operands]
                done.append(operand_values[0] if op == "constant" else OPERATIONS[op].value(*operand_values))
            for place, k in zip(instance.kept, pattern.kept, strict=True):
                room[place] = done[k]
        return [room[k] for k in self.program.outputs]

    def count(self) -> Count:
        counts = [Program((), tuple(_node(op) for op, _ in p.steps), (), ()).count() for p in self.program.patterns]
        return sum((counts[instance.pattern] for instance in self.program.instances), Count())

    def size(self) -> int:
        return sum(len(pattern.steps) for pattern in self.program.patterns)

    def work(self) -> int:
        return sum(len(self.program.patterns[instance.pattern].steps) for instance in self.program.instances)

    def mapped(self, change: Callable[[Program], Program]) -> Block:
        return self


def _node(op: str) -> Node:
    return Node("constant", 0.0) if op == "constant" else Node(op)


def rolled_block(graph: Graph, numbers: Mapping[int, int], outputs: list[int]) -> RolledBlock | None:
    """The block of a marked graph, its inputs having these numbers; None for a short one, or one without marks."""
    if not isinstance(graph, MarkedGraph) or len(graph.nodes) < LONG:
        return None
    return RolledBlock(roll(graph, (("taken", len(numbers)),), len(numbers), outputs, (len(outputs),), numbers))


def trace_in_blocks(
    text: Callable[..., Any],
    model: Model,
    arguments: Mapping[str, Shape],
    unpack: Callable[[Any], tuple[list[Any], Shape]],
    gain: float = 0.01,
) -> Program:
    """As `trace`, for a large mechanism: the loops of the pieces that the text calls are kept."""
    graph = MarkedGraph(has_blocks=True)
    symbols = symbols_for(graph, arguments)
    scalars, shape = unpack(text(marked(model, graph), **symbols))
    program = compact(graph, sizes_of(arguments), [node_of(graph, x) for x in scalars], shape)
    return simplify(inlined(program), gain)
