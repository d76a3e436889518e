"""A recorded function: what it takes, the operations that remain, what it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from knuckle.scalar.operations import OPERATIONS

from .blocks import Block
from .count import Count
from .expression_graph import Graph, Node

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """Straight-line code: nodes in order, each using earlier ones. Inputs are numbered through all arguments."""

    arguments: tuple[tuple[str, int], ...]
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    shape: Shape
    blocks: tuple[Block, ...] = ()

    def count(self) -> Count:
        """The operations that remain after simplification, with those of the blocks that it calls."""
        tally: dict[str, int] = dict.fromkeys(("mul", "add", "div", "sqrt", "trig"), 0)
        total = Count()
        for node in self.nodes:
            operation = OPERATIONS.get(node.op)
            if operation and operation.counts_as:
                tally[operation.counts_as] += 1
            elif node.op == "call":
                total += self.blocks[node.a].count()
        return total + Count(**tally)

    def size(self) -> int:
        """How many operations its text has, with that of the blocks, each of which is printed once."""
        return len(self.nodes) + sum(block.size() for block in self.blocks)

    @cached_property
    def has_rounds(self) -> bool:
        """Whether a piece of it is run in rounds: rolled code would have each of them."""
        return any(block.has_rounds for block in self.blocks)

    @cached_property
    def work(self) -> int:
        """How many operations are run, small ones included."""
        calls = (self.blocks[node.a] for node in self.nodes if node.op == "call")
        return len(self.nodes) + sum(block.work() for block in calls)

    def evaluate(self, values: Sequence[float]) -> list[float]:
        """The outputs for these inputs, node by node: slow and plain, an oracle for the printers."""
        done: list[Any] = []
        for node in self.nodes:
            if node.op == "input":
                done.append(values[node.a])
            elif node.op == "constant":
                done.append(node.a)
            elif node.op == "call":
                done.append(self.blocks[node.a].evaluate([done[k] for k in node.operands]))
            elif node.op == "part":
                done.append(done[node.a][node.b])
            else:
                done.append(OPERATIONS[node.op].value(*(done[k] for k in node.operands)))
        return [done[i] for i in self.outputs]


def compact(graph: Graph, arguments: tuple[tuple[str, int], ...], outputs: list[int], shape: Shape) -> Program:
    """The live part of a graph as a program. The results of a block come right after its call."""
    live = graph.live(outputs)
    parts: dict[int, list[int]] = {}
    if graph.blocks:
        for i in live:
            if graph.nodes[i].op == "part":
                parts.setdefault(graph.nodes[i].a, []).append(i)
    number = [-1] * len(graph.nodes)
    nodes: list[Node] = []
    used: dict[int, int] = {}
    for i in live:
        if number[i] >= 0:
            continue
        node = graph.nodes[i].renumbered(number)
        if node.op == "call":
            node = node._replace(a=used.setdefault(node.a, len(used)))
        number[i] = len(nodes)
        nodes.append(node)
        for part in parts.get(i, ()):
            number[part] = len(nodes)
            nodes.append(graph.nodes[part].renumbered(number))
    blocks = tuple(graph.blocks[k] for k in used)
    return Program(arguments, tuple(nodes), tuple(number[i] for i in outputs), shape, blocks)
